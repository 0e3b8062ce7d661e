"""What holds for all tests."""

from __future__ import annotations

import builtins
import gc
import itertools
import linecache
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import text

from harness import privacy
from harness.endpoint import offline
from harness.endpoint.limiter import RetryPolicy
from harness.run import scoring as run_floors
from harness.setup.scoring_tools import ScoringTools, floor_work
from scoring.card.claim import FloorScores
from scoring.card.floors import FloorWork, Share
from tests import without_network
from tests.harness.scripted import Scripted, serving

settings.register_profile(  # a busy machine is no fault of the program
    "rosetta", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rosetta")
if os.environ.get("ROSETTA_THOROUGH") != "1":
    # it tries constants of our files as examples, and parses all files for them: 7 s in each worker
    vars(providers)["is_local_module_file"] = lambda path: False

_doors: list[offline.Hook] = []
"""The hook of the door of the test under way: a door that was shut once stays shut."""


def _ask_door(event: str, arguments: tuple[Any, ...]) -> None:
    for hook in _doors:
        hook(event, arguments)


sys.addaudithook(_ask_door)
sys.addaudithook(without_network.refuse)  # behind the door, which has its own word for it
offline.shut, offline.why = offline.door(_doors.append)  # for what fixtures of modules do


def pytest_collectreport() -> None:
    """Forget the lines of a file once its tests are found: all files together hold 100 MB of them."""
    linecache.clearcache()


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what stays to the end, and look less often than by default."""
    text().validate()  # makes hypothesis' table of characters, which the first test would pay for
    gc.collect()
    gc.freeze()
    # the program freezes what it has loaded: in a worker that would keep the garbage of all tests before
    vars(gc)["freeze"] = lambda: None
    gc.set_threshold(20_000, 10, 5)


COSTLY_WEIGHT = 20
"""Tests without the mark ``costly`` that take as long as one with it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked as thorough, unless the environment says ROSETTA_THOROUGH=1; begin with the longest files.

    A worker takes whole files. Were a long one left for the end, the other workers would wait for it.
    """
    skip = pytest.mark.skip(reason="runs in `make check-thorough` (ROSETTA_THOROUGH=1)")
    is_thorough = os.environ.get("ROSETTA_THOROUGH") == "1"
    costs = Counter[Path]()
    for item in items:
        if item.get_closest_marker("thorough") and not is_thorough:
            item.add_marker(skip)
        else:
            costs[item.path] += COSTLY_WEIGHT if item.get_closest_marker("costly") else 1
    items.sort(key=lambda item: -costs[item.path])


COLLECTED_EVERY = 100
"""Tests between two full garbage collections, each about 0.1 s."""

_ended = itertools.count(1)


def pytest_runtest_logfinish() -> None:
    """Collect the young garbage of each test, and all garbage now and then.

    Apps and windows are circles of megabytes. Garbage of a hundred tests would be most of a worker's memory.
    """
    if next(_ended) % COLLECTED_EVERY == 0:
        linecache.clearcache()
        gc.collect()
    else:
        gc.collect(1)


@pytest.fixture(autouse=True)
def floors_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run over entries that an earlier test had find its floors worked out."""
    monkeypatch.setattr(run_floors, "floor_work", floor_work_once)


@pytest.fixture(autouse=True)
def own_door(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Open a door of its own for each test."""
    _doors.clear()
    made = offline.door(_doors.append)
    monkeypatch.setattr(offline, "shut", made.shut)
    monkeypatch.setattr(offline, "why", made.why)
    monkeypatch.setattr(privacy, "quieten", lambda: None)  # for good, as the door
    yield
    _doors.clear()


@pytest.fixture(autouse=True)
def own_machine_only() -> Iterator[None]:
    """Fail a test that tries to reach another machine, though it was refused."""
    without_network.attempts.clear()
    yield
    tried, without_network.attempts[:] = sorted(set(without_network.attempts)), []
    assert tried == [], f"this test tried to reach {', '.join(tried)}"


@pytest.fixture(autouse=True)
def no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine have no way to others, as far as this process is told, whatever it is plugged into."""
    monkeypatch.setattr(offline, "network_routes", lambda: ())


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls be tried again at once: for tests of what is said when no try reaches anybody."""
    monkeypatch.setattr(RetryPolicy, "seconds_before_retry", _at_once(RetryPolicy.seconds_before_retry))


def _at_once(wait: Callable[..., float | None]) -> Callable[..., float | None]:
    return lambda *told: None if wait(*told) is None else 0.0


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    """Yield a model on this machine that answers as a test says."""
    with serving() as scripted:
        yield scripted


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the program's data folder, which is not there yet."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def _can_draw() -> bool:
    """Return whether Qt is installed and finds the libraries of the system that it needs."""
    own = builtins.__import__
    try:
        import PySide6.QtWidgets  # noqa: F401
    except ImportError:
        return False
    builtins.__import__ = own  # Qt's, for a feature that nobody here uses, slows every import in a function down
    return True


pytest_plugins = ["tests.costs", *(["pytestqt.plugin"] if _can_draw() else [])]
"""The second is switched off by itself in pyproject.toml, because it ends every run where Qt is not there."""


_known: dict[str, dict[str, FloorScores]] = {}


class KnownWork(FloorWork):
    """Work that another test has done."""

    def __init__(self, tools: ScoringTools, scores: dict[str, FloorScores]) -> None:
        super().__init__(tools.resources.entries, ())
        self._known = scores

    def step(self) -> bool:
        self.complete = True
        return False

    def scores(self) -> dict[str, FloorScores]:
        return dict(self._known)


def floor_work_once(tools: ScoringTools, _share: Share | None = None) -> FloorWork:
    """Return what ``floor_work`` does, with all steps but the last one done."""
    resources = (tools.setup.model_dump_json(), repr(tools.resources.terms), tools.scorer.weighing, tools.scorer.ids)
    texts = [entry.model_dump_json() for entry in tools.resources.entries]  # their repr has none
    asked = sha256(repr((texts, resources)).encode()).hexdigest()
    if asked not in _known:
        work = floor_work(tools)
        while work.step():
            pass
        _known[asked] = work.scores()
    return KnownWork(tools, _known[asked])
