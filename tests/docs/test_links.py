"""Links lead somewhere, and nothing is said that must not be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, anchors_of, prose_of

_LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\)")
NAMED = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in _LINK.findall(prose_of(page)):
        if re.match(r"[a-z]+:", target):
            assert target.startswith("https://"), target
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{page.name}: {target} leads nowhere"
        if anchor:
            assert anchor in anchors_of(other), f"{page.name}: {target} names no heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_site_stay_within_it(page: Path) -> None:
    """The site is built from ``docs`` alone."""
    if page.parent == DOCS:
        assert not [target for target in _LINK.findall(prose_of(page)) if target.startswith("..")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nobody_is_told_to_install_the_other_project(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(install|add|require)\s+contextmemory(?![\w-])", text)


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"[\w-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = {path.name for path in DOCS.glob("*.md")}
    assert len(listed) == len(set(listed))
    assert set(listed) == pages, "nav of mkdocs.yml"
