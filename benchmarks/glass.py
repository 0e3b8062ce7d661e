"""One pixel of an X screen, examined every millisecond: when a program has really painted.

It asks the server itself, so that it measures any program alike: from source, from a bundle, of another kind.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import time
from typing import Self

_EVERY_SECONDS = 0.001
_ALL_PLANES = ctypes.c_ulong(-1)
_Z_PIXMAP = 2


class Glass:
    """A connection to the server of ``display``, of the form ``:7``."""

    def __init__(self, display: str) -> None:
        name = ctypes.util.find_library("X11")
        if name is None:
            raise SystemExit("libX11 is not installed, so nothing on a screen can be measured.")
        self._x = ctypes.CDLL(name)
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XDefaultRootWindow.restype = ctypes.c_ulong
        self._x.XGetImage.restype = ctypes.c_void_p
        self._x.XGetPixel.restype = ctypes.c_ulong
        self._display = ctypes.c_void_p(self._x.XOpenDisplay(display.encode()))
        self._root = ctypes.c_ulong(self._x.XDefaultRootWindow(self._display))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._x.XCloseDisplay(self._display)

    def pixel(self, x: int, y: int) -> int:
        """Return the colour there, 0xRRGGBB."""
        image = ctypes.c_void_p(self._x.XGetImage(self._display, self._root, x, y, 1, 1, _ALL_PLANES, _Z_PIXMAP))
        colour = int(self._x.XGetPixel(image, 0, 0))
        self._x.XDestroyImage(image)
        return colour & 0xFFFFFF

    def changed(self, x: int, y: int, before: int, seconds: float = 30.0) -> float:
        """Wait until the colour there is another one; gives the time, by ``time.perf_counter``."""
        end = time.perf_counter() + seconds
        while self.pixel(x, y) == before:
            if time.perf_counter() > end:
                raise TimeoutError("nothing was painted")
            time.sleep(_EVERY_SECONDS)
        return time.perf_counter()
