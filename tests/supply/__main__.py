"""Install the project in every way and run the tests that apply: ``python -m tests.supply``.

``python -m tests.supply bare mcp`` tries only these, ``--lowest`` with each direct dependency at the lowest
version that ``pyproject.toml`` states. Every variant gets a fresh environment, so pip must reach an index.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from tests.supply.applicable import PROMISED
from tests.supply.environment import Environment, default_interpreter
from tests.supply.requirements import ROOT, floors, project, tools
from tests.supply.variants import TOOLS, VARIANTS, Variant, chosen

__all__ = ["main", "tried"]


def tried(variant: Variant, environment: Environment, interpreter: str, *, lowest: bool) -> dict[str, str]:
    """Install a variant and run its tests; what came of it, for a row of the table."""
    table = project()
    held = floors(table, variant.extras, unpinned=variant.unpinned) if lowest else []
    brackets = f"[{','.join(variant.extras)}]" if variant.extras else ""
    began = time.monotonic()
    environment.make(interpreter)
    try:
        wanted = [f"{ROOT}{brackets}", *tools(table, (*TOOLS, *variant.tools))]
        environment.install(wanted, held)
    except subprocess.CalledProcessError:
        return {"passed": "not installed", "log": str(environment.log)}
    installed = time.monotonic()
    report = environment.folder / "report.xml"
    # The plugin of an old anyio is not used here, and warns under a new pytest.
    plugins = ["-p", "tests.supply.applicable", "-p", "no:cacheprovider", "-p", "no:anyio"]
    # Old releases warn beside what is new, which says nothing about ours.
    warnings = ["--override-ini=filterwarnings=default"] if lowest else []
    arguments = [*plugins, *warnings, f"--junitxml={report}"]
    code = environment.test(ROOT, [*arguments, *variant.tests], **{PROMISED: " ".join(variant.promised)})
    return {
        **_counts(report),
        "exit": str(code),
        "log": str(environment.log) if code else "",
        "packages": str(len(environment.versions())),
        "install_s": f"{installed - began:.0f}",
        "test_s": f"{time.monotonic() - installed:.0f}",
    }


def _counts(report: Path) -> dict[str, str]:
    """How many tests passed, failed and were skipped."""
    if not report.exists():
        return {"passed": "no report"}
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    count = {
        key: sum(int(one.get(key, 0)) for one in suites) for key in ("tests", "errors", "failures", "skipped")
    }
    failed = count["errors"] + count["failures"]
    passed = count["tests"] - failed - count["skipped"]
    return {"passed": str(passed), "failed": str(failed), "skipped": str(count["skipped"])}


COLUMNS = ("passed", "failed", "skipped", "packages", "install_s", "test_s", "exit", "log")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each variant; 1 where one failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("variants", nargs="*", help=f"of {', '.join(VARIANTS)}; all if left out")
    parser.add_argument("--lowest", action="store_true", help="the lowest versions that are stated")
    parser.add_argument("--python", default=default_interpreter(), help="which interpreter")
    parser.add_argument("--folder", type=Path, help="keep environments and logs here")
    options = parser.parse_args(arguments)
    try:
        variants = chosen(options.variants)
    except ValueError as error:
        parser.error(str(error))
    folder = options.folder or Path(tempfile.mkdtemp(prefix="supply-"))
    folder.mkdir(parents=True, exist_ok=True)
    print("| variant | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 1) + "|", flush=True)
    worst = 0
    for name, variant in variants.items():
        name = f"{name}, lowest" if options.lowest else name
        place = folder / name.replace(", ", "-")
        place.parent.mkdir(parents=True, exist_ok=True)
        environment = Environment(place, folder / f"{place.name}.log")
        row = tried(variant, environment, options.python, lowest=options.lowest)
        print(f"| {name} | " + " | ".join(row.get(column, "") for column in COLUMNS) + " |", flush=True)
        worst = max(worst, int(row.get("exit") != "0"))
    return worst


if __name__ == "__main__":
    sys.exit(main())
