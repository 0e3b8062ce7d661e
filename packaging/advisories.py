"""Says which locked packages have a known advisory, offline; and asks the package index for the advisories of each release.

    python packaging/advisories.py check      offline: against packaging/advisories.json, as `make lint` does
    python packaging/advisories.py ask        with a network: writes that file again, as `make lock` does

The index is the one that pip is configured for on this machine, and is written down nowhere. It is asked for
``pypi/NAME/VERSION/json`` beside its ``simple`` pages, where the field ``vulnerabilities`` lists what is known of a
release: id, other names, the versions that fix it, and whether it was withdrawn. An index without such pages leaves the
file as it is, and so does one that cannot be reached; then the words say how old it is.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock", "packaging/requirements-bundle.lock")
DATABASE = ROOT / "packaging" / "advisories.json"
FORM = "rosetta-advisories/1"

OLD_DAYS = 90
"""A database that was asked for longer ago is said to be old."""
MOST_BYTES = 20 * 2**20
"""Of one answer; a package with a thousand files has a few."""
PATIENCE_SECONDS = 30.0
MISSING_IN_A_ROW = 3
"""So many releases without a page tell that the index has none."""

Releases = dict[str, list[dict[str, Any]]]
"""``name==version`` → what is known of the release; empty where nothing is."""

_RELEASE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9][A-Za-z0-9.!+_-]*)")


class NoAdvisories(Exception):  # noqa: N818  said of the index
    """The index tells none; the message says why."""


def locked(root: Path = ROOT) -> list[str]:
    """Return every release that a lock names, ``name==version``, sorted."""
    found = set()
    for lock in LOCKS:
        for line in (root / lock).read_text("utf-8").splitlines():
            if release := _RELEASE.match(line):
                found.add(f"{release[1].lower()}=={release[2]}")
    return sorted(found)


def index() -> str:
    """Return the address of the index that pip is configured for, without the ``simple`` at its end.

    Raises NoAdvisories where pip names none, or one that is no server.
    """
    named = os.environ.get("PIP_INDEX_URL", "") or _pip("config", "get", "global.index-url")
    if not named:
        told = re.search(r"--index-url.*?\(default\s+(\S+?)\)", _pip("install", "--help"), re.DOTALL)
        named = told[1] if told else ""
    if not re.match(r"https?://", named):
        raise NoAdvisories("pip is configured for no index on a server")
    return re.sub(r"/simple/?$", "", named.strip())


def _pip(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *words],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else ""


def ask(releases: Iterable[str], where: str) -> Releases:
    """Ask the index for what is known of each release; raises NoAdvisories where it does not tell that."""
    found: Releases = {}
    missing = 0
    for release in releases:
        name, _, version = release.partition("==")
        answer = _answer(f"{where}/pypi/{name}/{version}/json")
        if answer is None:
            missing += 1
            if missing == MISSING_IN_A_ROW and not found:
                raise NoAdvisories("the index of this machine has no pages of advisories")
            continue
        found[release] = advisories_in(answer, release)
    return found


def _answer(address: str) -> Any:
    """Return the JSON at an address; None where there is no page. Raises NoAdvisories in words for anything else."""
    asked = urllib.request.Request(address, headers={"Accept": "application/json"})  # noqa: S310  http or https: index()
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as told:  # noqa: S310  as above
            data = told.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        if error.code in {404, 410}:
            return None
        raise NoAdvisories(f"the index answers with {error.code}") from None
    except OSError as error:
        raise NoAdvisories(f"the index cannot be reached ({type(error).__name__})") from None
    try:
        return json.loads(data)
    except ValueError:
        raise NoAdvisories("what the index answers is no JSON") from None


def advisories_in(answer: Any, release: str) -> list[dict[str, Any]]:
    """Return what a page says of a release, in the form of our file; raises NoAdvisories where it says nothing of the kind."""
    listed = answer.get("vulnerabilities") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise NoAdvisories(f"its page of {release} has no field 'vulnerabilities'")
    found = [
        {
            "id": str(each["id"]),
            "aliases": sorted(map(str, each.get("aliases") or [])),
            "mended_in": list(map(str, each.get("fixed_in") or [])),
        }
        for each in listed
        if isinstance(each, dict) and each.get("id") and not each.get("withdrawn")
    ]
    return sorted(found, key=lambda each: each["id"])


def write(releases: Releases, path: Path, today: date) -> None:
    """Write the database; whole or not at all."""
    told = {"form": FORM, "asked": today.isoformat(), "releases": dict(sorted(releases.items()))}
    text = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    handle, beside = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(beside).chmod(0o644)
    Path(beside).replace(path)


def read(path: Path) -> tuple[date | None, Releases]:
    """Return when the database was asked for, None where it never was, and what it says."""
    try:
        told = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None, {}
    if told.get("form") != FORM:
        raise SystemExit(f"{path} is of another form than {FORM}. Write it again: make lock.")
    return (date.fromisoformat(told["asked"]) if told["asked"] else None), told["releases"]


def known(releases: Sequence[str], database: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return a line for each advisory of a locked release: package, id, other names, and the version that fixes it."""
    return [
        f"{release}: {each['id']}{''.join(f', {alias}' for alias in each['aliases'])}: "
        + (f"mended in {' or '.join(each['mended_in'])}" if each["mended_in"] else "no version fixes it yet")
        for release in releases
        for each in database.get(release, ())
    ]


def state(releases: Sequence[str], asked: date | None, database: Releases, today: date) -> list[str]:
    """Return what somebody has to know of the database itself: that it is old, or knows less than the locks."""
    unknown = [each for each in releases if each not in database]
    if asked is None:
        never = f"Advisories: nobody has asked for those of the {len(releases)} locked releases yet."
        return [f"{never} 'make lock' asks the index that pip is configured for, where it tells them."]
    days = (today - asked).days
    lines = [f"Advisories as of {asked}, for {len(releases) - len(unknown)} of {len(releases)} locked releases."]
    if days > OLD_DAYS:
        lines.append(f"They are {days} days old, so newer ones are missing. Ask again: make lock.")
    if unknown:
        lines.append(f"Never asked for: {', '.join(unknown[:5])}{' …' if len(unknown) > 5 else ''}. Ask: make lock.")
    return lines


def check(root: Path = ROOT, database: Path = DATABASE, today: date | None = None) -> int:
    """Print what is known; returns 1 where a locked release has an advisory."""
    asked, told = read(database)
    releases = locked(root)
    for line in state(releases, asked, told, today or datetime.now(UTC).date()):
        print(line)
    found = known(releases, told)
    for line in found:
        print(line, file=sys.stderr)
    if found:
        print("Raise these versions in pyproject.toml or the locks (make lock).", file=sys.stderr)
    return 1 if found else 0


def renew(root: Path = ROOT, database: Path = DATABASE) -> int:
    """Ask the index and write the database again; where it tells nothing the file stays, and the words say why."""
    releases = locked(root)
    try:
        told = ask(releases, index())
    except NoAdvisories as why:
        print(f"No advisories were asked for: {why}. {database.name} stays as it is.", file=sys.stderr)
        return 0
    write(told, database, datetime.now(UTC).date())
    return check(root, database)


if __name__ == "__main__":
    acts = {"ask": renew, "check": check}
    if len(sys.argv) != 2 or sys.argv[1] not in acts:
        raise SystemExit(__doc__)
    raise SystemExit(acts[sys.argv[1]]())
