"""Whether the program's files are those that were installed; others may bring packages of the same names.

Nothing of ours is imported here before it is needed: the files that answer may be the ones that were replaced.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rosetta_tui.front import PACKAGES

if TYPE_CHECKING:
    from harness.doctor.finding import Finding

DISTRIBUTION = "rosetta-tui"
_FOLDER = Path(__file__).resolve().parents[1]
_RECORD = "rosetta_tui-*.dist-info/RECORD"
_NAMED = 3  # files that are named one by one; the rest is counted


class ChangedFile(NamedTuple):
    """A file of ours that is not as it was installed."""

    path: str  # below the folder of all packages, with slashes
    owner: str = ""  # name and version of the package that claims the file, or empty
    gone: bool = False


def changed_files() -> list[ChangedFile] | None:
    """Return the files whose SHA-256 differs from the wheel's RECORD; None where the program runs from its sources."""
    record = next(_FOLDER.glob(_RECORD), None)
    if record is None:
        return None
    # path → SHA-256 in URL-safe base64 of our files, also of missing ones
    rows = (row.rsplit(",", 2) for row in record.read_text("utf-8").splitlines())
    recorded = {
        path: digest.removeprefix("sha256=").rstrip("=")
        for path, digest, _ in (row for row in rows if len(row) == 3)
        if digest.startswith("sha256=") and path.partition("/")[0] in PACKAGES
    }
    if not recorded:
        return None
    changed: dict[str, bool] = {}  # path → whether the file is gone
    for path, sha in recorded.items():
        try:
            content = (_FOLDER / path).read_bytes()
        except OSError:
            changed[path] = True
            continue
        if base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode() != sha:
            changed[path] = False
    owners = _owners(set(changed)) if changed else {}
    return [ChangedFile(path, owners.get(path, ""), gone=gone) for path, gone in changed.items()]


def _owners(paths: set[str]) -> dict[str, str]:
    """Return path → the other package in the folder that lists it among its files."""
    from importlib.metadata import distributions

    owners = {}
    for other in distributions(path=[str(_FOLDER)]):
        if other.metadata["Name"] == DISTRIBUTION:
            continue
        for file in other.files or ():
            if file.as_posix() in paths:
                owners[file.as_posix()] = f"{other.metadata['Name']} {other.version}"
    return owners


def changed_words(changed: Sequence[ChangedFile]) -> str:
    """Return which files are not ours any more, and who brought the others."""
    named = ", ".join(changed_file.path for changed_file in changed[:_NAMED])
    more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    others = sorted({changed_file.owner for changed_file in changed if changed_file.owner})
    if others:
        brought = " and ".join(others)
        return f"another package ({brought}) has written over files of Rosetta: {named}{more}"
    how = "are gone" if all(file.gone for file in changed) else "are not as they were installed"
    return f"files of Rosetta {how}: {named}{more}"


def mend_lines() -> tuple[str, ...]:
    """Return the lines that make an environment with Rosetta alone, from where it was installed from (direct_url.json)."""
    info = next(_FOLDER.glob(_RECORD)).parent
    try:
        url = json.loads((info / "direct_url.json").read_text("utf-8")).get("url")
    except (OSError, ValueError):
        url = None
    source = url or f"{info.stem}-py3-none-any.whl"
    folder = "rosetta-alone"
    python = f"{folder}\\Scripts\\python" if sys.platform == "win32" else f"{folder}/bin/python"
    return (f"python -m venv {folder}", f'{python} -m pip install "{source}"')


def own_files() -> Iterator[Finding]:
    """Yield for the doctor whether our files are those that were installed."""
    from harness.doctor.finding import Finding, Health

    changed = changed_files()
    if changed is None:
        return
    if not changed:
        words = "as they were installed, by their recorded hashes"
        yield Finding("Program", "files", Health.OK, words)
        return
    words = f"{changed_words(changed)}. Put Rosetta into its own environment:"
    yield Finding("Program", "files", Health.BROKEN, words, mend_lines())


def start_words() -> str:
    """Return what to say where the program broke and its files are not its own; empty where they are."""
    changed = changed_files()
    if not changed:
        return ""
    mend = (f"  {mend_line}" for mend_line in mend_lines())
    words = f"error: {changed_words(changed)}. Put Rosetta into its own environment:"
    return "\n".join([words, *mend])


def scattered_words() -> str:
    """Return what to say where our packages come from several folders; empty where all come from one."""
    places: dict[str, str] = {}
    for name in PACKAGES:
        spec = find_spec(name)
        home = next(iter(spec.submodule_search_locations or ()), "") if spec is not None else ""
        places[name] = str(Path(home).parent) if home else "nowhere"
    if len(set(places.values())) == 1:
        return ""
    where = "; ".join(f"{name}: {place}" for name, place in places.items())
    return (
        "Packages of Rosetta come from different places: another program brought one of the same name "
        f"({where}). Put Rosetta into its own environment."
    )
