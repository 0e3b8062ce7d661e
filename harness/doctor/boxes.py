"""What makes boxes on this computer, in which methods of others are run."""

from __future__ import annotations

from collections.abc import Iterator

from harness.box.control_groups import limits_whole_box
from harness.box.engine import BoxEngine
from harness.box.engines import NEEDS_LINUX, engines
from harness.box.own_process import shut_off
from harness.doctor.finding import Finding, Health

_AREA = "Methods of others"


def boxes() -> Iterator[Finding]:
    """Return which engine makes boxes here; of those that are missing, what to install, where no other is there."""
    missing = []
    for engine in engines():
        lacking = engine.lacking()
        if lacking is None:
            yield Finding(_AREA, engine.name, Health.OK, _works(engine))
            return
        missing.append(Finding(_AREA, engine.name, Health.MISSING, f"{lacking}."))
    yield from missing
    if not missing:
        words = f"{NEEDS_LINUX}. What brings code is not run here, what brings data alone is."
        yield Finding(_AREA, "box", Health.MISSING, words)


def _works(engine: BoxEngine) -> str:
    if engine.name != "bubblewrap":
        return "makes boxes"
    whole = "the whole box" if limits_whole_box() else "each of its processes"
    models = "in a box too" if shut_off() else "outside of one, with the rights of root"
    return f"makes boxes; memory is limited for {whole}; the engine for local models runs {models}"
