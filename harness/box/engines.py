"""Which engine makes boxes on this computer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from harness.box.bubblewrap import Bubblewrap
from harness.box.engine import BoxEngine
from harness.box.podman import Podman
from harness.core.failures import HarnessError

NEEDS_LINUX: Final = "boxes need Linux: on macOS or Windows install Rosetta and bubblewrap in a virtual machine with Linux"


def engines() -> Sequence[BoxEngine]:
    """Return the engines that this system may have, the preferred one first; none outside of Linux.

    Podman on macOS and Windows runs its containers under a Linux of their own, which cannot start the Python of
    this computer that a box is made from.
    """
    return (Bubblewrap(), Podman()) if sys.platform == "linux" else ()


def find_engine(among: Sequence[BoxEngine] | None = None) -> BoxEngine:
    """Return the first engine that works on this computer.

    HarnessError says what to install, or which computer to use, where there is none.
    """
    lacking = []
    for engine in engines() if among is None else among:
        missing = engine.lacking()
        if missing is None:
            return engine
        lacking.append(missing)
    raise HarnessError(
        f"No box can be made on this computer: {'; or '.join(lacking) or NEEDS_LINUX}."
    )
