"""Stages of a build that are done: a retry continues where the last one broke off, as long as nothing that went in changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

_SKIPPED = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache"})


class Stages:
    """What was made in a folder, by the hash of what it was made from."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "stages.json"

    def is_done(self, stage: str, inputs: str, *made: Path) -> bool:
        """Tell whether a stage was finished from these inputs, and what it made is still there."""
        return self._done().get(stage) == inputs and all(path.exists() for path in made)

    def note(self, stage: str, inputs: str) -> None:
        """Note that a stage is finished; what is written before this is all there."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(f".{self._path.name}.part")
        beside.write_text(json.dumps(self._done() | {stage: inputs}, indent=1))
        beside.replace(self._path)

    def _done(self) -> dict[str, str]:
        try:
            read = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):  # none yet, or broken off while it was written: all is made anew
            return {}
        return read if isinstance(read, dict) else {}


def hash_of(paths: Iterable[Path], *more: object) -> str:
    """Return the SHA-256 of files, all those in folders included, by their paths and contents, and of some words."""
    digest = hashlib.sha256()
    for words in more:
        digest.update(f"{words}\0".encode())
    for top in paths:
        inside = sorted(top.rglob("*")) if top.is_dir() else [top]
        for path in inside:
            if not _SKIPPED.isdisjoint(path.parts):
                continue
            if path.is_symlink():
                digest.update(f"{path.relative_to(top)} -> {path.readlink()}\0".encode())
            elif path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(top)} {content}\0".encode())
    return digest.hexdigest()
