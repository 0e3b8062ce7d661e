"""The draft of a new run between two visits of its form: kept in the data folder until the run starts.

It holds what was typed, and of corpora and other files only their names.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from harness.core.written_files import write_file
from harness.store.file.database import private_folder
from rosetta_tui.request.draft import RunDraft, Value

NAME = "new-run.json"

MOST_BYTES = 2**20
"""A draft that is longer is none; nobody types so much."""


def keep_draft(folder: Path, draft: RunDraft) -> None:
    """Write the draft down, all of it or none; raises HarnessError where the folder cannot be written."""
    values = {name: _without_keys(value) for name, value in draft.values.items()}
    content = json.dumps({"values": values}).encode()
    write_file(private_folder(folder) / NAME, content, overwrite=True)


def _without_keys(value: Value) -> Value:
    """Leave out settings of the form NAME=VALUE that look like keys: they are written nowhere."""
    from harness.method.options import keys_in

    if isinstance(value, str):
        return value
    return tuple(
        each for each in value if not any(keys_in({each.partition("=")[0]: each.partition("=")[2]}))
    )


def kept_draft(folder: Path) -> RunDraft | None:
    """Read the draft; None where there is none, or a damaged one, which is worth no message."""
    try:
        with (folder / NAME).open("rb") as file:
            stated = json.loads(file.read(MOST_BYTES + 1)[:MOST_BYTES])
    except (OSError, ValueError, RecursionError):
        return None
    values = stated.get("values") if isinstance(stated, dict) else None
    if not isinstance(values, dict):
        return None
    read = {name: _value(value) for name, value in values.items()}
    draft = RunDraft.of({name: value for name, value in read.items() if value is not None})
    return draft if draft.values else None


def _value(stated: object) -> Value | None:
    if isinstance(stated, str):
        return stated
    if isinstance(stated, list) and all(isinstance(each, str) for each in stated):
        return tuple(stated)
    return None


def forget_draft(folder: Path) -> None:
    """Throw the draft away, where there is one."""
    with suppress(OSError):
        (folder / NAME).unlink()
