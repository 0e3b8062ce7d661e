"""A method in a box against the same method outside: 200 entries asked one by one, and what the start costs.

Run from the repository: ``python -m benchmarks.box``. The method hashes for about a millisecond a text, less than a method that
translates needs. Outside it is a function of this process, called through the same interface; the box is the engine of this
computer. Entries: processor time of this process and of the box together, so that other work on the machine counts little; start: wall
time until the first text is there. In turns, the best of several rounds.
"""

from __future__ import annotations

import asyncio
import importlib.util
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpora.model.entry import Entry
from harness.box.boxed import boxed_method
from harness.box.engine import BoxedCode, Limits
from harness.box.engines import find_engine
from harness.method.method import Method, MethodClass, Output, Setup

ENTRIES = 200
ROUNDS = 7
MOST_RATIO = 1.15
MOST_START_SECONDS = 0.3
_CODE = """
import hashlib, time
def translate(texts):
    if texts == ["processor time"]:
        return [str(time.process_time())]
    return [hashlib.pbkdf2_hmac("sha256", text.encode(), b"salt", 6000).hex() for text in texts]
"""
_SETUP = Setup(
    method="hashes",
    method_class=MethodClass.CUSTOM_PLUGIN,
    method_version="1",
    model_slug="hashes",
    condition="benchmark",
)


class Outside:
    """The same function, in this process."""

    setup = _SETUP
    endpoint = None

    def __init__(self, folder: Path) -> None:
        spec = importlib.util.spec_from_file_location("hashes", folder / "hashes.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._function = module.translate

    async def translate(self, entries: Sequence[Entry], calls: Any) -> Sequence[Output]:
        """Translate; see ``Method``."""
        del calls
        return [Output(text) for text in self._function([entry.source for entry in entries])]

    async def close_box(self) -> None:
        """There is none."""


NO_CALLS: Any = None
"""Neither method calls anything."""


async def timed(method: Any, *, apart: bool) -> tuple[float, float]:
    """Return the wall seconds until the first text is there, and the processor seconds of all the others.

    ``apart`` tells that the method is in its own process, whose time is added.
    """
    entries = [Entry(id=str(n), source=f"entry number {n}", reference="-") for n in range(ENTRIES + 1)]
    asked: Method = method
    begun = time.perf_counter()
    await asked.translate(entries[:1], NO_CALLS)
    start = time.perf_counter() - begun
    before = time.process_time() + (await _inside(asked) if apart else 0.0)
    for entry in entries[1:]:
        await asked.translate([entry], NO_CALLS)
    after = time.process_time() + (await _inside(asked) if apart else 0.0)
    await method.close_box()
    return start, after - before


async def _inside(method: Method) -> float:
    question = Entry(id="time", source="processor time", reference="-")
    [output] = await method.translate([question], NO_CALLS)
    return float(output.text or "nan")


def main() -> None:
    """Print both sides, their ratio, and what the start costs."""
    engine = find_engine()
    starts: dict[str, list[float]] = {"outside": [], "boxed": []}
    rest: dict[str, list[float]] = {"outside": [], "boxed": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hashes.py").write_text(_CODE, encoding="utf-8")
        code = BoxedCode(folder, "hashes:translate")
        for _ in range(ROUNDS):
            for kind, method in (
                ("outside", Outside(folder)),
                ("boxed", boxed_method(code, Limits(), engine, None, _SETUP)),
            ):
                start, others = asyncio.run(timed(method, apart=kind == "boxed"))
                starts[kind].append(start)
                rest[kind].append(others)
    outside, boxed = min(rest["outside"]), min(rest["boxed"])
    more = min(starts["boxed"]) - min(starts["outside"])
    ratio = boxed / outside
    print(
        f"{ENTRIES} entries, {engine.name}: boxed {boxed:.3f} s, outside {outside:.3f} s, ratio {ratio:.2f}, "
        f"goal {MOST_RATIO:g} {'met' if ratio <= MOST_RATIO else 'MISSED'}; start {more:.3f} s more, "
        f"goal {MOST_START_SECONDS:g} {'met' if more <= MOST_START_SECONDS else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
