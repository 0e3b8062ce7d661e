"""Large libraries that are imported when a test first asks them: who only collects tests needs none of their 130 MB."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Late:
    """Stands for a module until something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


stats, optimize = Late("scipy.stats"), Late("scipy.optimize")
