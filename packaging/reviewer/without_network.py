"""Run before the bundled program: the bundle holds no network code, so nothing may ask for it.

``keyring`` imports ``urllib.request`` by way of ``jaraco.context`` for a function that it never calls. A
module of that name that refuses is in its place; HTTP, TLS and sockets of the internet stay out.
"""

import os
import sys
import types


def _refuse(*_: object, **__: object) -> None:
    message = "This program has no network code."
    raise OSError(message)


def _stand_in() -> types.ModuleType:
    module = types.ModuleType("urllib.request")
    module.urlopen = _refuse  # type: ignore[attr-defined]
    return module


sys.modules["urllib.request"] = _stand_in()

# The bundle has no plugins of pydantic to look for.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

# X11 is where input methods and screen readers were tried; Wayland is for desktops that have no X at all.
if sys.platform == "linux":
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb;wayland")
