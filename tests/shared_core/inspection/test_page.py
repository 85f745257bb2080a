from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory
from shared_core.inspection.page import write_page
from tests.shared_core.inspection.told import HOSTILE, NOW, tell

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


def opened(page: Path, address: str, folder: Path) -> str:
    """The document that Chromium makes of a page."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--no-first-run", f"--user-data-dir={folder}", "--virtual-time-budget=2000", "--dump-dom",
            f"{page.resolve().as_uri()}{address}",
        ],
        capture_output=True,
        timeout=120,
        check=True,
        text=True,
        encoding="utf-8",
    )  # fmt: skip
    return done.stdout


def listed(document: str) -> list[str]:
    """The ids of the memories in the list."""
    return re.findall(r'<li data-id="([^"]+)"', document)


def data_of(page: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"))
    assert found
    return json.loads(found[1])


@pytest.fixture
def hostile(memory: ContextMemory) -> ContextMemory:
    tell(memory)
    memory.add([{"role": "user", "content": text} for text in HOSTILE], "</script>", now=NOW)
    memory.relate("</script><img src=x onerror=\"document.title='owned'\">", "is", "<b>bold</b>", now=NOW)
    return memory


def test_the_data_come_through_whole_and_cannot_end_their_element(
    hostile: ContextMemory, tmp_path: Path
) -> None:
    page = write_page(hostile, tmp_path / "page.html", now=NOW)
    html = page.read_text("utf-8")
    assert html.count("</script>") == 2
    assert "onerror" not in re.sub(r'id="data">.*?</script>', "", html)
    texts = {record["text"] for record in data_of(page)["records"]}
    assert {record.text for record in hostile.messages("</script>")} <= texts


def test_the_page_names_no_other_address(hostile: ContextMemory, tmp_path: Path) -> None:
    html = write_page(hostile, tmp_path / "page.html", now=NOW).read_text("utf-8")
    assert "default-src 'none'" in html
    own = re.sub(r'id="data">.*?</script>', "", html)
    assert set(re.findall(r"https?://[^\"' ]+", own)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(?:link|img|iframe)\b|\bsrc=|@import|url\(", own)


@in_a_browser
def test_hostile_memories_are_text_in_a_browser(hostile: ContextMemory, tmp_path: Path) -> None:
    page = write_page(hostile, tmp_path / "page.html", now=NOW)
    document = opened(page, "", tmp_path / "profile")
    assert "<title>Memory of default</title>" in document
    assert len(listed(document)) == len(data_of(page)["records"]) > len(HOSTILE)
    assert "&lt;/script&gt;&lt;script&gt;document.title='owned'" in document
    without_data = re.sub(r'id="data">.*?</script>', "", document, flags=re.DOTALL)
    assert not re.search(r"<img|<b>|<!--", without_data)
    assert without_data.count("<script") == 2


@in_a_browser
def test_the_search_box_filters(memory: ContextMemory, tmp_path: Path) -> None:
    tell(memory)
    page = write_page(memory, tmp_path / "page.html", now=NOW)
    wanted = {record["id"] for record in data_of(page)["records"] if "LISBON" in record["text"].upper()}
    document = opened(page, "#q=LiSbon", tmp_path / "profile")
    assert set(listed(document)) == wanted
    total = len(data_of(page)["records"])
    assert f"{len(wanted)} of {total} memories" in document
    assert "0 of" in opened(page, "#q=lisbon%20zebra", tmp_path / "profile")


@in_a_browser
def test_timeline_graph_and_budget_are_drawn(memory: ContextMemory, tmp_path: Path) -> None:
    tell(memory)
    page = write_page(memory, tmp_path / "page.html", query="Where do I live?", token_budget=300, now=NOW)
    document = opened(page, "", tmp_path / "profile")
    data = data_of(page)
    assert document.count("<circle") == len(data["network"]["nodes"]) > 1
    assert document.count("<rect") >= 2
    assert f"{data['context']['tokens']} of 300 tokens, for “Where do I live?”" in document
    for block in data["context"]["blocks"]:
        assert f"{block['title']} · {block['tokens']} tokens" in document


@in_a_browser
def test_an_empty_memory_has_a_page(memory: ContextMemory, tmp_path: Path) -> None:
    document = opened(write_page(memory, tmp_path / "page.html"), "", tmp_path / "profile")
    assert "0 of 0 memories" in document
    assert "Nothing is linked yet." in document


def test_a_page_shows_the_newest_and_says_how_many_there_are(memory: ContextMemory, tmp_path: Path) -> None:
    tell(memory)
    data = data_of(write_page(memory, tmp_path / "page.html", limit=3, now=NOW))
    assert len(data["records"]) == 3 < data["total"]
    assert "Lisbon" in " ".join(record["text"] for record in data["records"])


def test_looking_at_a_page_does_not_count_as_reading(memory: ContextMemory, tmp_path: Path) -> None:
    tell(memory)
    write_page(memory, tmp_path / "page.html", query="Where do I live?", now=NOW)
    assert memory.maintain(now=NOW).accessed == ()


def test_a_page_that_is_there_is_replaced_whole(memory: ContextMemory, tmp_path: Path) -> None:
    tell(memory)
    target = tmp_path / "page.html"
    target.write_text("old")
    assert write_page(memory, str(target), now=NOW) == target
    assert target.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.glob("*page*")] == ["page.html"]


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"token_budget": 0}])
def test_a_limit_below_one_is_refused(wrong: Any, memory: ContextMemory, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        write_page(memory, tmp_path / "page.html", **wrong)
    assert not (tmp_path / "page.html").exists()


def test_a_folder_that_is_not_there_is_an_error(memory: ContextMemory, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_page(memory, tmp_path / "nowhere" / "page.html")
