"""``rosetta calibrate`` on real runs of a real store: planted ratings, too few of them, and real ones."""

from __future__ import annotations

import json
import math
import re
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scipy import stats

from harness.card.exporting import card_bytes
from harness.card.load import load_card
from harness.core.canonical import canonical_sha256
from harness.core.failures import HarnessError
from harness.store.file.database import home as home_folder
from harness.store.file.database import opened
from harness.store.runs import find_run
from review.log.payloads import AnyPayload, Consent, Face, Rate
from review.log.table import append_event
from review.office.store.store import Office
from review.rating import Rating
from review.verdict.panel.key import AnswerKey, ControlKind, KeyItem, KeyRun
from rosetta_tui.commands.calibrate import calibrate
from rosetta_tui.commands.runs import runs as runs_command
from rosetta_tui.commands.score import score
from rosetta_tui.show.text import plain
from scoring.calibration.calibration import MOST_OUTPUTS
from tests.outside import MLQE, only_with
from tests.review.calibration.planted import write_case
from tests.review.log.material import BATCH, who
from tests.review.thorough import times
from tests.review.verdict.signing import with_batches

SIZE = times(60, 300)
"""Entries of the planted case."""


def call(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def done(result: Result) -> Result:
    assert result.exception is None, result.exception
    return result


def in_store(folder: Path, entries: int, systems: int = 1, secret: bool = False) -> list[str]:
    """Score planted outputs; gives the ids of the runs."""
    files = write_case(folder, entries, systems=systems)
    if secret:
        rows = map(json.loads, (folder / "corpus.jsonl").read_text("utf-8").splitlines())
        lines = [json.dumps({**row, "segment": "gold_standard"}) for row in rows]
        (folder / "corpus.jsonl").write_text("\n".join(lines), "utf-8")
    runs = []
    for file in files:
        done(
            call(score, folder / "corpus.jsonl", file, "--source-language", "en",
                 "--target-language", "eo", "--model", file.stem)
        )  # fmt: skip
        with opened() as connection:
            runs.append(find_run(connection, "last").run_id)
    return runs


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(folder / "home"))
        return folder, in_store(folder, SIZE, systems=2)


@pytest.fixture
def case(
    planted: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, list[str]]:
    monkeypatch.setenv("ROSETTA_HOME", str(planted[0] / "home"))
    return planted


@pytest.mark.thorough
def test_calibrate_300_items_makes_a_sealed_proposal(case: tuple[Path, list[str]], tmp_path: Path) -> None:  # fmt: skip
    folder, runs = case
    out, again, by_id = (tmp_path / name for name in ("one.toml", "two.toml", "by-id.csv"))
    ratings = ("--ratings", folder / "ratings.csv")
    result = done(call(calibrate, *runs, *ratings, "-o", out))
    assert "Weights: a PROPOSAL for profile A" in result.stdout
    assert "1,800 ratings by 3 people, 3 for an output" in result.stdout
    assert [line for line in result.stdout.splitlines() if plain(line) != line] == []
    made = tomllib.loads(out.read_text("utf-8"))
    assert made.pop("proposal_sha256") == canonical_sha256(made)
    assert made["status"] == "proposal"
    assert sum(made["weights"]["proposal"].values()) == pytest.approx(1)
    assert [run["run_id"] for run in made["evidence"]["runs"]] == runs
    assert all(re.fullmatch("[0-9a-f]{64}", r["run_card_hash"]) for r in made["evidence"]["runs"])
    done(call(calibrate, *runs, *ratings, "-o", again))
    assert again.read_bytes() == out.read_bytes()

    told = json.loads(done(call(calibrate, *runs, "--ratings", folder / "ratings.jsonl", "--json")).stdout)  # fmt: skip
    assert told["evidence"]["raters"] == 3
    assert told["weights"]["proposed"]
    assert told["threshold"]["proposed"]
    assert told["measures"][-1]["metric"] == "length_only"
    by_metric = {row["metric"]: row for row in told["measures"]}
    assert by_metric["code_switching_rate"]["tau_b"]["value"] > 0.8
    assert by_metric["code_switching_rate"]["beats_length"] is True
    assert by_metric["exact_match_rate"]["beats_length"] is False
    assert 0 <= by_metric["chrf_plus_plus"]["soft_pairwise_accuracy"] <= 1
    decided = told["decisions"]
    assert sum(decided[k] for k in ("both", "score_only", "people_only", "neither")) == 600
    assert {row["system"] for row in told["runs"]} == set(runs)

    named = (folder / "ratings.csv").read_text("utf-8")
    by_id.write_text(named.replace("system-0", runs[0]).replace("system-1", runs[1][:8]), "utf-8")
    found = json.loads(done(call(calibrate, "--ratings", by_id, "--json")).stdout)
    assert [run["outputs"] for run in found["evidence"]["runs"]] == [300, 300]
    told = json.loads(done(call(calibrate, runs[1], *ratings, "--json")).stdout)
    assert told["evidence"]["left_out"] == {"of runs that were not named": 900}
    assert told["evidence"]["outputs"] == 300
    assert told["measures"][0]["soft_pairwise_accuracy"] is None


def test_calibrate_80_items_proposes_nothing(tmp_path: Path) -> None:
    in_store(tmp_path, 80)
    out = tmp_path / "proposal.toml"
    result = done(call(calibrate, "last", "--ratings", tmp_path / "ratings.csv", "-o", out))
    assert "because 80 rated items are too few: 150 are needed" in result.stdout
    assert "none is proposed, because 80 rated items with a composite" in result.stdout
    assert not out.exists()
    assert "Nothing is proposed, so proposal.toml was not written." in result.stderr


REFUSED: list[tuple[str, str, str]] = [
    ("entry_id,rating,run\ne1,gist,replay\n", "0 1", "line 2: field 'run' fits more than one"),
    ("entry_id,rating,run\ne1,gist,system-0\n", "", "line 2: field 'run' is no run's id."),
    ("entry_id,rating\ne1,gist\n", "0 1", "which of the 2 runs was rated?"),
    ("entry_id,rating\ne1,gist\n", "", "Name the run that was rated"),
    ("entry_id,rating\nx,gist\n", "0", "None of the ratings is of an entry of these runs"),
]
"""Ratings, the runs that are named, and what is said."""


def test_calibrate_refuses_ratings_of_no_run(case: tuple[Path, list[str]], tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    for text, named, words in REFUSED:
        path.write_text(text, "utf-8")
        result = call(calibrate, *(case[1][int(n)] for n in named.split()), "--ratings", path)
        assert isinstance(result.exception, HarnessError)
        assert words in str(result.exception)


def test_calibrate_ratings_without_a_run_are_of_the_named_one(case: tuple[Path, list[str]], tmp_path: Path) -> None:  # fmt: skip
    path = tmp_path / "unnamed.csv"
    path.write_text("entry_id,rating\ne1,gist\ne1,excellent\ne2,reject\nnope,gist\n", "utf-8")
    told = json.loads(done(call(calibrate, case[1][0], "--ratings", path, "--json")).stdout)
    assert told["evidence"]["raters"] is None
    assert told["evidence"]["most_ratings_of_an_output"] == 2
    assert told["evidence"]["left_out"] == {"of entries that the run does not have": 1}


def test_calibrate_refuses_wrong_options(case: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    folder, runs = case
    ratings = ("--ratings", folder / "ratings.csv")
    for options, words in (
        ((), "either --ratings FILE or --review NAME"),
        ((*ratings, "--review", "x"), "either --ratings FILE or --review NAME"),
        (("--review", "x", "--scale", "0:1"), "a review has its own"),
        (("--review", "autumn"), "There is no review 'autumn'"),
        *(((*ratings, "--level", level), "between 0 and 1") for level in ("1", "0", "nan", "70")),
        ((*ratings, "-o", folder / "ratings.csv"), "ratings.csv is there already"),
    ):
        named = () if "--review" in options and options[0] == "--review" else runs
        assert words in str(call(calibrate, *named, *options).exception), options
    monkeypatch.setattr("scoring.calibration.calibration.MOST_OUTPUTS", 100)
    assert MOST_OUTPUTS > 100
    assert f"{2 * SIZE} rated outputs are more than" in str(
        call(calibrate, *runs, *ratings).exception
    )


@pytest.mark.thorough
def test_calibrate_says_numbers_alone_of_secret_entries(tmp_path: Path) -> None:
    in_store(tmp_path, 160, secret=True)
    out = tmp_path / "proposal.toml"
    arguments = ("last", "--ratings", tmp_path / "ratings.csv")
    whole = done(call(calibrate, *arguments)).output
    assert "160" in whole
    for more in (("-o", out), ("--json",)):
        refused = call(calibrate, *arguments, *more)
        assert "leave in no file, pipe or copy" in str(refused.exception)
        whole += refused.output + str(refused.exception)
    assert not out.exists()
    words = {"hundo", "ĉevalon", "house", "green", "tablo", "vento", "e17"}
    assert not [word for word in words if re.search(rf"\b{word}\b", whole)]


def test_calibrate_needs_the_scores_of_secret_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    in_store(tmp_path, 5, secret=True)
    card = tmp_path / "card.json"
    with opened() as connection:  # as older versions exported it
        card.write_bytes(card_bytes(load_card(connection, find_run(connection, "last").id)))
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    done(call(runs_command, "import", card))
    result = call(calibrate, "last", "--ratings", tmp_path / "ratings.csv")
    assert "the card was imported without their scores" in str(result.exception)


def reviewed(run: str, ratings: list[dict[str, Any]]) -> None:
    """Keep a review named ``spring`` of a run, with these ratings and one of a control."""
    items = {
        f"{place:016x}": entry
        for place, entry in enumerate(dict.fromkeys(r["entry_id"] for r in ratings))
    }
    control = "f" * 16
    people = {"R0": "ANN0000A", "R1": "BEN0000B", "R2": "CX00000C"}
    key = AnswerKey(
        review="spring",
        batches=(BATCH,),
        batch_sha256={BATCH: "0" * 64},
        runs=(
            KeyRun(
                run_id=run, run_card_hash="1" * 64, dataset_id="corpus", language_pair="EN→EO",
                strata={0: len(items)}, segments={"none": len(items)},
            ),
        ),
        items={item: KeyItem(run_id=run, entry=entry, stratum=0) for item, entry in items.items()}
        | {control: KeyItem(run_id=None, entry="e0", stratum=0, control=ControlKind.BAD)},
        core=tuple(items),
        orders=dict.fromkeys(people.values(), (*items, control)),
        seed=1,
        panel="Everyone who came.",
    )  # fmt: skip
    place_of = {entry: item for item, entry in items.items()}
    with Office.open(home_folder()) as office:
        named, batches = with_batches(key, b"policy")
        office.create_review(named, b"policy", batches, [])
        with office.transaction():
            for person in people.values():
                agreed = {"consent_sha256": "0" * 64, "language": "en", "share_corrections": True}
                say(office, Consent(**who(person), **agreed))
            for each in ratings:
                rank = list(Rating)[each["rating"]]
                say(office, judged(people[each["reviewer"]], place_of[each["entry_id"]], rank))
            say(office, judged("ANN0000A", control, Rating.EXCELLENT))


def say(office: Office, payload: AnyPayload) -> None:
    append_event(office.connection, office.device, payload)


def judged(person: str, item: str, rating: Rating) -> Rate:
    return Rate(
        **who(person), item=item, rating=rating, position=0, active_ms=900, face=Face.LINES,
        version="0.1.0",
    )  # fmt: skip


def test_calibrate_review_gives_the_numbers_of_its_ratings(tmp_path: Path) -> None:
    [run] = in_store(tmp_path, 30)
    rows = list(map(json.loads, (tmp_path / "ratings.jsonl").read_text("utf-8").splitlines()))
    reviewed(run, rows)
    told = json.loads(done(call(calibrate, "--review", "spring", "--json")).stdout)
    of_file = done(call(calibrate, run, "--ratings", tmp_path / "ratings.csv", "--json"))
    assert told["measures"] == json.loads(of_file.stdout)["measures"]
    assert told["evidence"]["raters"] == 3
    assert told["evidence"]["ratings"] == 90
    assert told["evidence"]["source"]["review"] == "spring"
    assert '"e17"' not in json.dumps(told)


def unpacked(folder: Path) -> Path:
    """Take one table out of the archive, within limits, and write corpus, outputs, scores and ratings."""
    with tarfile.open(MLQE) as archive:
        member = archive.getmember("ne-en/test20.neen.df.short.tsv")
        assert member.isfile()
        assert member.size < 5_000_000
        file = archive.extractfile(member)
        assert file is not None
        lines = file.read(5_000_001).decode("utf-8").splitlines()
    names = lines[0].split("\t")
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]
    texts = {
        # the data has no references: the source stands in, and only metrics that look at none are asked for
        "corpus.jsonl": [
            json.dumps({"id": r["index"], "source": r["original"], "reference": r["original"]})
            for r in rows
        ],
        "outputs.jsonl": [json.dumps({"id": r["index"], "output": r["translation"]}) for r in rows],
        "model.tsv": [f"{r['index']}\t{math.exp(float(r['model_scores']))}" for r in rows],
        "ratings.tsv": ["entry_id\treviewer\trating"]
        + [f"{r['index']}\tR{p}\t{s}" for r in rows for p, s in enumerate(json.loads(r["scores"]))],
    }
    for name, content in texts.items():
        (folder / name).write_text("\n".join(content) + "\n", "utf-8")
    oracle = {
        "model": [math.exp(float(r["model_scores"])) for r in rows],
        "mean": [sum(json.loads(r["scores"])) / 6 for r in rows],
        "length": [len(r["translation"]) for r in rows],
    }
    (folder / "oracle.json").write_text(json.dumps(oracle), "utf-8")
    return folder


@pytest.mark.thorough
@only_with(MLQE)
def test_calibrate_real_ratings_give_the_numbers_of_scipy(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    done(
        call(score, folder / "corpus.jsonl", folder / "outputs.jsonl", "--source-language", "ne",
             "--target-language", "en", "--metrics", "comet_score,length_ratio",
             "--comet", folder / "model.tsv")
    )  # fmt: skip
    told = json.loads(
        done(
            call(
                calibrate, "last", "--ratings", folder / "ratings.tsv", "--scale", "0:100", "--json"
            )
        ).stdout
    )
    assert (told["evidence"]["outputs"], told["evidence"]["ratings"]) == (1000, 6000)
    assert told["evidence"]["raters"] == 6
    oracle = json.loads((folder / "oracle.json").read_text("utf-8"))
    rows = {row["metric"]: row for row in told["measures"]}
    for name, x in (("comet_score", oracle["model"]), ("length_only", oracle["length"])):
        for ours, theirs in (
            ("tau_b", stats.kendalltau),
            ("pearson", stats.pearsonr),
            ("spearman", stats.spearmanr),
        ):
            expected = theirs(x, oracle["mean"])[0]
            found = rows[name][ours]["value"]
            assert abs(found) == pytest.approx(abs(expected), abs=1e-6), (name, ours)
    assert rows["comet_score"]["tau_b"]["value"] == pytest.approx(0.372, abs=0.01)
    assert rows["comet_score"]["beats_length"] is True
    assert told["threshold"]["proposed"] is False
