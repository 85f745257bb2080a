"""Tables and plots of what was measured: ``python -m tests.benchmarks.report`` writes to ``docs/``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.machine import read
from tests.benchmarks.peers import SYSTEMS
from tests.benchmarks.plots import plot_recall, plot_search
from tests.benchmarks.tables import LIMIT, Row, figures, ratio, table, title

DOCS = Path("docs")
HEAD = """# Benchmarks

Made by `make bench`; do not edit. Every system has the same embedder (the bundled WordLlama, 256 dimensions),
the same texts and the same machine, in the same run. The best figure of each row is bold, whoever it belongs
to. Times depend on the machine: what counts is the ratio within a row.
"""
QUICK = (
    "> **These figures come from a quick run, which only shows that everything works: do not cite them.**\n"
)
RECALL_NOTES = """A conversation is a namespace of its own. A hit counts for one turn. Context figures are the
share of the evidence in a context within so many tokens: ours as `context()` builds it; of the others the
ranked turns, one on a line as `- [date] Speaker: text`, best first, as many as fit. Weights of ours were
fitted on conversations 0–4 (“tuned”); 5–9 are held out.
"""
LATENCY_NOTES = """Milliseconds, median (p50) and 95th percentile (p95). A search is for 5 turns and includes
the embedding of the question; an add is of a user–assistant pair. The size is the number of turns that were
loaded; ours keeps more records than that, for it learns from them. LangGraph, BM25 and the bare product
write nothing to disk; the bare product is the limit, and competes for no bold. “> n s”: given up there, since
one step took longer.
"""

Results = dict[str, Any]


def recall_section(results: Results) -> Iterator[str]:
    """The tables of recall."""
    yield "## What is found: LoCoMo\n"
    yield RECALL_NOTES
    counter = results["counter"]
    exact = "exact" if counter["exact"] else "a bound that never undercounts, since its file was not at hand"
    yield f"Tokens are counted by `{counter['name']}` ({exact}), for all alike.\n"
    if (DOCS / "benchmark-recall.png").exists():
        yield "![recall@10 of each system](benchmark-recall.png)\n"
    measured = {key: system for key, system in results["systems"].items() if "splits" in system}
    for split in ("all", "held out", "tuned"):
        splits = {key: one["splits"][split] for key, one in measured.items() if split in one["splits"]}
        if not splits:
            continue
        some = next(iter(splits.values()))
        yield f"### {split.capitalize()}: {some['questions']:,} questions, percent\n"
        yield _recall_table({key: one["overall"] for key, one in splits.items()}, list(some["overall"]))
        if split != "tuned":
            yield "recall@10 by category:\n"
            by_category = {
                key: {name: value["recall@10"] for name, value in one["categories"].items()}
                for key, one in splits.items()
            }
            yield _recall_table(by_category, list(some["categories"]))
    yield from _reasons({key: system for key, system in results["systems"].items() if "skipped" in system})


def _recall_table(scores: Mapping[str, Mapping[str, float]], names: list[str]) -> str:
    """Rows by figure; ours with another embedder is shown, but competes with none."""
    common = [key for key in scores if "+" not in key]
    rows = [
        Row(name, {key: one[name] for key, one in scores.items() if name in one}, False, 1, common)
        for name in names
    ]
    return table(rows, list(scores)) + "\n"


def latency_section(results: Results) -> Iterator[str]:
    """The tables of time and memory."""
    yield "## What it costs\n"
    yield LATENCY_NOTES
    if (DOCS / "benchmark-search.png").exists():
        yield "![median time of a search by size](benchmark-search.png)\n"
    by_size = results["by_size"]
    for step in ("search", "add"):
        yield f"### {step.capitalize()} by size, ms\n"
        yield _times(by_size[step], lambda size: f"{int(size):,}", limit=step == "search")
    records = {size: count for size, count in by_size["records"].items() if count}
    if records:
        held = ", ".join(f"{count:,} at {int(size):,}" for size, count in records.items())
        yield f"Records that ours keeps: {held}.\n"
    for key, cost in by_size.get("overhead", {}).items():
        yield f"Of each search of {title(key)}, about {cost:.1f} ms are its request to the loopback server.\n"
    if "among_others" in results:
        yield from _others(results["among_others"])
    if "cold_open" in results:
        yield from _cold(results["cold_open"])
    if "bulk_add" in results:
        yield from _bulk(results["bulk_add"])
    if "memory" in by_size:
        yield from _memory(by_size["memory"])
    yield from _reasons(by_size["search"][list(by_size["search"])[-1]])


def _times(tables: Mapping[str, Mapping[str, Any]], name: Callable[[str], str], limit: bool = True) -> str:
    columns = [key for key in SYSTEMS if any(key in cells for cells in tables.values())]
    rivals = [key for key in columns if key != LIMIT]
    rows, ratios = [], []
    for place, cells in tables.items():
        for figure in ("p50", "p95"):
            rows.append(Row(f"{name(place)}, {figure}", figures(cells, figure), rivals=rivals))
        parts = list(_ratios(figures(cells, "p50"), rivals, limit))
        if parts:
            ratios.append(f"- {name(place)}: ours takes {'; '.join(parts)}.")
    return table(rows, columns) + "\n\n" + "\n".join(ratios) + "\n"


def _ratios(medians: Mapping[str, float | str], rivals: list[str], limit: bool) -> Iterator[str]:
    """Ours by the fastest of all, by the fastest that writes to disk, and by the bare product."""
    fastest = ratio(medians, rivals)
    kept = ratio(medians, [key for key in rivals if SYSTEMS[key].persistent])
    bare = ratio(medians, [LIMIT]) if limit else None
    if fastest:
        yield f"{fastest[0]:.2f} × {title(fastest[1])}, the fastest other"
    if kept and kept != fastest:
        yield f"{kept[0]:.2f} × {title(kept[1])}, the fastest other on disk"
    if bare:
        yield f"{bare[0]:.1f} × the bare product"


def _others(results: Results) -> Iterator[str]:
    yield f"### Search in a namespace of {results['turns']:,} turns, among others, ms\n"
    names = {"alone": "alone", "among": f"{results['others']} others as large"}
    yield _times({key: results[key] for key in names}, lambda key: names[key])


def _cold(results: Results) -> Iterator[str]:
    yield f"### Opening {results['turns']:,} turns that lie on disk, until the first hit, ms\n"
    cells = results["cells"]
    rows = [
        Row("in a process with everything imported", figures(cells, "open")),
        Row("from the start of the interpreter", figures(cells, "start")),
    ]
    yield table(rows, [key for key in SYSTEMS if key in cells]) + "\n"


def _bulk(results: Results) -> Iterator[str]:
    yield f"### Adding {results['turns']:,} turns at once, s\n"
    cells = results["cells"]
    columns = [key for key in SYSTEMS if key in cells]
    rivals = [key for key in columns if key != LIMIT]
    yield table([Row("the public way", figures(cells, "seconds"), rivals=rivals)], columns) + "\n"
    if results["chroma"]:
        yield (
            f"Ours makes {results['records']:,} records of them; Chroma alone takes {results['chroma']:.2f} s"
            f" for as many. Of each figure, embedding takes {results['embedding']:.2f} s.\n"
        )


def _memory(results: Results) -> Iterator[str]:
    yield f"### Memory of ours at {results['turns']:,} turns\n"

    def mib(name: str) -> str:
        return f"{results[name] / 2**20:,.0f} MiB"

    read = (results["ours"] - results["client"]) / results["vectors"]
    written = (results["written"] - results["query"]) / results["vectors"]
    yield (
        f"A process that has the folder open in Chroma, and nothing else, holds {mib('client')}; with ours, "
        f"after a search, {mib('ours')}: {read:.2f} × the {mib('vectors')} of the vectors of its "
        f"{results['records']:,} records more. Where Chroma has loaded its own index, it holds "
        f"{mib('query')} after a query of Chroma's, and {mib('written')} after an `add` of ours: "
        f"{written:.2f} × the vectors more.\n"
    )


def _reasons(cells: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    skipped = [f"- {title(key)}: {cell['skipped']}" for key, cell in cells.items() if "skipped" in cell]
    if skipped:
        yield "Not measured:\n\n" + "\n".join(skipped) + "\n"


def circumstances_section(parts: list[Results]) -> Iterator[str]:
    """How each system was run, on what, with which versions."""
    yield "## How each system was run\n"
    yield "\n".join(f"- **{system.title}**: {system.note}" for system in SYSTEMS.values()) + "\n"
    yield "## Where\n"
    for part in parts:
        threads = part["threads"]
        threads = threads if isinstance(threads, str) else ", ".join(f"{k}={v}" for k, v in threads.items())
        yield (
            f"- {part['name']}: {part['cores']} cores, threads of BLAS and OpenMP {threads}; "
            f"Python {part['python']}; {part['date']}."
        )
    versions = {package: number for part in parts for package, number in part["versions"].items()}
    yield "\nVersions: " + ", ".join(f"{name} {number}" for name, number in sorted(versions.items())) + ".\n"


def main() -> None:
    """Write the page and its plots from whatever was measured."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    DOCS.mkdir(exist_ok=True)
    sections, parts = [HEAD], []
    for name, plot, section in (
        ("recall", plot_recall, recall_section),
        ("latency", plot_search, latency_section),
    ):
        results = read(name)
        if results is None:
            print(f"nothing measured yet: python -m tests.benchmarks.{name}")
            continue
        plot(results, DOCS)
        title, *body = section(results)
        sections += [title, QUICK, *body] if results["quick"] else [title, *body]
        parts.append({**results, "name": name})
    sections += circumstances_section(parts)
    page = DOCS / "benchmarks.md"
    page.write_text("\n".join(sections), encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
