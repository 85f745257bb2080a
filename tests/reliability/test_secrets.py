"""What must not be shown is not: keys of services, and what a redactor takes out of texts."""

from __future__ import annotations

import json
import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from llama_index.llms.openai_like import OpenAILike  # type: ignore[import-untyped]
from pydantic import SecretStr

from langchain_contextmemory import ContextMemoryMiddleware, ContextMemoryRetriever
from langchain_contextmemory.embeddings import LangChainEmbedder
from langchain_contextmemory.llm import LangChainLLM
from llamaindex_contextmemory import ContextChatMemory, ContextMemoryBlock
from llamaindex_contextmemory.llm import LlamaIndexLLM
from shared_core import ContextMemory, OpenAIEmbedder
from shared_core.core_memory.blocks import Blocks
from shared_core.errors import ContextMemoryError, StoreError
from shared_core.extraction.llm import LLMExtractor
from shared_core.items import FindItems, GetItem, ItemStore, PutItem
from shared_core.items.index import ItemCollection
from shared_core.llm import OpenAILLM
from shared_core.records import text_digest
from shared_core.redaction import redact_memory, redact_secrets
from shared_core.transfer.export import export_records, import_records
from tests.openai_server import OpenAIServer, Reply, serving
from tests.shared_core.building import NOW, NotesExtractor, record, said

# The clients of these tests hang until they are collected, as an application's do.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

KEY = "sk-proj-hidden0123456789ABCDEFGHIJ"
#: Replies of a server that shows the key, or fails in another way.
FAILURES = [
    Reply({"error": {"message": f"Incorrect API key provided: {KEY}."}}, status=401),
    Reply({"error": {"message": f"quota of {KEY} is used up"}}, status=429),
    Reply({"error": {"message": f"cannot serve {KEY}"}}, status=500),
    Reply({"error": {"message": f"bad request with {KEY}"}}, status=400),
    Reply(f"<html>{KEY}</html>", status=502),
    Reply(f"not JSON but {KEY}"),
    Reply(drop=True),
]

Parts = dict[str, Any]


def own(server: OpenAIServer) -> Parts:
    options: Parts = {"base_url": server.url, "api_key": KEY, "max_retries": 0}
    return {
        "embedder": OpenAIEmbedder("tiny", dimension=8, **options),
        "extractor": LLMExtractor(OpenAILLM("m", **options)),
    }


def of_langchain(server: OpenAIServer) -> Parts:
    options: Parts = {"base_url": server.url, "api_key": SecretStr(KEY), "max_retries": 0}
    embeddings = OpenAIEmbeddings(model="text-embedding-3-small", check_embedding_ctx_length=False, **options)
    return {
        "embedder": LangChainEmbedder(embeddings),
        "extractor": LLMExtractor(LangChainLLM(ChatOpenAI(model="m", **options))),
    }


def of_llama_index(server: OpenAIServer) -> Parts:
    llm = OpenAILike(model="m", api_base=server.url, api_key=KEY, is_chat_model=True, max_retries=0)
    return {"extractor": LLMExtractor(LlamaIndexLLM(llm))}


BUILDERS: list[Callable[[OpenAIServer], Parts]] = [own, of_langchain, of_llama_index]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serving() as running:
        running.chat = lambda body: '{"facts": [{"text": "User rides a tandem", "messages": [1]}]}'
        yield running


def told(error: BaseException) -> str:
    """All that is shown of an error, its chain included."""
    return "".join(traceback.format_exception(error)) + repr(error)


def database(folder: Path) -> bytes:
    """What Chroma's database holds.

    Its index files are left out: Chroma 1.5.9 writes ``length.bin`` from memory that nobody has set, in
    which anything of this process may stand, such as the headers of a request (``docs/reliability.md``).
    """
    return b"".join(file.read_bytes() for file in folder.glob("chroma.sqlite3*"))


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("failure", range(len(FAILURES)))
def test_a_key_shows_in_no_log_and_no_error(
    tmp_path: Path,
    server: OpenAIServer,
    caplog: pytest.LogCaptureFixture,
    build: Callable[[OpenAIServer], Parts],
    failure: int,
) -> None:
    parts = build(server)
    shown: list[str] = []
    caplog.set_level(logging.DEBUG, "shared_core")
    caplog.set_level(logging.DEBUG, "langchain_contextmemory")
    with ContextMemory(tmp_path, **parts) as memory:
        server.script.extend([FAILURES[failure]] * 12)
        for action in (
            lambda: memory.add(said("I ride a tandem to the lake.", "m1"), "c"),
            memory.flush,
            memory.maintain,
            lambda: memory.search("tandem"),
            lambda: memory.remember("Ada rides"),
        ):
            try:
                action()
            except ContextMemoryError as error:
                shown.append(told(error))
        server.script.clear()
        shown += [repr(memory), repr(memory.embedder), repr(parts["extractor"]), repr(memory.settings)]
        shown += [str(vars(memory))]
    assert KEY not in "\n".join(shown)
    assert KEY not in caplog.text


@pytest.mark.parametrize("build", BUILDERS)
def test_a_key_is_in_nothing_that_is_saved(
    tmp_path: Path, server: OpenAIServer, build: Callable[[OpenAIServer], Parts]
) -> None:
    with ContextMemory(tmp_path / "store", **build(server)) as memory:
        memory.add(said("I ride a tandem to the lake.", "m1"), "c")
        memory.flush()
        lines = list(export_records(memory))
        assert len(lines) > 1
        chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c")
        block = ContextMemoryBlock(memory=memory)
        saved = [*lines, chat.model_dump_json(), repr(chat), block.model_dump_json()]
        saved += [
            repr(block),
            repr(ContextMemoryRetriever(memory=memory)),
            repr(ContextMemoryMiddleware(memory)),
        ]
        saved += [memory.settings.model_dump_json(), json.dumps(memory.search("tandem").to_dict())]
        for held in (memory.embedder, memory.settings, chat):
            with suppress(Exception):  # what cannot be pickled saves nothing
                saved.append(pickle.dumps(held).decode("latin-1"))
    assert KEY not in "\n".join(saved)
    assert KEY.encode() not in database(tmp_path / "store")


def test_a_key_in_the_address_of_a_server_is_not_shown(server: OpenAIServer) -> None:
    address = server.url.replace("http://", f"http://user:{KEY}@")
    llm = OpenAILLM("m", base_url=address, max_retries=0)
    embedder = OpenAIEmbedder("tiny", dimension=8, base_url=address, max_retries=0)
    server.script.extend([Reply({"error": {"message": "no"}}, status=500)] * 4)
    shown = [repr(llm), repr(embedder), llm.name, embedder.name]
    with pytest.raises(ContextMemoryError) as raised:
        embedder.embed(["a"])
    assert KEY not in "\n".join([*shown, told(raised.value)])


# -- redaction -------------------------------------------------------------------------------------------

SECRETS = {
    "[key]": [
        KEY,
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "xoxb-1234567890-abcdefghij",
        "AIzaSyA0123456789abcdefghijABCDEFGHIJK0",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijklm",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAA\n-----END RSA PRIVATE KEY-----",
    ],
    "[card number]": ["4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009", "4111111111111111"],
    "[phone number]": ["+49 30 901820", "+1 (415) 555-2671", "415-555-2671", "0171/1234567", "030 1234567"],
    "[e-mail]": ["ada@example.com", "ada.lovelace+x@mail.example.co.uk", "józef@przykład.pl"],
}
HARMLESS = [
    "On 2026-01-14 at 12:00 I ran 10000000000 m from 192.168.100.200 with version 1.2.3.",
    "My ISBN is 978-3-16-148410-0, and order 1234567890123456 cost $1,234.56.",
    "The password is required; keep your API keys safe; the token ring is old.",
    "Rooms 2025 2026 2027 2028 are @ the 3rd floor; call me at 5.",
    "550e8400-e29b-41d4-a716-446655440000",
]


@pytest.mark.parametrize(("mark", "secret"), [(mark, one) for mark, all_ in SECRETS.items() for one in all_])
def test_what_looks_like_a_secret_is_replaced(mark: str, secret: str) -> None:
    assert redact_secrets(f"Mine: {secret}, yes") == f"Mine: {mark}, yes"
    assert redact_secrets(secret) == mark


def test_named_secrets_are_replaced_and_their_names_stay() -> None:
    text = "api_key=abc123 password: hunter2x 'access token': 'xyzzy99' Bearer abc123def https://me:pw@host/x"
    assert redact_secrets(text) == (
        "api_key=[key] password: [key] 'access token': '[key]' Bearer [key] https://me:[key]@host/x"
    )


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert redact_secrets(text) == text


PIECES = st.sampled_from(
    [one for all_ in SECRETS.values() for one in all_] + [*SECRETS, "0", "+", "@", ".", " "]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("".join))
def test_redacting_again_changes_nothing(text: str) -> None:
    assert redact_secrets(redact_secrets(text)) == redact_secrets(text)


def test_nothing_of_a_secret_is_stored(tmp_path: Path) -> None:
    secrets = [one for all_ in SECRETS.values() for one in all_]
    with ContextMemory(tmp_path, extractor=NotesExtractor(), redact=redact_secrets) as memory:
        for number, secret in enumerate(secrets):
            memory.add(
                said(
                    f"fact: Mine is {secret}",
                    f"m{number}",
                    name=f"Ada {secret}",
                    metadata={"a": [{"b": secret}]},
                ),
                "c",
                metadata={"common": secret},
            )
        stated = memory.remember(f"Ada has {secrets[0]}", metadata={"x": secrets[1]})
        memory.update(stated.id, f"Ada had {secrets[2]}")
        memory.relate(secrets[7], "belongs to", secrets[15], metadata={"x": secrets[3]})
        assert memory.search("What is mine?")
        exported = "\n".join(export_records(memory))
        assert not [secret for secret in secrets if json.dumps(secret)[1:-1] in exported]
    stored = database(tmp_path)
    assert not [secret for secret in secrets if secret.encode() in stored]


def test_a_redacted_message_may_be_added_again(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, redact=redact_secrets) as memory:
        for _ in range(2):
            memory.add(said("Write to ada@example.com, I moved to Berlin.", "m1"), "c", now=NOW)
        (message,) = memory.messages("c")
        assert message.text == "Write to [e-mail], I moved to Berlin."
        fact = memory.remember("Call 415-555-2671")
        assert memory.remember("Call 415-555-2672").mention_count == fact.mention_count + 1


def test_nothing_of_a_secret_is_imported(tmp_path: Path) -> None:
    secrets = [one for all_ in SECRETS.values() for one in all_]
    with ContextMemory(tmp_path / "open") as plain:
        for number, secret in enumerate(secrets):
            name = f"Ada {secret}"
            plain.add(said(f"Mine is {secret}", f"m{number}", name=name, metadata={"a": [secret]}), "c")
        plain.remember(f"Ada has {secrets[0]}", metadata={"x": secrets[1]})
        plain.relate(secrets[7], "belongs to", secrets[15])
        plain.blocks.set("persona", f"Writes to {secrets[-1]}")
        plain.remember("Ada rides a tandem")
        exported = list(export_records(plain))
    with ContextMemory(tmp_path / "closed", redact=redact_secrets) as memory:
        report = import_records(memory, exported)
        assert report.added == len(exported) - 1
        assert 0 < report.embedded < report.added  # the vectors of texts that said more are not taken
        assert import_records(memory, exported).unchanged == report.added
        (persona,) = memory.blocks.list()
        assert persona.text == "Writes to [e-mail]"
        written = "\n".join(export_records(memory))
        assert not [secret for secret in secrets if json.dumps(secret)[1:-1] in written]
        tandem = memory.search("Who rides a tandem?").results[0]
        assert tandem.memory == "Ada rides a tandem"
    stored = database(tmp_path / "closed")
    assert not [secret for secret in secrets if secret.encode() in stored]


def test_an_import_whose_redactor_answers_nonsense_writes_nothing(tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "open") as plain:
        plain.remember(f"Ada has {KEY}")
        exported = list(export_records(plain))
    with ContextMemory(tmp_path / "closed", redact=lambda text: "") as memory:
        with pytest.raises(ValueError, match="redact made") as raised:
            import_records(memory, exported)
        assert KEY not in told(raised.value)
        assert memory.list() == []


def test_a_block_that_was_written_from_memories_stays_one_when_it_is_redacted() -> None:
    text = "Write to ada@example.com"
    block = record("b", "block", text, title="user_profile", generated=text_digest(text))
    redacted = redact_memory(redact_secrets, block)
    assert redacted.text == "Write to [e-mail]"
    assert redacted.is_generated
    assert redact_memory(redact_secrets, redacted) is redacted
    assert redact_memory(None, block) is block


def test_blocks_are_redacted(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        blocks = Blocks(memory.opened, memory.embedder, redact_secrets)
        assert blocks.set("persona", "Signs as ada@example.com").text == "Signs as [e-mail]"
        assert [block.text for block in memory.blocks.list()] == ["Signs as [e-mail]"]
    assert b"ada@example.com" not in database(tmp_path)


def test_items_are_redacted(tmp_path: Path) -> None:
    value = {"mail": "ada@example.com", "calls": [{"at": "415-555-2671"}], "count": 3}
    with ContextMemory(tmp_path) as memory:
        pool, embedder = memory._open_pool(), memory.embedder
        items = ItemStore(
            lambda: pool.open_as(ItemCollection, memory.namespace, embedder), embedder, redact=redact_secrets
        )
        items.run([PutItem(("users",), "ada", value, texts=("ada@example.com",))])
        found: Any = items.run([GetItem(("users",), "ada"), FindItems((), query="e-mail")])
        assert found[0].value == {"mail": "[e-mail]", "calls": [{"at": "[phone number]"}], "count": 3}
        assert found[1][0].item.key == "ada"
    stored = database(tmp_path)
    assert b"ada@example.com" not in stored
    assert b"415-555-2671" not in stored


def test_siblings_redact_as_well(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, redact=redact_secrets) as memory, memory.for_namespace("bob") as bob:
        bob.add(said("Write to ada@example.com", "m1"), "c")
        assert bob.messages("c")[0].text == "Write to [e-mail]"


def test_a_redactor_that_is_none_or_answers_nonsense_is_refused_and_shows_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="redact 7 cannot be called"):
        ContextMemory(tmp_path, redact=7)  # type: ignore[arg-type]
    for nonsense in (lambda text: None, lambda text: "", lambda text: 3):
        with ContextMemory(tmp_path, redact=nonsense) as memory:  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="redact made") as raised:
                memory.add(said(f"I use {KEY}", "m1"))
            assert KEY not in told(raised.value)
            assert memory.list() == []


def test_a_chat_memory_does_not_come_back_without_its_redactor(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, redact=redact_secrets) as memory:
        saved = ContextChatMemory.from_defaults(memory=memory).model_dump_json()
    with pytest.raises(StoreError, match="redactor"):
        ContextChatMemory.model_validate_json(saved).get("hello")


@pytest.mark.parametrize(
    "hostile",
    ["a@", "a.", "1 ", "+1", "://a:", "password: ", "eyJ", "(212) 555-", "-----BEGIN PRIVATE KEY-----", "0 "],
)
def test_a_hostile_text_is_redacted_in_no_time(hostile: str) -> None:
    redact_secrets(hostile * (100_000 // len(hostile)))  # a quadratic pattern would take minutes
