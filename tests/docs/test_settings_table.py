"""The table of settings tells of each setting, and of its default as it is."""

from __future__ import annotations

import re

from shared_core import Settings
from shared_core.context.assembly import DEFAULT_SHARES
from shared_core.scoring import BalancedPolicy
from tests.docs.pages import DOCS

TEXT = (DOCS / "settings.md").read_text(encoding="utf-8")
ROWS = {
    name: [cell.strip() for cell in cells.split("|")]
    for name, cells in re.findall(r"^\| `(\w+)` \|(.+)\|$", TEXT, re.MULTILINE)
}


def written(default: object) -> str:
    """A default as the table writes it."""
    if default is None or isinstance(default, bool):
        return {None: "none", True: "on", False: "off"}[default]
    return f"{default:,g}" if isinstance(default, (int, float)) else f"`{default}`"


def test_each_setting_has_a_row_and_each_row_a_setting() -> None:
    assert list(ROWS) == list(Settings.model_fields)


def test_each_row_has_the_default_a_unit_and_a_source() -> None:
    for name, field in Settings.model_fields.items():
        default, unit, source, purpose = ROWS[name]
        assert default == written(field.default), name
        assert unit, name
        assert source, name
        assert purpose, name


def test_what_is_set_elsewhere_is_told_as_it_is() -> None:
    for block, share in DEFAULT_SHARES.items():
        assert f"{block} {share:,}" in TEXT
    policy = BalancedPolicy()
    for name in ("half_life_days", "recency_bound", "importance_bound", "frequency_bound"):
        assert f"{name}={getattr(policy, name):g}" in TEXT
