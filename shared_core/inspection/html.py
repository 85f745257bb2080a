"""How records, results and reports show themselves in a notebook: small tables, every text escaped.

Colours are inherited from the page or let it through, so they can be read on a light and on a dark one.
Styles stand at the elements: many pages that show notebooks remove style sheets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING, Any

from shared_core.context.assembly import Context, ContextBlock
from shared_core.inspection.palette import BLOCK_COLOURS, KIND_COLOURS, KIND_NAMES, MUTED
from shared_core.records import KINDS, AddResult, Kind, Memory
from shared_core.retrieval.search import SearchHit, SearchResult
from shared_core.upkeep.maintenance import MaintenanceReport

if TYPE_CHECKING:
    from shared_core.graph.view import MemoryGraph
    from shared_core.inspection.snapshot import Snapshot

__all__ = ["graph_html", "html_of", "memories_html", "overview_html", "visible"]

#: Rows of a table, and characters of a text, at most.
ROWS, CHARACTERS = 50, 400
#: Characters of the text of a whole block of a context.
BLOCK_CHARACTERS = 4_000
JOINERS = "\u200c\u200d"

_CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top;white-space:normal;background:none"
_HEAD = f"{_CELL};border-bottom:1px solid rgba(128,128,128,.5);opacity:.75;font-weight:600"
_SMALL = "opacity:.7;font-size:90%"


@singledispatch
def html_of(value: Any) -> str | None:
    """The notebook view of a record; None for what shows itself well as text."""
    return None


@html_of.register
def _(value: Memory) -> str:
    facts = [
        ("kind", value.kind), ("category", value.category), ("said by", value.speaker or value.role),
        ("happened", _moment(value.occurred_at)), ("said", _moment(value.created_at)),
        ("importance", f"{value.importance:.2f}"), ("said so often", str(value.mention_count)),
        ("tier", None if value.kind == "message" else value.tier),
        ("state", _state(value)), ("conversation", value.conversation_id),
        ("sources", ", ".join(value.source_ids[:5]) or None),
        ("connections", str(len(value.connections)) if value.connections else None), ("id", value.id),
    ]  # fmt: skip
    rows = [(escape(name), _text(text)) for name, text in facts if text]
    return f"{_card(value)}{_table((), rows)}"


@html_of.register
def _(value: SearchHit) -> str:
    factors = [(escape(name), _bar(score)) for name, score in value.components.items()]
    sources = f"from {', '.join(value.source_ids[:5])}" if value.source_ids else None
    return (
        f"{_card(value.record, kind=value.type)}"
        f"{_table((), [('<b>score</b>', _bar(value.score)), *factors])}"
        f"<div style='{_SMALL}'>{_text(_moment(value.occurred_at))} {_text(sources)}</div>"
    )


@html_of.register
def _(value: SearchResult) -> str:
    names = list(dict.fromkeys(name for hit in value.results for name in hit.components))
    rows = [
        (
            _bar(hit.score),
            _kind(hit.record.kind, hit.type),
            _text(hit.memory),
            _when(hit.occurred_at),
            *(f"{hit.components[name]:.2f}" if name in hit.components else "" for name in names),
        )
        for hit in value.results[:ROWS]
    ]
    head = ("score", "type", "memory", "when", *map(escape, names))
    heading = _title(f"{_count(len(value), 'hit')} for", value.query)
    return heading + _table(head, rows, of=len(value))


@html_of.register
def _(value: ContextBlock) -> str:
    colour = BLOCK_COLOURS.get(value.title, MUTED)
    return (
        f"<details open style='border-left:4px solid {colour};padding-left:8px;margin:4px 0'>"
        f"<summary>{_text(value.title)} "
        f"<span style='{_SMALL}'>{_count(value.tokens, 'token')}</span></summary>"
        f"<pre style='white-space:pre-wrap;background:none;color:inherit;margin:4px 0'>"
        f"{escape(_cut(value.text, BLOCK_CHARACTERS))}</pre></details>"
    )


@html_of.register
def _(value: Context) -> str:
    bars = "".join(
        f"<div title='{escape(block.title)}: {block.tokens}' style='flex:{max(1, block.tokens)};"
        f"background:{BLOCK_COLOURS.get(block.title, MUTED)}'></div>"
        for block in value.blocks
    )
    return (
        f"<div>{_count(value.tokens, 'token')} in {_count(len(value.blocks), 'block')}</div>"
        f"<div style='display:flex;height:12px;max-width:640px;margin:4px 0'>{bars}</div>"
        + "".join(html_of(block) or "" for block in value.blocks)
    )


@html_of.register
def _(value: AddResult) -> str:
    usage = ", ".join(
        f"{name.replace('_', ' ')} {count}" for name, count in value.usage.model_dump().items() if count
    )
    return f"{memories_html(value.memories, 'Learnt')}<div style='{_SMALL}'>{escape(usage)}</div>"


@html_of.register
def _(value: MaintenanceReport) -> str:
    if value.changed_nothing:
        return "<div>Everything was in order: nothing changed.</div>"
    reasons: dict[str, list[str]] = {
        "moved": [move.reason for move in value.moved],
        "promoted": [promotion.reason for promotion in value.promoted],
    }
    rows = []
    for name, count in value.counts.items():
        if count:
            said = Counter(reasons.get(name, []))
            what = [f"{reason} ({times})" for reason, times in said.most_common(3)]
            named = what or [str(one) for one in getattr(value, name)[:3]]
            more = "" if what or count <= len(named) else ", …"
            rows.append((escape(name.replace("_", " ")), str(count), _text(", ".join(named) + more)))
    return _table(("step", "memories", "which, or why"), rows)


def memories_html(memories: Sequence[Memory], title: str = "") -> str:
    """A list of memories, each in one row."""
    rows = [
        (
            _kind(memory.kind),
            _text(memory.text),
            _when(memory.dated),
            _text(", ".join(filter(None, (memory.category, _state(memory))))),
        )
        for memory in memories[:ROWS]
    ]
    heading = _title(title, _count(len(memories), "memory", "memories")) if title else ""
    return heading + _table(("kind", "text", "when", "what it is"), rows, of=len(memories))


def overview_html(snapshot: Snapshot) -> str:
    """How much of what a namespace holds."""
    counts = Counter(record.kind for record in snapshot.records)
    rows = [(_kind(kind, KIND_NAMES[kind]), str(counts[kind])) for kind in KINDS if counts[kind]]
    heading = _title(_count(len(snapshot.records), "record") + " in the namespace", snapshot.namespace)
    return heading + _table((), rows)


def graph_html(graph: MemoryGraph) -> str:
    """The relations between things, those that were said most often first."""
    relations = graph.relations()
    rows = [
        (
            _text(one.subject),
            _text(one.predicate.replace("_", " ")),
            _text(one.object),
            str(one.mention_count),
            _when(one.last_mentioned),
            "" if one.current else "superseded",
        )
        for one in relations[:ROWS]
    ]
    heading = _title(f"{_count(len(graph), 'thing')} and", _count(len(relations), "relation"))
    head = ("subject", "relation", "object", "said so often", "last said", "")
    return heading + _table(head, rows, of=len(relations))


def _card(memory: Memory, kind: str | None = None) -> str:
    return f"<div>{_kind(memory.kind, kind)} {_text(memory.text)}</div>"


def _kind(kind: Kind, label: str | None = None) -> str:
    dot = f"<span style='color:{KIND_COLOURS.get(kind, MUTED)}'>●</span>"
    return f"<span style='white-space:nowrap'>{dot} {escape((label or kind).replace('_', ' '))}</span>"


def _state(memory: Memory) -> str | None:
    if not memory.is_current:
        return "superseded"
    if not memory.is_active:
        return "archived"
    return "pending" if memory.pending else "pinned" if memory.pinned else None


def _bar(value: float) -> str:
    width = round(60 * min(1.0, max(0.0, value)))
    return (
        f"<span style='white-space:nowrap'><span style='display:inline-block;height:9px;width:{width}px;"
        f"background:{KIND_COLOURS['fact']}'></span> {value:.3f}</span>"
    )


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat(" ", "minutes")[:16] if moment else None


def _when(moment: datetime | None) -> str:
    return f"<span style='white-space:nowrap'>{_moment(moment) or ''}</span>"


def _text(text: str | None) -> str:
    """Escaped, on one line, of bounded length, without what would turn or hide the text around it."""
    return escape(_cut(visible(text), CHARACTERS)) if text else ""


def visible(text: str) -> str:
    """``text`` on one line, without controls and marks of direction; joiners stay, emoji need them."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(one for one in line if one.isprintable() or one in JOINERS)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _title(text: str, value: str) -> str:
    return f"<div>{escape(text)} <b>{_text(value)}</b></div>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, of: int | None = None) -> str:
    """A table of cells that are HTML already; ``of`` says how many rows there would be."""
    shown = [
        "<tr style='background:none'>" + "".join(f"<td style='{_CELL}'>{cell}</td>" for cell in row) + "</tr>"
        for row in rows
    ]
    if not shown:
        return f"<div style='{_SMALL}'>none</div>"
    titles = "".join(f"<th style='{_HEAD}'>{cell}</th>" for cell in head)
    heading = f"<thead><tr>{titles}</tr></thead>" if head else ""
    more = f"<div style='{_SMALL}'>and {of - len(shown):,} more</div>" if of and of > len(shown) else ""
    return (
        f"<table style='border-collapse:collapse;border:none;color:inherit'>{heading}"
        f"<tbody>{''.join(shown)}</tbody></table>{more}"
    )
