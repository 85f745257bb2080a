"""One simulated year of a memory, day by day: what is said, read, and tended, and what becomes of it.

``python -m tests.benchmarks.year`` writes ``docs/lifecycle.png``.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from shared_core import ContextMemory, Settings
from shared_core.extraction.schema import ExtractedBubble, ExtractedFact, Extraction, ExtractionRequest
from shared_core.records import TIERS
from shared_core.upkeep.maintenance import MaintenanceReport
from tests.benchmarks.plots import INK, OURS

BEGINNING = datetime(2026, 1, 1, 9, 0, tzinfo=timezone.utc)
DAYS = 365
#: Days on which nobody says a word: a holiday, which shows what time alone does.
HOLIDAY = range(200, 300)
#: Said every week until the holiday, and asked about every month: what proves useful.
HABIT = "User swims in the lake on Sundays"
QUESTION = "Where does the user swim on Sundays?"
STAGES = ("active", "warm", "cold", "archived")


class DiaryExtractor:
    """Reads lines such as ``fact 0.9 work: …`` and ``moment 0.5: …``."""

    is_slow = False

    @property
    def name(self) -> str:
        """Its name."""
        return "diary"

    def extract(self, request: ExtractionRequest) -> Extraction:
        """What the lines of the messages say."""
        facts: list[ExtractedFact] = []
        bubbles: list[ExtractedBubble] = []
        for place, message in enumerate(request.messages):
            for line in message.content.splitlines():
                mark, _, text = (part.strip() for part in line.partition(":"))
                kind, importance, *category = mark.split()
                if kind == "fact":
                    facts.append(
                        ExtractedFact(
                            text=text, category=category[0], importance=float(importance), sources=(place,)
                        )
                    )
                else:
                    bubbles.append(ExtractedBubble(text=text, importance=float(importance), sources=(place,)))
        return Extraction(facts=tuple(facts), bubbles=tuple(bubbles))


@dataclass
class Day:
    """What there is at the end of one day.

    Attributes:
        number: Days since the beginning.
        stages: Bubbles by the stage of their life.
        tiers: Facts and bubbles in use by tier.
        working: Texts in working memory, most worth first.
        blocks: The core blocks by name.
        report: What maintenance did that day.
    """

    number: int
    stages: Counter[str] = field(default_factory=Counter)
    tiers: Counter[str] = field(default_factory=Counter)
    working: tuple[str, ...] = ()
    blocks: dict[str, str] = field(default_factory=dict)
    report: MaintenanceReport = field(default_factory=MaintenanceReport)


def said_on(day: int) -> list[str]:
    """What is said on one day."""
    if day in HOLIDAY:
        return []
    lines = [f"moment {(0.3, 0.5, 0.7)[day % 3]}: User wrote page {day} of the diary."]
    if day % 7 == 0:
        lines.append(f"fact 0.5 preference: {HABIT}")
    if day % 30 == 0:
        lines.append(f"moment 0.9: User finished chapter {day // 30} of the book.")
        lines.append(f"fact 0.4 other: User met reader number {day}")
    if day == 0:
        lines += ["fact 0.9 name: User's name is Ada", "fact 0.8 work: User works as a writer"]
    if day == 40:
        lines.append("fact 0.7 goal: User wants to finish the book this year")
    return lines


def live(folder: Path, settings: Settings | None = None, days: int = DAYS) -> Iterator[Day]:
    """Live through the days; each is told once its maintenance is done."""
    chosen = settings or Settings()
    with ContextMemory(folder, extractor=DiaryExtractor(), settings=chosen) as memory:
        for number in range(days):
            now = BEGINNING + timedelta(days=number)
            lines = said_on(number)
            if lines:
                memory.add(
                    [
                        {"role": "user", "content": line, "id": f"{number}-{place}"}
                        for place, line in enumerate(lines)
                    ],
                    now=now,
                )
            if number % 30 == 15:
                memory.search(QUESTION, now=now)
            evening = now + timedelta(hours=12)
            yield _told(memory, number, memory.maintain(now=evening), evening)


def _told(memory: ContextMemory, number: int, report: MaintenanceReport, now: datetime) -> Day:
    learnt = memory.list(kind=("fact", "bubble"), limit=10_000, include_archived=True, now=now)
    stages: Counter[str] = Counter(
        "archived" if not one.is_active else one.stage(now) or "" for one in learnt if one.kind == "bubble"
    )
    return Day(
        number=number,
        stages=stages,
        tiers=Counter(one.tier for one in learnt if one.is_active),
        working=tuple(one.text for one in memory.working_memory(now=now)),
        blocks={block.title or "": block.text for block in memory.blocks.list()},
        report=report,
    )


def plot(days: Sequence[Day], path: Path) -> None:
    """Draw the year: stages of bubbles, tiers, working memory and what maintenance did."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 1, figsize=(8.0, 8.4), dpi=110, sharex=True)
    numbers = [day.number for day in days]
    stages, tiers, working = panels
    stages.stackplot(
        numbers,
        *([day.stages[stage] for day in days] for stage in STAGES),
        labels=["active, 0–7 days", "warm, 7–30", "cold, 30–90", "archived, 90 and more"],
        colors=["#e8590c", "#f59f00", "#1c7ed6", "#adb5bd"],
        alpha=0.85,
    )
    tiers.stackplot(
        numbers,
        *([day.tiers[tier] for day in days] for tier in TIERS),
        labels=["short term", "medium term", "long term"],
        colors=["#e8590c", "#9c36b5", "#2f9e44"],
        alpha=0.85,
    )
    working.step(
        numbers, [len(day.working) for day in days], where="post", color=OURS, label="in working memory"
    )
    for name, marker, colour in (("promoted", "^", "#2f9e44"), ("left", "v", "#d6336c")):
        moments = [day for day in days if len(getattr(day.report, name))]
        working.scatter(
            [day.number for day in moments],
            [len(day.working) for day in moments],
            marker=marker,
            s=18,
            color=colour,
            label={"promoted": "some enter or stay longer", "left": "some leave"}[name],
            zorder=3,
        )
    working.set_ylim(bottom=0)
    working.set_xlabel("day of the year (nobody speaks from day 200 to 300)", color=INK)
    titles = ("bubbles by stage", "facts and bubbles in use, by tier", "working memory")
    for axes, title in zip(panels, titles, strict=True):
        _dress(axes, title)
    figure.savefig(path, transparent=True, bbox_inches="tight")
    plt.close(figure)


def _dress(axes: Any, title: str) -> None:
    axes.axvspan(HOLIDAY.start, HOLIDAY.stop, color=INK, alpha=0.12, linewidth=0)
    axes.set_title(title, color=INK, loc="left", fontsize=10)
    axes.set_xlim(0, DAYS - 1)
    axes.tick_params(colors=INK, which="both")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.patch.set_alpha(0.0)
    axes.legend(loc="upper left", frameon=False, labelcolor=INK, fontsize=8)


def main() -> None:
    """Live through a year and draw it."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/lifecycle.png")
    with tempfile.TemporaryDirectory() as folder:
        plot(list(live(Path(folder))), target)
    print(target)


if __name__ == "__main__":
    main()
