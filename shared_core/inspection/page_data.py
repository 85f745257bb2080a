"""What the page shows, in values of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shared_core.context.assembly import Context, build_context
from shared_core.inspection.drawing import Canvas, Label, drawn
from shared_core.inspection.network import Network, linked_memories, things, united
from shared_core.inspection.palette import BLOCK_COLOURS, KIND_COLOURS, KIND_NAMES, MUTED, SERIES
from shared_core.inspection.snapshot import Snapshot
from shared_core.records import Memory
from shared_core.tokens import counter_for

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

__all__ = ["page_data"]

#: Of a question, what is searched for and shown, in characters.
QUERY_CHARACTERS = 2_000
#: Where links are drawn, in units of the page's picture, whose letters are 11 high.
CANVAS = Canvas(width=1_100.0, least=220.0, most=1_100.0, letter=6.2, line=14.0)


def page_data(
    memory: ContextMemory,
    *,
    query: str | None,
    token_budget: int,
    limit: int,
    now: datetime | None,
) -> dict[str, Any]:
    """The newest ``limit`` records of ``memory``, its links, and a context, in values of JSON."""
    snapshot = Snapshot.of(memory, now=now)
    newest = snapshot.records[::-1][:limit]
    shown = {record.id for record in newest}
    network = united(
        things(memory.graph(now=snapshot.now)),
        linked_memories([record for record in snapshot.records if record.id in shown]),
    )
    return {
        "namespace": snapshot.namespace,
        "now": f"{snapshot.now.isoformat(' ', 'minutes')[:16]} UTC",
        "total": len(snapshot.records),
        "records": [_record(record, snapshot.now) for record in newest],
        "network": _network(network),
        "context": _sample(memory, snapshot, query, token_budget),
        "colours": {**KIND_COLOURS, "thing": SERIES[0]},
        "names": dict(KIND_NAMES),
    }


def _record(record: Memory, now: datetime) -> dict[str, Any]:
    states = {
        "superseded": not record.is_current,
        "archived": not record.is_active,
        "pending": record.pending,
        "pinned": record.pinned,
    }
    return {
        "id": record.id,
        "kind": record.kind,
        "text": record.text,
        "at": record.dated.isoformat(" ", "minutes")[:16],
        "time": record.dated.timestamp(),
        "category": record.category or record.title,
        "speaker": record.speaker or record.role,
        "conversation": record.conversation_id,
        "state": next((state for state, holds in states.items() if holds), None),
        "stage": record.stage(now),
        "mentions": record.mention_count,
        "sources": list(record.source_ids) if record.kind != "message" else [],
        "links": len(record.connections),
    }


def _network(network: Network) -> dict[str, Any]:
    drawing = drawn(network, CANVAS)
    numbers = {node.id: number for number, node in enumerate(network.nodes)}
    return {
        "width": drawing.width,
        "height": round(drawing.height),
        "nodes": [
            {
                "label": node.label,
                "kind": node.kind,
                "ids": list(node.memory_ids),
                "x": round(drawing.places[node.id][0], 1),
                "y": round(drawing.places[node.id][1], 1),
                "radius": drawing.radii[node.id],
                "written": _written(drawing.labels.get(node.id)),
            }
            for node in network.nodes
        ],
        "edges": [
            {
                "a": numbers[edge.source],
                "b": numbers[edge.target],
                "label": edge.label,
                "weight": edge.weight,
                "written": _written(label) if edge.label else None,
            }
            for edge, label in zip(network.edges, drawing.edge_labels, strict=True)
        ],
        "left_out": network.left_out,
    }


def _written(label: Label | None) -> Mapping[str, Any] | None:
    return {"text": label.text, "x": round(label.x, 1), "y": round(label.y, 1)} if label else None


def _sample(
    memory: ContextMemory, snapshot: Snapshot, query: str | None, token_budget: int
) -> Mapping[str, Any]:
    """A context for ``query``, or for what a user said last; looking does not count as reading."""
    said = snapshot.of_kind("message")
    newest = next((message for message in reversed(said) if message.role == "user"), None)
    asked = query or (newest.text if newest else None)
    asked = asked[:QUERY_CHARACTERS] if asked else None
    conversation = said[-1].conversation_id if said else None
    sources = memory._context_sources(asked, conversation, frozenset(), snapshot.now)
    context = build_context(sources, token_budget=token_budget, counter=counter_for(memory.settings.model))
    return {
        "query": asked,
        "budget": token_budget,
        "tokens": context.tokens,
        "blocks": _blocks(context),
    }


def _blocks(context: Context) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "title": block.title,
            "tokens": block.tokens,
            "text": block.text,
            "colour": BLOCK_COLOURS.get(block.title, MUTED),
        }
        for block in context.blocks
    ]
