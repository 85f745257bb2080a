"""What an audit comes to."""

from __future__ import annotations

from typing import Any

from tests.supply.audit import FOUND, NOT_AUDITED, verdict

FINE: dict[str, Any] = {"name": "rich", "version": "15.0.0", "vulns": []}
BAD: dict[str, Any] = {
    "name": "old",
    "version": "1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": [], "description": "…"}],
}
UNKNOWN: dict[str, Any] = {"name": "typer", "skip_reason": "not found"}


def test_an_audit_of_everything_without_a_find_passes() -> None:
    assert verdict({"dependencies": [FINE]}) == (0, ["1 packages audited"])


def test_an_audit_that_knows_nothing_does_not_pass() -> None:
    code, lines = verdict({"dependencies": [UNKNOWN] * 7})
    assert code == NOT_AUDITED
    assert "7 of 7 packages were not audited" in lines[0]
    assert verdict(None)[0] == NOT_AUDITED


def test_a_vulnerability_outweighs_what_is_not_known() -> None:
    code, lines = verdict({"dependencies": [FINE, BAD, UNKNOWN]})
    assert code == FOUND
    assert lines[0] == "old 1.0: PYSEC-1, fixed in 1.1"
