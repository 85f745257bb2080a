"""Colours of kinds, stages and blocks: mid tones that stand out on white and on near-black alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shared_core.context.assembly import TITLES
from shared_core.context.rendering import BlockName
from shared_core.decay import Stage
from shared_core.records import Kind, Tier

__all__ = [
    "BLOCK_COLOURS",
    "KIND_COLOURS",
    "KIND_NAMES",
    "MUTED",
    "SERIES",
    "STAGE_COLOURS",
    "TEXT",
    "TIER_COLOURS",
]

#: Of labels: contrast 4.3 to white and 4.4 to #111.
TEXT = "#7a7a7a"
#: Of lines and of what stands back, as a grey that lets the background through.
MUTED = "#9a9a9a"

KIND_COLOURS: Mapping[Kind, str] = {
    "message": "#8f99a3",
    "fact": "#3f83c9",
    "bubble": "#df8434",
    "triplet": "#2f9e73",
    "summary": "#a46bc4",
    "block": "#bf9b1f",
}
KIND_NAMES: Mapping[Kind, str] = {
    "message": "messages",
    "fact": "facts",
    "bubble": "bubbles",
    "triplet": "triplets",
    "summary": "summaries",
    "block": "core blocks",
}
STAGE_COLOURS: Mapping[Stage, str] = {
    "active": "#df8434",
    "warm": "#bf9b1f",
    "cold": "#3f83c9",
    "archived": "#8f99a3",
}
TIER_COLOURS: Mapping[Tier, str] = {"stm": "#df8434", "mtm": "#bf9b1f", "ltm": "#3f83c9"}
#: By title, as a ``ContextBlock`` has it.
_BLOCKS: Mapping[BlockName, str] = {
    "core": "#bf9b1f",
    "working": "#d4587a",
    "summaries": "#a46bc4",
    "facts": "#3f83c9",
    "episodes": "#df8434",
    "recent": "#8f99a3",
}
#: By title, as a ``ContextBlock`` has it.
BLOCK_COLOURS: Mapping[str, str] = {TITLES[name]: colour for name, colour in _BLOCKS.items()}
#: For what has no colour of its own.
SERIES: Sequence[str] = ("#3f83c9", "#df8434", "#2f9e73", "#a46bc4", "#d4587a", "#bf9b1f", "#8f99a3")
