"""Plans of sweeps for tests, over the bundled corpus or one of their own."""

from __future__ import annotations

from pathlib import Path

from corpora.samples import DEMO_CORPUS, sample_path
from harness.sweep.expansion import SweepCell, expand, open_plan_corpus
from harness.sweep.plan import PlanFile, read_plan

CORPUS = sample_path(DEMO_CORPUS)

HEAD = f'version = 1\ncorpus = "{CORPUS.as_posix()}"\n'
CHAT = '[fixed]\nmethod = "chat"\nendpoint = "http://127.0.0.1:9/v1"\n'


def written(folder: Path, *parts: str, head: str = HEAD) -> Path:
    """Write a plan of these parts; its first three lines are version, corpus and what ``parts`` begin with."""
    path = folder / "plan.toml"
    path.write_text(head + "\n".join(parts), "utf-8")
    return path


def read(folder: Path, *parts: str) -> PlanFile:
    return read_plan(written(folder, *parts))


def cells(folder: Path, *parts: str) -> tuple[SweepCell, ...]:
    found = read(folder, *parts)
    return expand(found, open_plan_corpus(found))
