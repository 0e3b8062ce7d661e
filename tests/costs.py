"""What each test costs: processor seconds of pytest's process and of the programs that the test starts and waits for;
and the memory of each process of pytest at the end of a run.

A test without the mark ``costly`` may use 1.5 processor seconds on its own; a run ends with the 10 dearest. Seconds
are scaled by a fixed piece of work that is measured when a test seems too dear. Beside other workers a test may use
twice as many, because they share caches and cores in ways that no short measurement shows.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

LIMIT: Final = 1.5
"""Processor seconds of one test on a machine that does the fixed piece of work in ``REFERENCE`` seconds."""

REFERENCE: Final = 0.005
"""What a machine of today needs for the fixed piece of work; the older one on which this was tried needs 0.010."""

IMPORTS: Final = 20
"""A test that is the first to import more modules than this pays for others, and is not judged."""

LISTED: Final = 10
_PROPERTY: Final = "processor_seconds"
_MEMORY: Final = "memory"


def processor_seconds() -> float:
    """Return the seconds that this process and its ended children have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def machine_factor() -> float:
    """Return how many times slower than the reference this machine is at the moment; at least 1."""
    return max(1.0, sum(_fixed_work() for _ in range(10)) / 10 / REFERENCE)


def _fixed_work() -> float:
    begun = time.process_time()
    counts: dict[str, int] = {}
    for number in range(25_000):
        key = str(number % 1_000)
        counts[key] = counts.get(key, 0) + number
    return time.process_time() - begun


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Measure a test without its fixtures, and fail it where it is too dear and not marked."""
    modules, begun = len(sys.modules), processor_seconds()
    yield
    used = processor_seconds() - begun
    item.user_properties.append((_PROPERTY, round(used, 2)))
    if item.get_closest_marker("costly") or os.environ.get("ROSETTA_THOROUGH") == "1":
        return
    if used <= LIMIT or len(sys.modules) - modules > IMPORTS:
        return
    gc.collect()  # its own garbage is no part of the fixed work
    limit = LIMIT * (2 if hasattr(item.config, "workerinput") else 1)
    if (scaled := used / machine_factor()) > limit:
        pytest.fail(
            f"This test used {scaled:.1f} processor seconds; {limit} is the limit. Test the rule in the core, "
            "share what it makes, or mark it: @pytest.mark.costly('why it must cost that').",
            pytrace=False,
        )


def memory() -> str:
    """Return the memory of this process now and at most, in MB; "" where the system has no /proc."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return ""
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    now, most = (int(fields[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM"))
    return f"{now} MB at the end, {most} MB at most"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the memory of a worker to where the results of all arrive."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output[_MEMORY] = memory()


class RunCosts:
    """Prints the dearest tests and the memory of each worker at the end of a run; what all workers send arrives here."""

    def __init__(self) -> None:
        self._costs: dict[str, float] = {}
        self._memory: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a test cost."""
        if report.when == "call":
            cost = dict(report.user_properties).get(_PROPERTY)
            self._costs[report.nodeid] = cost if isinstance(cost, float) else 0.0

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Note the memory of a worker that ends; one that crashed sent none."""
        self._memory[node.gateway.id] = getattr(node, "workeroutput", {}).get(_MEMORY, "crashed")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the dearest tests with their processor seconds, and the memory of each worker."""
        dearest = sorted(self._costs.items(), key=lambda pair: -pair[1])[:LISTED]
        terminalreporter.section(f"the {len(dearest)} dearest tests, in processor seconds")
        for name, seconds in dearest:
            terminalreporter.write_line(f"{seconds:6.2f}  {name}")
        for worker, text in sorted((self._memory or {"pytest": memory()}).items()):
            terminalreporter.write_line(f"memory of {worker}: {text}")


def pytest_configure(config: pytest.Config) -> None:
    """List the costs where the results of all workers arrive."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(RunCosts())
