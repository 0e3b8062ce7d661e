"""The page of an item at the first of four sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.desktop.item_scene import Make, Scene


@pytest.fixture
def scene(make: Make) -> Scene:
    return make()
