"""What is told of a sweep over secret entries: one answer, and a set-up by name only where it is clearly the best."""

from __future__ import annotations

import json
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.release.budget import NotReleased
from harness.release.ledger_records import ReleasedCard, ScoresTold
from harness.store.sqlite.database import open_store
from harness.store.sweeps import NewCell, StoredSweep, keep_sweep, set_run
from harness.sweep.comparing import release_sweep
from review.verifying.kinds import fits_line
from tests.harness.release.made import Office, hidden, outputs
from tests.harness.sealed.refusals import refuses

ENTRIES = hidden(60)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path, metrics=("chrf_plus_plus",))


def swept(office: Office, setups: dict[str, list[str]], *, reused: tuple[str, ...] = (), name: str = "plan") -> StoredSweep:  # fmt: skip
    """Store a sweep over a vault: name of each set-up → its runs, the repetitions in order."""
    cells = [
        NewCell(f"{label} · #{n + 1}", {"model": label}, n, f"{place}{n}".ljust(64, "0"), len(ENTRIES))
        for place, (label, runs) in enumerate(setups.items())
        for n in range(len(runs))
    ]
    with closing(open_store(office.store)) as store:
        sweep = keep_sweep(
            store, key=name.encode().hex().ljust(64, "0"), name=name, file="plan.toml", budget_usd=None, workers=1,
            plan=json.dumps({"version": 1, "corpus": "gold", "vault": True, "fixed": {}}), cells=cells,
        )  # fmt: skip
        runs = [run for group in setups.values() for run in group]
        for place, run in enumerate(runs):
            set_run(store, sweep.number, place, run, reused=run in reused)
    return sweep


def told(office: Office, sweep: StoredSweep, submitter: str = "Ann") -> Any:
    with closing(open_store(office.store)) as store:
        return json.loads(release_sweep(store, sweep, submitter, office.ledger))


def mixed(first: list[str], second: list[str], share: float, seed: int) -> list[str]:
    """Outputs of which each is the second's with this probability, else the first's."""
    draw = random.Random(seed)
    return [b if draw.random() < share else a for a, b in zip(first, second, strict=True)]


def test_best_setup_is_told_by_name_as_one_answer(office: Office) -> None:
    weak, good, poor = office.run(0.3, ENTRIES), office.run(0.9, ENTRIES), office.run(0.1, ENTRIES)
    sweep = swept(office, {"weak": [weak], "good": [good], "poor": [poor]})
    card = told(office, sweep)
    assert card["sweep"] == {"id": sweep.key, "setups": 3, "setup": "good", "verdict": "best"}
    assert (card["run"], card["scores_of"], card["answer"], card["of"]) == (good, good, 1, 3)
    assert (card["confirmation"], card["shortfall"]) == ("not_confirmed", "several set-ups")
    assert told(office, sweep) == card, "the same bytes again, and no further answer"
    assert len(office.ledger.read().told(ScoresTold)) == 1
    assert fits_line(office.ledger.lines(), card) == ""
    other = Office(office.folder / "other", metrics=office.metrics)
    other.folder.mkdir()
    alone = other.told(other.run(0.9, ENTRIES))
    assert (alone["confirmation"], "sweep" in alone) == ("confirmed", False)
    assert card["bits"] == alone["bits"] + 2, "one of three or none: log2(4) bits more"


def test_setups_that_differ_by_chance_name_the_first_of_the_plan(office: Office) -> None:
    """Two systems as good as each other, mixed by coin: which mixture came out best is not told."""
    one, other = outputs(ENTRIES, 0.6), outputs(ENTRIES, 0.61)
    runs = [office.run_lines(mixed(one, other, 0.5, seed), ENTRIES) for seed in range(6)]
    values = [office.card(run)["scores"]["chrf_plus_plus"] for run in runs]
    order = sorted(range(6), key=lambda at: values[at])  # the worst first in the plan
    card = told(office, swept(office, {f"coin {at}": [runs[at]] for at in order}))
    assert card["sweep"]["verdict"] == "cannot be told apart"
    assert (card["run"], card["sweep"]["setup"]) == (runs[order[0]], f"coin {order[0]}")
    assert not any(runs[at] in json.dumps(card) for at in order[1:])


def test_more_setups_ask_for_more_certainty(office: Office) -> None:
    """Two set-ups with p = 0.0165 are told apart alone (× 2 < 0.05), and not where the best of four was looked for (× 4)."""
    base, better = outputs(ENTRIES, 0.5), outputs(ENTRIES, 0.53)
    runs = {"base": [office.run_lines(base, ENTRIES)], "better": [office.run_lines(mixed(base, better, 0.5, 1), ENTRIES)]}  # fmt: skip
    assert told(office, swept(office, runs, name="two"))["sweep"]["verdict"] == "best"
    worse = {f"worse {n}": [office.run(0.02 * n, ENTRIES)] for n in range(1, 3)}
    card = told(office, swept(office, runs | worse, name="four"), "Ben")
    assert (card["sweep"]["verdict"], card["sweep"]["setup"]) == ("cannot be told apart", "base")


def test_run_of_a_sweep_is_told_with_its_sweep_alone(office: Office) -> None:
    before = office.run(0.5, ENTRIES)
    good, poor = office.run(0.9, ENTRIES), office.run(0.1, ENTRIES)
    sweep = swept(office, {"before": [before], "good": [good], "poor": [poor]}, reused=(before,))
    for run in (good, poor):
        refuses(NotReleased, "released as a whole, in one answer", office.release, run)
    assert office.ledger.read().acts[1:] == ()
    card = told(office, sweep)
    assert json.loads(office.release(good)) == card, "the answer that it had"
    refuses(NotReleased, "released as a whole", office.release, poor)
    assert office.told(before)["scores_of"] == good, "begun alone, by a grant of its own"


def test_sweep_is_told_once_every_run_is_complete(office: Office) -> None:
    runs = {"good": [office.run(0.9, ENTRIES)], "poor": [office.run(0.1, ENTRIES)]}
    sweep = swept(office, runs)
    for state in ("stopped", "running"):
        with closing(open_store(office.store)) as store:
            store.execute("UPDATE runs SET state = ? WHERE run_id = ?", (state, runs["poor"][0]))
        refuses(NotReleased, "Not every run", told, office, sweep)
    with closing(open_store(office.store)) as store:
        store.execute("UPDATE runs SET state = 'complete'")
    office.delete(runs["poor"][0])
    refuses(NotReleased, "Not every run", told, office, sweep)


def test_later_sweep_that_beats_nothing_names_no_setup(office: Office) -> None:
    """Its best is clearly better than its others, but not than what was told: a submitter who climbs learns one bit."""
    best = told(office, swept(office, {"good": [office.run(0.8, ENTRIES)], "poor": [office.run(0.1, ENTRIES)]}))
    later = {"worst": [office.run(0.2, ENTRIES)], "fair": [office.run(0.81, ENTRIES)]}
    card = told(office, swept(office, later, name="later"))
    assert card["sweep"]["verdict"] == "cannot be told apart"
    assert (card["run"], card["scores_of"], card["scores"]) == (later["worst"][0], best["run"], best["scores"])
    assert (card["bits"], card["answer"]) == (1, 2)
    with pytest.raises(ValidationError, match="confirms nothing"):
        ReleasedCard.model_validate(card | {"confirmation": "confirmed", "shortfall": ""})


def test_repetitions_count_together_and_the_first_is_told(office: Office) -> None:
    first, lucky = office.run(0.7, ENTRIES), office.run(0.95, ENTRIES)
    card = told(office, swept(office, {"poor": [office.run(0.1, ENTRIES)], "good": [first, lucky]}))
    assert (card["sweep"]["setups"], card["sweep"]["verdict"], card["run"]) == (2, "best", first)
