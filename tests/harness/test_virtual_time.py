"""The clock that other tests rely on must be right itself."""

import asyncio

import pytest

from tests.harness.virtual_time import run_virtual


def test_an_hour_passes_at_once_and_in_order() -> None:
    seen: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, asyncio.get_running_loop().time()))

    async def main() -> None:
        await asyncio.gather(sleeper("late", 3600), sleeper("early", 1), sleeper("middle", 60.5))

    run_virtual(main())  # in real time it would take an hour
    assert [name for name, _ in seen] == ["early", "middle", "late"]
    assert [when for _, when in seen] == pytest.approx([1, 60.5, 3600])


def test_a_deadlock_is_reported_instead_of_hanging() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(AssertionError, match="never comes"):
        run_virtual(main())
