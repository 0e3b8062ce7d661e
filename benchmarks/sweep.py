"""A sweep at a local endpoint with a fixed delay, beside the same runs one after the other without it.

Prints both as multiples of the ideal (calls × delay / connections), each from its beginning to the last seal, in
stores of their own, and the processor seconds of each run, the endpoint's included. ``--models 3`` makes it a
quarter as long. ``--cluster N`` has the calls of the sweep made by N workers of a Dask cluster on this machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every command of the program

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path

from benchmarks.run_live import DELAY, LocalEndpoint, write_corpus
from harness import api
from harness.endpoint.limiter import Limiter
from harness.run.call_runner import limiter_for
from harness.run.events import Control
from harness.run.running import execute_run
from harness.store.sqlite.database import opened
from harness.sweep.expansion import expand, open_plan_corpus
from harness.sweep.plan import PlanFile, read_plan
from harness.sweep.processes import CallBackend, WorkerProcesses
from harness.sweep.record import sweep_record
from harness.sweep.working import begin_sweep

PLAN = """
version = 1
corpus = "corpus.jsonl"
replicates = 4
workers = {workers}
[reading]
source_language = "en"
target_language = "crk"
[axes]
model = [{models}]
temperature = [0.0, 0.3, 0.7]
[fixed]
method = "chat"
endpoint = "{url}/v1"
concurrency = {connections}
"""


def read(folder: Path, url: str, models: int, workers: int, connections: int) -> PlanFile:
    """Write the plan for an endpoint and read it."""
    names = ", ".join(f'"mock-{number}"' for number in range(models))
    text = PLAN.format(models=names, workers=workers, connections=connections, url=url)
    (folder / "plan.toml").write_text(text, "utf-8")
    return read_plan(folder / "plan.toml")


def one_by_one(store: Path, found: PlanFile) -> None:
    """Make the runs of a plan in this process, one after the other, with all connections each."""
    limiter: Limiter | None = None
    for cell in expand(found, open_plan_corpus(found)):
        ready = api.start(store, cell.request)
        limiter = limiter or limiter_for(ready.method, cell.request.plan.run.concurrency)
        finished = execute_run(
            store, ready.number, ready.cleared, None, Control(), tools=ready.tools, limiter=limiter
        )  # fmt: skip
        assert finished.card_hash


def swept(store: Path, found: PlanFile, elsewhere: CallBackend | None = None) -> None:
    """Make them as a sweep."""
    sweep = begin_sweep(store, found, expand(found, open_plan_corpus(found)))
    with closing(WorkerProcesses(store, sweep.number, sweep.workers, elsewhere)) as workers:
        workers.start()
        while not workers.wait(1.0):
            pass
    with opened(store) as connection:
        assert sweep_record(connection, sweep).state == "complete"


@contextmanager
def swept_by(workers: int) -> Iterator[Callable[[Path, PlanFile], None]]:
    """Return ``swept``, with the calls made by that many workers of a cluster; 0: here."""
    if not workers:
        yield swept
        return
    from distributed import LocalCluster  # noqa: PLC0415  the workers of the other measurements load none of it

    from harness.sweep.cluster.carrier import Cluster  # noqa: PLC0415

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        yield partial(swept, elsewhere=Cluster(cluster.scheduler_address))


def measured(
    make: Callable[[Path, PlanFile], None], models: int, entries: int, workers: int, connections: int
) -> tuple[float, float, float]:
    """Return the seconds that all runs took, those from the first call to the last reply, and the processor's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["ROSETTA_HOME"] = name
        write_corpus(folder / "corpus.jsonl", entries)
        before = processor()
        endpoint = LocalEndpoint()
        found = read(folder, endpoint.url, models, workers, connections)
        began = time.perf_counter()
        make(folder / "rosetta.sqlite", found)
        seconds = time.perf_counter() - began
        seen = endpoint.statistics()
        endpoint.end()
    assert seen["served"] == models * 12 * entries
    assert seen["most_under_way"] <= connections
    return seconds, seen["seconds"], processor() - before


def processor() -> float:
    """Return the processor seconds of this process and of those that it began and that have ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def main() -> None:
    """Measure both, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=12, help="of each there are 12 runs")
    parser.add_argument("--entries", type=int, default=150)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cluster", type=int, default=0, help="workers of a Dask cluster")
    given = parser.parse_args()
    sizes = (given.models, given.entries, given.workers, given.connections)
    ideal = given.models * 12 * given.entries * DELAY / given.connections
    whole = {}
    for name, made in (("one by one", nullcontext(one_by_one)), ("sweep", swept_by(given.cluster))):
        with made as make:
            whole[name], calls, busy = measured(make, *sizes)
        print(
            f"{name}: {given.models * 12} runs of {given.entries} entries, {given.connections} connections: "
            f"{whole[name]:.1f} s, {whole[name] / ideal:.2f} × ideal (calls {calls / ideal:.2f} ×), "
            f"{busy / (given.models * 12):.3f} processor seconds a run"
        )
    print(f"sweep against the same runs without it: {whole['sweep'] / whole['one by one']:.3f} ×")


if __name__ == "__main__":
    main()
