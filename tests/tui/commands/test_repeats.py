"""Repeats of one set-up: asked again each time, resumed by the same command, taken apart in a comparison."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness.compare.comparing import compare_runs
from harness.store.run_list import list_runs
from harness.store.sqlite.database import opened
from tests.harness.scripted import Answer, Asked, completion, json_answer, serving
from tests.tui.commands.command_line import Program

SIZE = 12


@pytest.mark.costly("a worker's process, three runs")
def test_repeats_vary_are_taken_apart_and_ask_nothing_twice(
    program: Program, no_keyring: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    times: Counter[str] = Counter()

    def answer(asked: Asked) -> Answer:
        times[asked.source] += 1
        luck = (len(asked.source) + times[asked.source]) % 3
        return json_answer(completion("Bonan tagon, kara amiko." + "!" * luck + " jes" * luck))

    with serving(answer) as server:
        command = (
            "run",
            sample_path(DEMO_CORPUS),
            "-m",
            "chat",
            "--model",
            "m",
            "--endpoint",
            server.url,
            "--limit",
            SIZE,
            "--repeats",
            3,
        )
        code, out, _ = program(*command, "--estimate")
        assert (code, server.asked) == (0, [])
        assert f"Calls    {3 * SIZE}" in out
        code, _, problems = program(*command)
        assert code == 0, problems
        assert "rosetta compare" in problems
        assert set(times.values()) == {3}, "each call is asked again in each repeat"
        assert program(*command)[0] == 0
        assert len(server.asked) == 3 * SIZE, "the same command finds its runs again"
    with opened(tmp_path / "home" / "rosetta.sqlite") as store:
        ids = [run.run_id for run in list_runs(store)]
        comparison = compare_runs(store, ids, draws=10, trials=10)
        [repeated] = comparison.repeated("chrf_plus_plus")
    assert (len(ids), repeated.letters, repeated.equal) == (3, ("A", "B", "C"), False)
    assert repeated.parts is not None
    mean = sum(run.values["chrf_plus_plus"] or 0 for run in comparison.runs) / 3
    assert repeated.parts.mean == pytest.approx(mean)
    assert repeated.parts.remainder > 0
    code, out, _ = program("compare", *ids, "--draws", 100)
    assert "A, B and C repeat one set-up: chrF++" in out
    assert out.count("repeat one set-up") == 2, "by chrF++ and by the composite"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--detach",), "--detach does not go with --repeats"),
        (("--submit",), "--submit does not go with --repeats"),
        (("--body", "seed=7"), "With one seed every repeat would be equal"),
        (("-m", "copy-source"), "asks nobody: every repeat would be equal"),
    ],
)
def test_repeats_refuse_what_would_say_nothing(
    program: Program,
    no_keyring: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    here = ("-m", "chat", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1")
    code, _, problems = program("run", sample_path(DEMO_CORPUS), *here, "--repeats", 2, *more)
    assert code == 2
    assert words in problems
