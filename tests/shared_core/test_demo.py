from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from shared_core import ContextMemory, demo
from shared_core.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("demo")
    demo.tell(made)
    return made


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["demo", *arguments])
    assert not ended.value.code
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_questions_find_what_was_told_months_before(folder: Path) -> None:
    answers = demo.ask(folder)
    assert "walnuts" in answers.dinner.text
    assert "gluten" in answers.dinner.text
    assert "clock skew" in answers.bug.results[0].memory


def test_the_context_keeps_its_budget_and_names_its_sources(folder: Path) -> None:
    context = demo.ask(folder).dinner
    assert 0 < context.tokens <= demo.TOKEN_BUDGET
    assert "january-3" in {source for block in context.blocks for source in block.source_ids}


def test_the_story_spans_several_sessions_and_is_stored_as_told(folder: Path) -> None:
    with ContextMemory(folder, demo.NAMESPACE) as memory:
        stored = {found.message_id: found for found in memory.list(kind="message", limit=100)}
    for session in demo.STORY:
        assert session.highlight in [content for _, content in session.turns]
        for message in session.messages():
            found = stored[str(message["id"])]
            assert (found.text, found.created_at) == (message["content"], message["timestamp"])
    assert len({found.session_id for found in stored.values()}) == len(demo.STORY) == 3


def test_telling_the_story_again_changes_nothing(folder: Path) -> None:
    assert demo.tell(folder) == demo.tell(folder)


def test_the_demo_fits_on_one_screen_and_repeats_word_for_word(capsys: pytest.CaptureFixture[str]) -> None:
    first = shown(capsys)
    assert shown(capsys) == first
    lines = first.splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 100
    assert "\x1b" not in first
    assert re.search(rf"\(\d+ of {demo.TOKEN_BUDGET} tokens\)", first)
    for part in (demo.DINNER, demo.BUG, "walnuts", "clock skew", "Relevance", "Recency"):
        assert part in first


def test_the_demo_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shown(capsys)
    assert list(tmp_path.iterdir()) == []


def test_the_memory_of_the_demo_can_be_kept_and_searched(tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    commands = (["demo", "--path", kept], ["search", "walnuts", "--path", kept, "-n", demo.NAMESPACE])
    told, found = (
        subprocess.run(
            [sys.executable, "-m", "shared_core.cli", *arguments], capture_output=True, text=True, check=True
        ).stdout
        for arguments in commands
    )
    assert f"--namespace {demo.NAMESPACE}" in told
    assert "walnuts" in found
