"""Methods in boxes for tests: written into a folder, asked, and ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.box.boxed import BoxedMethod, boxed_method
from harness.box.code import BoxedCode
from harness.box.engines import engines
from harness.box.gateway import Gateway
from harness.box.limits import Limits
from harness.method.method import MethodClass, Output, Setup

LACKING = [engine.lacking() for engine in engines()]
needs_engine = pytest.mark.skipif(
    None not in LACKING, reason="; ".join(filter(None, LACKING)) or "there is an engine"
)

SMALL = Limits(
    memory_bytes=512 << 20,
    processes=24,
    disk_bytes=8 << 20,
    install_seconds=60,
    load_seconds=60,
    entry_seconds=20,
    answer_characters=2000,
)
"""Limits that a test reaches soon; the times are what a busy machine needs, and end nothing that works."""


def setup(batch_size: int = 1) -> Setup:
    return Setup(
        method="boxed",
        method_class=MethodClass.CUSTOM_PLUGIN,
        method_version="1",
        method_sha256="0" * 64,
        model_slug="boxed",
        condition="test",
        batch_size=batch_size,
    )


def written(folder: Path, code: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "method.py").write_text(code, encoding="utf-8")
    return folder


def boxed(
    folder: Path,
    code: str,
    limits: Limits = SMALL,
    gateway: Gateway | None = None,
    entry: str = "method:translate",
    **more: Any,
) -> BoxedMethod:
    """Return a method whose module is ``code`` and whose entry point is ``translate``."""
    [engine] = [each for each, missing in zip(engines(), LACKING, strict=True) if missing is None][
        :1
    ]
    kept = BoxedCode(written(folder, code), entry, **more)
    return boxed_method(kept, limits, engine, gateway, setup(), open_data=True)


def asked(method: BoxedMethod, *batches: Sequence[str], calls: Any = None) -> list[list[Output]]:
    """Return what a method gives for batches of texts, one after the other, and end it."""

    async def ask() -> list[list[Output]]:
        try:
            return [
                list(await method.translate([entry(text) for text in batch], calls))
                for batch in batches
            ]
        finally:
            await method.close_box()

    return asyncio.run(ask())


def entry(text: str) -> Entry:
    return Entry.model_construct(id="one", source=text, reference="", segment=None)
