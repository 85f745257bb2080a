"""A pytest plugin: what needs a package that this variant does not have is skipped, and told.

A test fails all the same where the variant promises the package, or where a module of the core that belongs
to no extra needs it: that is what the variants are there to find.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import TracebackType

import pytest

from shared_core.errors import MissingExtraError
from tests.supply.variants import OPTIONAL

__all__ = ["PROMISED", "lacking"]

#: The environment variable that names the optional modules of the variant, separated by spaces.
PROMISED = "SUPPLY_PROMISED"
#: The parts of the core that belong to an extra, and are imported by those who have it.
OF_EXTRAS = ("mcp_server", "inspection")

# What a process that a test has started says: our own message, or the end of a traceback.
_ANNOUNCED = re.compile(r"'([\w-]+)' is not installed: pip install 'contextmemory-chroma\[")
_MISSED = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_FRAME = re.compile(r'File "([^"]+)", line \d+')

_needed: Counter[str] = Counter()


def lacking(error: BaseException | None, promised: frozenset[str]) -> str | None:
    """The optional module for which a test may be skipped; None where the error stands.

    Args:
        error: What was raised while the test was collected or run; its causes count.
        promised: Optional modules that are installed here.
    """
    announced = False
    while error is not None:
        announced = announced or isinstance(error, MissingExtraError)
        module = _optional(getattr(error, "name", None) or "", promised)
        if isinstance(error, ModuleNotFoundError) and module:
            return module if announced or not _in_bare_core(_files(error.__traceback__)) else None
        module = _optional(_said(str(error)), promised) if isinstance(error, AssertionError) else None
        if module:
            return module
        error = error.__cause__ or error.__context__
    return None


def _optional(name: str, promised: frozenset[str]) -> str | None:
    """The module that some variants do not have, this one included, in which ``name`` lies."""
    parts = name.split(".")
    above = (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return next((module for module in above if module in OPTIONAL - promised), None)


def _said(told: str) -> str:
    """The module that a process missed, by what it printed; empty where it is the core that missed it."""
    announced, missed = _ANNOUNCED.search(told), _MISSED.search(told)
    if announced or missed is None:
        return announced[1].replace("-", "_") if announced else ""
    return "" if _in_bare_core(_FRAME.findall(told[: missed.start()])) else missed[1]


def _files(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename
        trace = trace.tb_next


def _in_bare_core(files: Iterable[str]) -> bool:
    """Whether the import that failed, whose frames stand in these files, is one of what every variant has."""
    last = Path(next((file for file in reversed(list(files)) if not file.startswith("<frozen")), ""))
    folders = list(zip(last.parts, last.parts[1:], last.parts[2:], strict=False))
    inside = [part for above, folder, part in folders if folder == "shared_core" and above != "tests"]
    return bool(inside) and inside[-1] not in OF_EXTRAS


def _promised() -> frozenset[str]:
    return frozenset(os.environ.get(PROMISED, "").split())


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A module that cannot be imported for want of a package counts as skipped."""
    report = yield
    if report.failed and isinstance(collector, pytest.Module):
        root = lacking(_import_error(collector), _promised())
        if root is not None:
            report.outcome, report.result = "skipped", []
            report.longrepr = (str(collector.path), 0, _told(root))
    return report


def _import_error(module: pytest.Module) -> Exception | None:
    """Why a module of tests cannot be imported: pytest keeps only the text of it."""
    try:
        import_module(".".join(Path(module.nodeid).with_suffix("").parts))
    except Exception as error:  # noqa: BLE001 - whatever it is, pytest has reported it
        return error
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that imports such a package while it runs counts as skipped."""
    report = yield
    root = lacking(call.excinfo.value, _promised()) if report.failed and call.excinfo else None
    if root is not None:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, _told(root))
    return report


def _told(root: str) -> str:
    _needed[root] += 1
    return f"Skipped: needs {root}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what was skipped for want of what."""
    for root, count in sorted(_needed.items()):
        terminalreporter.write_line(f"{count} modules or tests skipped: they need {root}")
