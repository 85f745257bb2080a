"""Whatever happens, the index that every write has kept is the one that a fresh start would load."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from chromadb.api import ClientAPI
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from shared_core import ContextMemory, Settings
from shared_core.errors import ExtractionError
from shared_core.extraction.schema import Extraction, ExtractionRequest
from shared_core.records import Memory
from tests.shared_core.building import EMBEDDER, NOW, NotesExtractor, chroma_client, said
from tests.shared_core.index.dump import dump, scores

QUESTIONS = ["Ada rode her red tandem", "Where does Ada live?", "tax office"]
QUERIES = [(text, EMBEDDER.embed_query(text)) for text in QUESTIONS]
LINES = st.sampled_from(
    [
        "fact: Ada lives in Berlin",
        "fact: ada lives in BERLIN",
        "fact: Ada works at the tax office",
        "moment: Ada rode her red tandem to work.",
        "moment: Ada rode her red tandem to the lake.",
        "moment: The tax office wrote a letter.",
        "relation: Ada | lives_in | Berlin",
        "relation: ada | lives_in | berlin",
        "I rode my tandem home from the tax office.",
        "Hm.",
    ]
)
TEXTS = st.lists(LINES, min_size=1, max_size=3).map("\n".join)
PICKS = st.integers(0, 1_000)
CONVERSATIONS = st.sampled_from(["c1", "c2"])
SETTINGS = Settings(buffer_messages=4, buffer_evict=2, capacity=9, connection_limit=2)


class Moody(NotesExtractor):
    """Slow or quick, and out of order, as a test wishes."""

    is_broken = False

    def extract(self, request: ExtractionRequest) -> Extraction:
        if self.is_broken:
            raise ExtractionError("out of order")
        return super().extract(request)


class Life(RuleBasedStateMachine):
    """One memory that is used, one that only watches, and one that is opened anew after each step."""

    client: ClientAPI

    def __init__(self) -> None:
        super().__init__()
        self.extractor = Moody()
        self.name = uuid4().hex
        self.memory = self._open()
        self.watcher = self._open()
        self.now = NOW
        self.said = 0

    def _say(self, text: str, **more: Any) -> dict[str, Any]:
        """A message whose id is the same whenever the same steps are taken."""
        self.said += 1
        return said(text, f"m{self.said}", **more)

    def _open(self) -> ContextMemory:
        return ContextMemory(self.client, self.name, extractor=self.extractor, settings=SETTINGS)

    def teardown(self) -> None:
        self.memory.erase(everything=True)
        self.memory.close()
        self.watcher.close()

    def _known(self, *, messages: bool) -> list[Memory]:
        listed = self.memory.list(
            kind="message" if messages else ("fact", "bubble", "triplet", "summary"),
            limit=1_000,
            now=self.now,
            include_archived=True,
            include_superseded=True,
        )
        return sorted(listed, key=lambda memory: memory.id)

    @rule(
        conversation=CONVERSATIONS,
        texts=st.lists(TEXTS, min_size=1, max_size=3),
        minutes=st.sampled_from([1, 90]),
    )
    def add(self, conversation: str, texts: list[str], minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        speaker = ("Ada", "Grace")[minutes % 2]
        with suppress(ExtractionError):
            self.memory.add([self._say(text, name=speaker) for text in texts], conversation, now=self.now)

    @rule(conversation=CONVERSATIONS, back=st.integers(1, 500))
    def add_out_of_order(self, conversation: str, back: int) -> None:
        with suppress(ExtractionError):
            earlier = self._say("moment: Ada rode.", timestamp=self.now - timedelta(days=back))
            self.memory.add(earlier, conversation, now=self.now)

    @rule(is_slow=st.booleans(), is_broken=st.booleans())
    def change_the_extractor(self, is_slow: bool, is_broken: bool) -> None:
        self.extractor.is_slow = is_slow
        self.extractor.is_broken = is_broken

    @rule()
    def flush(self) -> None:
        with suppress(ExtractionError):
            self.memory.flush()

    @precondition(lambda self: self._known(messages=False))
    @rule(pick=PICKS, text=st.sampled_from(["Ada lives in Bern", "Ada lives in Berlin", "The lake froze."]))
    def update(self, pick: int, text: str) -> None:
        known = self._known(messages=False)
        self.memory.update(known[pick % len(known)].id, text)

    @precondition(lambda self: self._known(messages=False))
    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        known = self._known(messages=False)
        assert self.memory.delete(known[pick % len(known)].id)

    @precondition(lambda self: self._known(messages=True))
    @rule(pick=PICKS)
    def erase_a_message(self, pick: int) -> None:
        known = self._known(messages=True)
        chosen = known[pick % len(known)]
        self.memory.erase(message_id=chosen.message_id, conversation_id=chosen.conversation_id)

    @rule(conversation=CONVERSATIONS)
    def erase_a_conversation(self, conversation: str) -> None:
        self.memory.erase(conversation_id=conversation)

    @rule()
    def erase_everything(self) -> None:
        self.memory.erase(everything=True)

    @rule(days=st.integers(0, 120))
    def maintain(self, days: int) -> None:
        self.now += timedelta(days=days)
        with suppress(ExtractionError):
            self.memory.maintain(now=self.now)
            assert self.memory.maintain(now=self.now).changed_nothing

    @invariant()
    def all_three_know_the_same(self) -> None:
        fresh = self._open()
        three = (self.memory, self.watcher, fresh)
        kept, watched, loaded = (self._dump(memory) for memory in three)
        assert kept == loaded
        assert watched == loaded
        kept, watched, loaded = (self._scores(memory) for memory in three)
        assert kept == pytest.approx(loaded, abs=1e-5)
        assert watched == pytest.approx(loaded, abs=1e-5)
        found, seen, anew = (self._search_scores(memory) for memory in three)
        assert found == pytest.approx(anew, abs=1e-4)
        assert seen == pytest.approx(anew, abs=1e-4)
        fresh.close()

    @invariant()
    def nothing_refers_to_what_is_gone(self) -> None:
        with self.memory.opened().use() as index:
            for memory_id in index:
                memory = index.stored(memory_id)
                referred = [*memory.sources, *(link.memory_id for link in memory.connections)]
                referred += [memory.superseded_by] if memory.superseded_by else []
                assert not [one for one in referred if one not in index]

    @invariant()
    def the_buffer_is_never_over_full(self) -> None:
        with self.memory.opened().use() as index:
            if not index.pending:
                assert all(
                    len(index.buffered(name)) <= SETTINGS.buffer_messages + 3 for name in index.conversations
                )

    def _dump(self, memory: ContextMemory) -> dict[str, Any]:
        with memory.opened().use() as index:
            return dump(index)

    def _scores(self, memory: ContextMemory) -> dict[str, float]:
        with memory.opened().use() as index:
            return scores(index, QUERIES)

    def _search_scores(self, memory: ContextMemory) -> list[float]:
        found = [memory.search(text, limit=100, now=self.now) for text in QUESTIONS]
        return [score for result in found for score in sorted(hit.score for hit in result)]


def live(folder: Path, *, examples: int, steps: int) -> None:
    with chroma_client(folder) as client:
        bound = type("BoundLife", (Life,), {"client": client})
        run_state_machine_as_test(
            bound,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


def test_a_kept_index_equals_a_loaded_one(tmp_path: Path) -> None:
    live(tmp_path, examples=4, steps=15)


@pytest.mark.slow
def test_a_kept_index_equals_a_loaded_one_for_long(tmp_path: Path) -> None:
    live(tmp_path, examples=150, steps=50)
