"""Look for known vulnerabilities in what is installed here: ``python -m tests.supply.audit``.

``pip-audit`` alone ends with success where it knows nothing: a package that its index does not tell it about
counts as passed over. Here that is a failure of its own, with another exit code than a vulnerability.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["FOUND", "NOT_AUDITED", "verdict"]

#: Exit codes: a vulnerability is known; or something could not be looked up.
FOUND, NOT_AUDITED = 1, 2
#: Longest that the database may take to answer for all packages.
SECONDS = 600
#: So many of the packages that could not be looked up are named.
NAMED = 5


def verdict(report: Mapping[str, Any] | None) -> tuple[int, list[str]]:
    """The exit code for a report of ``pip-audit``, and what to print.

    Args:
        report: What ``--format json`` printed; None if it printed none.
    """
    if report is None:
        return NOT_AUDITED, ["nothing was audited: the database of vulnerabilities did not answer"]
    packages = report["dependencies"]
    passed_over = [one["name"] for one in packages if "skip_reason" in one]
    lines, code = [], 0
    for one in packages:
        for known in one.get("vulns", ()):
            code = FOUND
            fixed = ", ".join(known.get("fix_versions", ())) or "no release"
            lines.append(f"{one['name']} {one['version']}: {known['id']}, fixed in {fixed}")
    if passed_over:
        code = code or NOT_AUDITED
        named = ", ".join(passed_over[:NAMED]) + (", …" if len(passed_over) > NAMED else "")
        lines.append(
            f"{len(passed_over)} of {len(packages)} packages were not audited ({named}): "
            "run this where the public package index can be reached"
        )
    return code, [*lines, f"{len(packages) - len(passed_over)} packages audited"]


def audited() -> Mapping[str, Any] | None:
    """What ``pip-audit`` says of everything installed here but ourselves."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    frozen = subprocess.run(
        [*pip, "freeze", "--exclude-editable"], check=True, capture_output=True, text=True
    )
    pinned = [line for line in frozen.stdout.splitlines() if "==" in line]
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "installed.txt"
        requirements.write_text("\n".join(pinned), encoding="utf-8")
        options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
        command = [sys.executable, "-m", "pip_audit", *options, "--requirement", str(requirements)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    try:
        report: Mapping[str, Any] = json.loads(done.stdout)
    except ValueError:
        print(done.stderr.strip()[-500:], file=sys.stderr)
        return None
    return report


def main() -> int:
    """Print the verdict; 0 if every package was looked up and none has a known vulnerability."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"]
    fit = subprocess.run(pip).returncode  # needs no network: whether what is installed goes together
    code, lines = verdict(audited())
    print("\n".join(lines))
    return code or fit


if __name__ == "__main__":
    sys.exit(main())
