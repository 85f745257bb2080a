from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp import Client, MCPError

from shared_core import ContextMemory
from shared_core.errors import StoreLockedError
from tests.shared_core.mcp_server.serving import COMMAND, TIMEOUT_SECONDS, at_stdio, refusal, value

TOOLS = {
    "remember", "update", "forget", "add_messages",
    "search", "list", "context", "history",
    "connect", "related", "path",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the memories of Alice and of Bob."""
    with ContextMemory(tmp_path / "memory", "alice") as alice, alice.for_namespace("bob") as bob:
        alice.blocks.set("user profile", "Alice grows figs.")
        alice.add([{"role": "user", "content": "I planted a fig tree in Berlin.", "id": "m1"}], "garden")
        bob.remember("User's safe opens with 4711.", category="possession")
        bob.blocks.set("secrets", "Bob hides gold.")
        bob.relate("Bob", "hides", "Gold")
    return tmp_path / "memory"


async def test_an_assistant_finds_described_and_bounded_tools(folder: Path) -> None:
    async with at_stdio(folder, "alice") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS
        for tool in tools.values():
            assert tool.description
            assert tool.input_schema["additionalProperties"] is False
            assert "namespace" not in json.dumps(tool.input_schema)
            assert all(
                "description" in one or any("description" in way for way in one.get("anyOf", ()))
                for one in tool.input_schema["properties"].values()
            ), tool.name
            assert tool.output_schema
            assert tool.annotations is not None
        assert tools["search"].annotations is not None
        assert tools["search"].annotations.read_only_hint
        assert client.server_info is not None
        assert client.server_info.name == "contextmemory"


async def test_a_server_that_redacts_stores_no_secret_that_an_assistant_gives(folder: Path) -> None:
    key = "sk-0123456789abcdef0123"
    said = [{"role": "user", "content": f"My key is {key}."}]
    async with at_stdio(folder, "alice", "--redact") as client:
        fact = await value(client, "remember", text=f"User's key is {key}", category="possession")
        assert fact["text"] == "User's key is [key]"
        await value(client, "add_messages", messages=said)
        await value(client, "update", memory_id=fact["id"], text=f"User's keys are {key} and {key}")
        await value(client, "connect", subject="Alice", predicate="has", object=key)
        listed = await value(client, "list", limit=50)
    assert key not in json.dumps(listed)
    with ContextMemory(folder, "alice") as memory:
        assert [one.text for one in memory.list(contains="sk-", include_superseded=True)] == []
        assert memory.list(contains="[key]", kind="message")


async def test_what_is_remembered_is_found_listed_corrected_and_forgotten(folder: Path) -> None:
    async with at_stdio(folder, "alice") as client:
        fact = await value(client, "remember", text="User is allergic to peanuts.", category="health")
        again = await value(client, "remember", text="User is allergic to peanuts.", category="health")
        assert (again["id"], again["mention_count"]) == (fact["id"], 2)
        found = await value(client, "search", query="Which allergies?", type="fact", limit=1)
        assert [hit["id"] for hit in found["results"]] == [fact["id"]]
        changed = await value(client, "update", memory_id=fact["id"], text="User is allergic to walnuts.")
        versions = (await value(client, "history", memory_id=changed["id"]))["versions"]
        assert [one["text"] for one in versions] == [
            "User is allergic to peanuts.",
            "User is allergic to walnuts.",
        ]
        assert (await value(client, "forget", memory_id=changed["id"]))["forgotten"]
        assert not (await value(client, "forget", memory_id=changed["id"]))["forgotten"]
        assert "there is no memory" in await refusal(client, "history", memory_id=changed["id"])


async def test_a_conversation_is_learnt_from_listed_by_pages_and_fits_its_budget(folder: Path) -> None:
    said = [
        {"role": "user", "content": f"I work at Acme and my {n}. colleague is called Cy{n}.", "id": f"w{n}"}
        for n in range(7)
    ]
    async with at_stdio(folder, "alice") as client:
        added = await value(client, "add_messages", messages=said, conversation_id="work")
        assert added["messages"] == 7
        assert added["learnt"]
        assert (await value(client, "add_messages", messages=said, conversation_id="work"))["known"] == 7
        texts, offset = [], 0
        while True:
            page = await value(client, "list", type="message", conversation_id="work", limit=3, offset=offset)
            texts += [one["text"] for one in page["memories"]]
            if "next_offset" not in page:
                break
            offset = page["next_offset"]
        assert texts == [one["content"] for one in reversed(said)]
        whole = await value(client, "context", query="Where does she work?", token_budget=200)
        assert 0 < whole["tokens"] <= 200
        assert "Acme" in whole["text"]


async def test_things_are_connected_and_the_way_between_them_is_found(folder: Path) -> None:
    async with at_stdio(folder, "alice") as client:
        await value(client, "connect", subject="Alex", predicate="works on", object="WebMCP")
        await value(client, "connect", subject="WebMCP", predicate="uses", object="React")
        near = await value(client, "related", name="webmcp", hops=1)
        assert {thing["name"] for thing in near["things"]} == {"WebMCP", "Alex", "React"}
        cut = await value(client, "related", name="webmcp", hops=1, limit=1)
        assert (len(cut["things"]), cut["relations"], cut["left_out"]) == (1, [], 2)
        way = await value(client, "path", start="Alex", end="React")
        assert [(one["subject"], one["predicate"], one["object"]) for one in way["relations"]] == [
            ("Alex", "works_on", "WebMCP"),
            ("WebMCP", "uses", "React"),
        ]
        assert "did you mean 'React'" in await refusal(client, "related", name="Reakt")


@pytest.mark.slow
async def test_core_blocks_are_resources(folder: Path) -> None:
    async with at_stdio(folder, "alice") as client:
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        assert listed == ["memory://blocks", "memory://blocks/user%20profile"]
        read = (await client.read_resource(listed[1])).contents[0]
        assert read.uri == listed[1]
        assert getattr(read, "text", None) == "Alice grows figs."
        everything = (await client.read_resource(listed[0])).contents[0]
        assert json.loads(getattr(everything, "text", "")) == [
            {"name": "user profile", "text": "Alice grows figs.", "uri": listed[1]}
        ]
        for hostile in ("memory://blocks/nobody", "memory://blocks/..%2F..%2Fetc", "memory://summaries/x"):
            with pytest.raises(MCPError):
                await client.read_resource(hostile)


async def test_no_argument_leads_to_another_namespace(folder: Path) -> None:
    with ContextMemory(folder, "bob") as bob:
        secret = bob.list(kind="fact")[0]
    async with at_stdio(folder, "alice") as client:
        assert "namespace" in await refusal(client, "search", query="safe", namespace="bob")
        assert "namespace" in await refusal(client, "remember", text="x is y.", namespace="bob")
        shown = json.dumps(
            [
                await value(client, "search", query="With what does the safe open?", limit=50),
                await value(client, "list", limit=200, include_archived=True, include_superseded=True),
                await value(client, "context", query="Where is Bob's gold, and the code of the safe?"),
            ]
        )
        assert "4711" not in shown
        assert "Gold" not in await refusal(client, "related", name="Bob")
        assert not (await value(client, "forget", memory_id=secret.id))["forgotten"]
        assert await refusal(client, "update", memory_id=secret.id, text="User's safe is open.")
        assert await refusal(client, "history", memory_id=secret.id)
        with pytest.raises(MCPError):
            await client.read_resource("memory://blocks/secrets")
    with ContextMemory(folder, "bob") as bob:
        assert bob.get(secret.id) == secret


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
async def test_wrong_input_is_told_in_words_and_the_server_goes_on(folder: Path, mode: str) -> None:
    client = at_stdio(folder, "alice")
    async with Client(client.server, mode=mode, read_timeout_seconds=TIMEOUT_SECONDS) as client:
        for tool, arguments, told in (
            ("search", {"query": ""}, "query"),
            ("search", {"query": "  "}, "is empty"),
            ("search", {"query": "x", "limit": 100_000}, "less than or equal to 50"),
            ("search", {"query": ["a"]}, "query"),
            ("search", {}, "query: Field required"),
            ("search", {"query": "x", "since": "the day before"}, "since"),
            ("search", {"query": "x", "type": "secret"}, "type"),
            ("list", {"offset": -1}, "offset"),
            ("list", {"offset": 10**30}, "offset"),
            ("context", {"token_budget": 0}, "token_budget"),
            ("remember", {"text": "x" * 2_000_000}, "at most 10000 characters"),
            ("remember", {"text": "It is.", "importance": 7}, "importance"),
            ("update", {"memory_id": "none", "text": "It is."}, "none"),
            ("add_messages", {"messages": [{"role": "pirate", "content": "Arr"}]}, "messages.0.role"),
            ("add_messages", {"messages": []}, "messages"),
            ("add_messages", {"messages": [{"role": "user", "content": "x", "timestamp": "soon"}]}, "soon"),
            ("connect", {"subject": " ", "predicate": "is", "object": "y"}, "subject"),
            ("path", {"start": "nobody", "end": "nothing"}, "no entity"),
            ("frobnicate", {}, "frobnicate"),
        ):
            try:
                answer = await refusal(client, tool, **arguments)
            except MCPError as error:  # protocol errors, such as for an unknown tool
                answer = str(error)
            assert told in answer
            assert len(answer) < 1_000
            assert "Traceback" not in answer
            assert "pydantic" not in answer
        assert (await value(client, "search", query="fig tree"))["results"]


@pytest.mark.slow
def test_standard_output_carries_the_protocol_only_whatever_comes_in(folder: Path) -> None:
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
        },
    }  # fmt: skip
    call = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"remember","arguments":%s}}'
    lines = [
        json.dumps(hello),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "this is no JSON",
        "[" * 50_000,
        call % (2, '{"text": "A lone \\ud800 surrogate."}'),
        call % (3, '{"text": "A null \\u0000 and an escape \\u001b[31m."}'),
        call % (4, '{"text": 17}'),
        call % (5, json.dumps({"text": "User likes tea."})),
    ]
    process = subprocess.Popen(
        [*COMMAND, "mcp", str(folder), "-n", "alice"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(("\n".join(lines) + "\n").encode())
    process.stdin.flush()
    answers = {}
    while 5 not in answers:
        answer = json.loads(process.stdout.readline())
        answers[answer.get("id")] = answer
    rest, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert process.returncode == 0
    assert answers[5]["result"]["structuredContent"]["text"] == "User likes tea."


CLIENT = """
import asyncio, sys
from pathlib import Path
from tests.shared_core.mcp_server.serving import at_stdio, value

async def main():
    async with at_stdio(Path(sys.argv[1]), "alice") as client:
        await value(client, "remember", text="User has a dog.")
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_client_that_is_killed_leaves_no_server_behind(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(StoreLockedError):
        ContextMemory(folder, "alice")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            with ContextMemory(folder, "alice") as memory:
                assert memory.list(contains="has a dog")
            return
        except StoreLockedError:
            assert time.monotonic() < deadline, "the server still holds the folder"
            time.sleep(0.1)
