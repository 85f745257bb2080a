"""Where the tokens of a context go."""

from __future__ import annotations

from shared_core.context.assembly import Context
from shared_core.inspection.palette import BLOCK_COLOURS, MUTED, TEXT
from shared_core.inspection.style import Plot, figure, legend_below

__all__ = ["budget_plot"]

#: Least share of the bar into which its count still fits.
LEAST_LABELLED = 0.04


def budget_plot(context: Context, *, token_budget: int | None = None) -> Plot:
    """The tokens of each block of a context as one bar, up to the budget if that is named."""
    made, axes = figure(width=9.0, height=2.5)
    parts = [(block.title, block.tokens, BLOCK_COLOURS[block.title]) for block in context.blocks]
    frame = context.tokens - sum(tokens for _, tokens, _ in parts)
    if frame > 0:
        parts.append(("Frame", frame, MUTED))
    whole = max(token_budget or 0, context.tokens, 1)
    start = 0
    for title, tokens, colour in parts:
        axes.barh(0, tokens, left=start, color=colour, label=f"{title}: {tokens}")
        if tokens >= LEAST_LABELLED * whole:
            axes.text(start + tokens / 2, 0, str(tokens), color="white", ha="center", va="center", fontsize=9)
        start += tokens
    if token_budget is not None:
        axes.axvline(token_budget, color=TEXT, linewidth=1.2, linestyle="--", label=f"Budget: {token_budget}")
    axes.set(xlim=(0, whole * 1.02), xlabel="tokens", yticks=[])
    axes.spines["left"].set_visible(False)
    axes.set_title(f"A context of {context.tokens} tokens")
    if not parts:
        axes.text(0.5, 0.5, "Nothing fits the budget", color=TEXT, ha="center", transform=axes.transAxes)
    if parts:
        legend_below(made, axes, columns=4)
    return made
