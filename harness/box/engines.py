"""Which engine makes boxes on this computer."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.box.bubblewrap import Bubblewrap
from harness.box.engine import BoxEngine
from harness.box.podman import Podman
from harness.box.seatbelt import Seatbelt
from harness.core.failures import HarnessError


def engines() -> Sequence[BoxEngine]:
    """Return the engines that this system may have, the one that is preferred first; none where there is none for it."""
    if sys.platform == "darwin":
        return (Seatbelt(),)
    return (Bubblewrap(), Podman()) if sys.platform == "linux" else ()


def find_engine(among: Sequence[BoxEngine] | None = None, *, secret: bool = False) -> BoxEngine:
    """Return the first engine that works on this computer, for ``secret`` texts the first that holds them.

    HarnessError says what to install, or which computer to use, where there is none.
    """
    lacking = []
    for engine in engines() if among is None else among:
        missing = engine.lacking()
        if missing is None and secret and not engine.holds_secrets:
            missing = (
                f"{engine.name} may leave processes and files of a method behind, so no secret text is given to it: "
                "use a computer with Linux and bubblewrap or podman"
            )
        if missing is None:
            return engine
        lacking.append(missing)
    reasons = "; or ".join(lacking) or "boxes need Linux or macOS"
    raise HarnessError(f"No box can be made on this computer: {reasons}.")
