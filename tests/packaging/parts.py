"""The modules of ``packaging/reviewer``, which are scripts beside each other and no package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
REVIEWER = ROOT / "packaging" / "reviewer"


def part(name: str) -> ModuleType:
    """Import one of them, as a build does."""
    sys.path.insert(0, str(REVIEWER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(REVIEWER))
