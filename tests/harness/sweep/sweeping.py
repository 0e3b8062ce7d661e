"""Sweeps over a small corpus of their own, at an endpoint of this machine."""

from contextlib import closing
from pathlib import Path

from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import find_run
from harness.store.sweeps import StoredSweep, find_sweep
from harness.sweep.expansion import expand, open_plan_corpus
from harness.sweep.plan import read_plan
from harness.sweep.record import SweepRecord, sweep_record
from harness.sweep.working import begin_sweep

SIZE = 6
LANGUAGES = '[reading]\nsource_language = "en"\ntarget_language = "eo"\n'
HEAD = f'version = 1\ncorpus = "c.tsv"\nworkers = 2\n{{top}}\n{LANGUAGES}'


def written(folder: Path, *parts: str, head: str) -> Path:
    """Write a plan of these parts."""
    path = folder / "plan.toml"
    path.write_text(head + "\n".join(parts), "utf-8")
    return path


def begun(folder: Path, url: str, *parts: str, top: str = "", fixed: str = "", size: int = SIZE) -> tuple[Path, StoredSweep]:  # fmt: skip
    """Store a sweep over two models at an endpoint; gives the store's path too."""
    rows = "".join(f"{n}\tentry number {n}\tENTRY NUMBER {n}\n" for n in range(size))
    (folder / "c.tsv").write_text(f"id\tsource\treference\n{rows}", "utf-8")
    options = f'method = "chat"\nendpoint = "{url}"\nconcurrency = 4\nattempts = 2\n{fixed}'
    axes = parts or ('[axes]\nmodel = ["a", "b"]',)
    path = written(folder, *axes, f"[fixed]\n{options}", head=HEAD.format(top=top))
    found = read_plan(path)
    store = folder / "home" / "rosetta.sqlite"
    return store, begin_sweep(store, found, expand(found, open_plan_corpus(found)))


def record(store: Path) -> SweepRecord:
    with closing(open_store(store)) as connection:
        return sweep_record(connection, find_sweep(connection, "last"))


def stored_entries(store: Path, run_id: str) -> list[str]:
    with closing(open_store(store)) as connection:
        run = find_run(connection, run_id)
        return [str(each.entry_id) for each in read_results(connection, run.id)]


def never() -> int:
    """Tell a worker to go on."""
    return 0
