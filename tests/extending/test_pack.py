"""A pack of metrics from outside: all follows from its table, nothing needs it once a run is stored, and its faults end none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import rosetta
from harness.core.failures import UsageError
from harness.doctor.examination import examine, pack_findings
from harness.doctor.finding import Health
from harness.run.rescoring import Explainer
from harness.setup.plan import scoring_of
from harness.setup.scoring_options import ScoringOptions
from harness.store.corpora.entries import shown_entries
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from scoring.core.inventory import in_order, inventory, metric_named, row_of, unknown_metric
from tests.extending.demo_pack import CODE, CORPUS, PROJECT, TABLE, Place, Shown, played, said
from tests.review.thorough import first
from tests.tui.screens import App, settle, text
from tests.wheels import build_wheel


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    found = Place(tmp_path / "installed", monkeypatch)
    yield found
    found.uninstall()


def test_installed_pack_is_everywhere(place: Place, capsys: Shown) -> None:
    place.install()
    first = played(capsys, "rosetta,demo")
    second = played(capsys, "rosetta,Vowels Kept", text="Ĉu?")
    scores = json.loads(said(capsys, "runs", "show", first, "--json"))
    stated = scores["scores"]
    references = [entry.reference for entry in rosetta.load(CORPUS).entries[:12]]
    there = [[each.count(vowel) for vowel in "aeiou"] for each in references]
    kept = sum(min(sum(each), 3) for each in there)  # ``La kato.`` has three
    assert stated["demo.vowels"] == pytest.approx(kept / sum(map(sum, there)))
    assert stated["signatures"]["demo.vowels"] == "vowels:aeiou|pack:demo-1.0"
    assert stated["confidence_intervals"]["demo.vowels"]["ci_upper"] >= stated["demo.vowels"]
    assert scores["scoring"]["packs"] == {"demo": "1.0"}
    assert "Vowels Kept" in said(capsys, "runs", "show", first)
    assert "seal" in said(capsys, "runs", "verify", first).lower()
    [board] = json.loads(said(capsys, "leaderboard", "--sort", "demo.vowels", "--json"))
    assert [each["run_id"] for each in board["runs"]] == [first, second]
    assert board["runs"][0]["demo.vowels"] == stated["demo.vowels"]
    assert "Vowels" in said(capsys, "compare", first, second, "--metric", "demo.vowels")
    assert rosetta.metric("demo.vowels").corpus(["kato"], ["kato sur tablo"]) == 2 / 5
    [finding] = pack_findings()
    assert (finding.name, finding.health) == ("demo", Health.OK)


def test_removed_pack_is_named_everywhere(place: Place, capsys: Shown, tmp_path: Path) -> None:
    place.install()
    run, other = played(capsys, "rosetta,demo"), played(capsys, "rosetta,demo", text="Ĉu?")
    with_it = json.loads(said(capsys, "runs", "show", run, "--json"))
    place.uninstall()

    words = "demo 1.0 is not installed: values as stated"
    assert json.loads(said(capsys, "runs", "show", run, "--json")) == with_it
    shown = said(capsys, "runs", "show", run)
    assert shown.count(words) == 1
    assert "demo.vowels" in shown
    assert run[:8] in said(capsys, "runs", "list")
    checked = said(capsys, "runs", "verify", run)
    assert "this version does not compute demo.vowels" in checked
    assert "✓ tiers and floors: as computed again" in checked
    assert words in said(capsys, "compare", run, other)
    assert words in said(capsys, "leaderboard")
    [board] = json.loads(said(capsys, "leaderboard", "--json"))
    assert board["runs"][0]["demo.vowels"] == with_it["scores"]["demo.vowels"]
    card = tmp_path / "card.json"
    said(capsys, "runs", "export", run, "-o", str(card))
    with_it.pop("beside")  # what is known of the card here is no part of it
    assert json.loads(card.read_text("utf-8")) == with_it
    said(capsys, "runs", "export", run, "--form", "csv", "-o", str(tmp_path / "rows.csv"))
    with closing(open_store()) as store:
        assert scoring_of(find_run(store, run)).metrics == ("rosetta", "demo")
    assert "there is no pack 'demo'" in said(capsys, "score", "--rescore", run, "--metrics", "demo.vowels", code=2)
    said(capsys, "runs", "delete", "--now", "--yes", run)
    said(capsys, "runs", "import", str(card))
    assert words in said(capsys, "runs", "show", run)


@pytest.mark.thorough
async def test_screens_open_without_it(place: Place, capsys: Shown, tmp_path: Path) -> None:
    place.install()
    played(capsys, "rosetta,demo")
    place.uninstall()
    app = App(None, tmp_path / "data" / "rosetta.sqlite")
    async with app.run_test(size=(160, 90)) as pilot:
        for key in ("enter", "m"):
            await settle(pilot)
            await pilot.press(key)
        await settle(pilot)
        assert "demo 1.0 is not installed: values as stated" in text(app)
        await pilot.press("escape", "enter")
        await settle(pilot)
        assert "composite" in text(app)


def test_other_version_reads_no_statistics(place: Place, capsys: Shown) -> None:
    place.install()
    first = played(capsys, "rosetta,demo")
    place.install(table=TABLE.replace('"1.0"', '"2.0"'))
    second = played(capsys, "rosetta,demo")
    words = "demo 1.0 is not installed but 2.0: values as stated"
    assert words in said(capsys, "runs", "show", first)
    assert "values as stated" not in said(capsys, "runs", "show", second)
    assert words in said(capsys, "compare", first, second, "--metric", "demo.vowels", code=2)


def test_names_of_packs_and_metrics(place: Place) -> None:
    place.install()
    assert ScoringOptions(metrics=("demo",)).wanted == {"demo.vowels"}
    assert ScoringOptions(metrics=("DEMO.Vowels", "vowels")).metrics == ("demo.vowels",)
    assert ScoringOptions(metrics=("rosetta", "demo")).wanted > {"bleu", "demo.vowels"}
    assert metric_named("Vowels Kept") == "demo.vowels"
    assert list(inventory())[-1] == "demo.vowels"
    assert in_order(["no.such", "demo.vowels", "ter", "bleu", "ter"]) == [
        "bleu", "ter", "demo.vowels", "no.such",
    ]  # fmt: skip
    assert "did you mean demo.vowels?" in unknown_metric("demo.vowel")
    assert " or demo?" in unknown_metric("dem", ["demo"])
    with pytest.raises(ValueError, match=r"there is no pack 'other' here; there are rosetta, lbrag"):
        ScoringOptions(metrics=("other.vowels",))


BROKEN = [
    (TABLE, "raise RuntimeError('no\\nluck')", "demo_vowels cannot be imported: RuntimeError: no luck"),
    (TABLE, "raise SystemExit(3)", "demo_vowels cannot be imported: SystemExit: 3"),
    (TABLE, "METRICS = {}", "METRICS has no Maker for demo.vowels"),
    (TABLE, "METRICS = {'demo.vowels': 7}", "METRICS has no Maker for demo.vowels"),
    (TABLE, "", "has no attribute 'METRICS'"),
    (TABLE.replace("low = 0.0", 'low = "no"'), CODE, "metrics.vowels.low must be a number"),
    (TABLE.replace("high = 1.0", "hihg = 1.0"), CODE, "'hihg', which means nothing"),
    (TABLE.replace('level = "both"\n', ""), CODE, "metrics.vowels has no 'level'"),
    (TABLE.replace('better = "higher"', 'better = "bigger"'), CODE, "better must be higher, lower"),
    (TABLE.replace("[metrics.vowels]", "[metrics.Vo-wels]"), CODE, "must be of a–z"),
    (TABLE.replace('version = "1.0"', "version = 1"), CODE, "pack.version must be a text"),
    ("[pack", CODE, "pack.toml beside demo_vowels: Expected ']'"),
    ("metrics = 3\n" + TABLE.split("[metrics")[0], CODE, "it has no [metrics.NAME]"),
]


def test_pack_that_does_not_work_is_named_and_breaks_nothing(place: Place) -> None:
    for table, code, words in BROKEN:
        place.install(table=table, code=code)
        [finding] = pack_findings()
        assert (finding.name, finding.health) == ("demo", Health.BROKEN)
        assert finding.words.startswith("from demo-package 0.1: ")
        assert words in finding.words
        assert [mend.split()[-2:] for mend in finding.mend] == [["uninstall", "demo-package"]]
        assert metric_named("bleu") == "bleu"
        if row_of("demo.vowels") is None:
            with pytest.raises(ValueError, match="demo"):
                ScoringOptions(metrics=("demo.vowels",))
        else:
            with pytest.raises(UsageError, match="the pack demo does not work"):
                rosetta.metric("demo.vowels").corpus(["a"], ["a"])
        place.uninstall()


def test_names_that_clash_are_named_and_taken_by_nobody(place: Place) -> None:
    place.install()
    place.offer("demo", "demo_vowels", "another")
    place.offer("lbrag", "demo_vowels", "mine")
    place.offer("gone", "demo_gone", "gone")
    place.offer("Bad.Name", "demo_vowels", "bad")
    found = {(each.name, each.words.split(": ")[0]): each.words for each in pack_findings()}
    assert "demo-package 0.1 has a pack of the same name" in found["demo", "from another 0.1"]
    assert "another 0.1 has a pack of the same name" in found["demo", "from demo-package 0.1"]
    assert "the program's own lbrag has the name already" in found["lbrag", "from mine 0.1"]
    assert "there is no module demo_gone" in found["gone", "from gone 0.1"]
    assert "must be of the letters" in found["Bad.Name", "from bad 0.1"]
    assert len(found) == 5
    assert row_of("demo.vowels") is None
    assert row_of("lbrag.vowels") is None


def test_task_is_scored_by_its_pack(place: Place, capsys: Shown, tmp_path: Path) -> None:
    languages = {"source_language": "en", "target_language": "eo", "language_pair": "EN→EO"}
    references = ["la kato" if n % 2 else f"numero {n}" for n in range(1, 7)]
    entries = [
        {"id": n, "source": f"Which number is {n}?", "reference": reference}
        for n, reference in enumerate(references, 1)
    ]
    corpus = tmp_path / "asked.json"
    corpus.write_text(json.dumps({"dataset": {"id": "asked", **languages, "task": "qa"}, "entries": entries}), "utf-8")
    for number, text_ in enumerate(["La kato!", "numero"]):
        outputs = tmp_path / f"{number}.txt"
        outputs.write_text(f"{text_}\n" * 6, "utf-8")
        asked = ["--metrics", "lbrag,bleu"] if number else []
        said(capsys, "score", str(corpus), str(outputs), *asked)
    with closing(open_store()) as store:
        second, first = (each.run_id for each in list_runs(store))
    card = json.loads(said(capsys, "runs", "show", first, "--json"))
    assert (card["scoring"]["packs"], card["scores"]["lbrag.em"]) == ({"lbrag": "1.0"}, 1 / 2)
    assert {id_.partition(".")[0] for id_ in card["scores"]["reasons"]} == {"lbrag"}
    for run in (first, second):
        checked = said(capsys, "runs", "verify", run)
        assert "✗" not in checked
        assert "✓ no tier and no floors" in checked
    compared = said(capsys, "compare", first, second)
    assert "not compared by BLEU" in compared
    assert "F1 of Answers" in compared
    with closing(open_store()) as store:
        assert scoring_of(find_run(store, first)).metrics == ("lbrag",)


def test_translation_run_looks_at_no_installed_package(place: Place, capsys: Shown, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    def looked(group: str) -> None:
        raise AssertionError(group)

    monkeypatch.setattr("scoring.core.packs.offered", looked)
    assert "chrF++" in said(capsys, "run", str(CORPUS), "-m", "copy-source", "--limit", "3", "--metrics", "rosetta")


@pytest.mark.thorough
def test_a_wheel_of_it_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """The program and the pack are installed from their wheels; the libraries are those of this environment."""
    pytest.importorskip("hatchling")
    pytest.importorskip("pip")
    (folder := tmp_path / "project" / "demo_vowels").mkdir(parents=True)
    (folder / "__init__.py").write_text(CODE, "utf-8")
    (folder / "pack.toml").write_text(TABLE, "utf-8")
    (folder.parent / "pyproject.toml").write_text(PROJECT, "utf-8")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheels")],
        cwd=tmp_path / "project", check=True, capture_output=True,
    )  # fmt: skip
    [pack] = (tmp_path / "wheels").glob("demo_vowels-*.whl")
    ours = build_wheel(tmp_path / "ours")
    made = tmp_path / "made"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    python = made / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    [site] = made.rglob("site-packages")
    libraries = "\n".join(each for each in sys.path if each.endswith("site-packages"))
    (site / "libraries.pth").write_text(libraries, "utf-8")

    def pip(*arguments: str) -> None:
        line = [sys.executable, "-m", "pip", "--python", str(python), *arguments]
        subprocess.run(line, check=True, capture_output=True)

    def ran(*arguments: str) -> str:
        line = [str(python.with_name("rosetta")), *arguments]
        done = subprocess.run(
            line, env={"ROSETTA_HOME": str(tmp_path / "data"), "PATH": ""}, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    pip("install", "--no-deps", "--no-index", str(ours), str(pack))
    where = [str(python), "-P", "-c", "import harness, demo_vowels; print(harness.__file__)"]
    found = subprocess.run(where, check=True, capture_output=True, text=True).stdout
    assert str(made) in found, "the program is the wheel's"
    ran("run", str(CORPUS), "-m", "copy-source", "--limit", "8", "--metrics", "rosetta,demo.vowels")
    [listed] = json.loads(ran("runs", "list", "--json"))
    before = ran("runs", "show", listed["run_id"])
    assert "Vowels Kept" in before
    assert "demo" in ran("doctor")
    pip("uninstall", "--yes", "demo-vowels")
    after = ran("runs", "show", listed["run_id"])
    assert "demo 1.0 is not installed: values as stated" in after
    assert "Vowels Kept" not in after


# packs whose code fails in a run

FAILING = CODE.replace(
    "        there = sum",
    "        if translation.entry.id in FAILS:\n"
    "            raise KeyError(translation.entry.reference)\n"
    "        there = sum",
).replace(
    "    def stats(self",
    "    def compared(self, translation):\n"
    "        return [('entry', FAILS.index(translation.entry.id), None, 1)]\n\n"
    "    def stats(self",
)
NAN = CODE.replace("return (min(kept, there), there)", "return WHAT")


@pytest.mark.costly("runs a failing pack through card, screens of text, doctor and explainer")
def test_failed_entry_is_counted(place: Place, capsys: Shown, tmp_path: Path) -> None:
    place.install()
    whole = played(capsys, "rosetta,demo")
    entries = rosetta.load(CORPUS).entries[:12]
    place.install(code=FAILING + f"\nFAILS = {[each.id for each in entries[3:5]]}\n")
    run = played(capsys, "rosetta,demo")
    shown = said(capsys, "runs", "show", run)
    card = json.loads(said(capsys, "runs", "show", run, "--json"))
    assert card["scores"]["demo.vowels_raised"] == 2
    rows = card["results"]
    assert [row["statistics"]["demo.vowels"] for row in rows[3:5]] == [[], []]
    sound = json.loads(said(capsys, "runs", "show", whole, "--json"))
    counts = [row["statistics"]["demo.vowels"] for row in sound["results"]]
    there = [two for place_, two in enumerate(counts) if place_ not in (3, 4)]
    expected = sum(kept for kept, _ in there) / sum(of for _, of in there)
    assert card["scores"]["demo.vowels"] == pytest.approx(expected, abs=1e-12)
    assert card["scores"]["chrf_plus_plus"] == sound["scores"]["chrf_plus_plus"]
    assert "demo_raised" not in sound["scores"]
    assert "2 entries without a value: the code of its pack failed" in " ".join(shown.split())
    assert all(each.reference not in shown for each in entries[3:5])
    assert "✗" not in said(capsys, "runs", "verify", run)
    assert "Vowels" in said(capsys, "compare", whole, run, "--metric", "demo.vowels")
    file = tmp_path / "card.json"
    said(capsys, "runs", "export", run, "-o", str(file))
    assert "✗" not in said(capsys, "runs", "verify", str(file))
    findings = [each for each in examine(tmp_path / "data") if each.area == "Metric packs"]
    [found] = [each for each in findings if "failed" in each.words]
    assert found.health is Health.BROKEN
    assert "demo.vowels failed at 2 entries of run " + run[:8] in found.words
    with closing(open_store()) as store:
        stored = find_run(store, run)
        corpus = shown_entries(store, stored.corpus, stored.positions)
        explainer = Explainer(store, stored)
        results = list(read_results(store, stored.id))
        found_of = [explainer.explain(corpus[each.position], each) for each in results[3:6]]
        explainer.close()
    words = ("The code of its pack fails at this entry (KeyError), so it has no value.",)
    assert [each.sentences.get("demo.vowels") for each in found_of] == [words, words, None]
    beside = [row for each in found_of for row in each.compared]
    assert beside == [("entry", "0", "None", True), ("entry", "1", "None", True)]


@pytest.mark.parametrize(
    "given", first(1, ["(float('nan'), 1)", "(1,)", "('a', 2)", "7", "(1e300, 1e300)", "[[1], [2]]", "(None, 1)"])
)
def test_bad_statistics_end_no_run(place: Place, capsys: Shown, given: str) -> None:
    place.install(code=NAN.replace("WHAT", given))
    scores = json.loads(said(capsys, "runs", "show", played(capsys, "demo"), "--json"))["scores"]
    assert (scores["demo.vowels"], scores["demo.vowels_raised"]) == (None, 12)
    assert "failed at 12 entries" in scores["reasons"]["demo.vowels"]


@pytest.mark.parametrize(
    ("more", "value"),
    first(
        2,
        [
            ("    def values(self, totals):\n        raise ValueError\n", None),
            ("    def further(self, total):\n        return {'composite': 1.0, 'seal': 'x'}\n", 0.0),
            ("    def stats_many(self, translations):\n        raise MemoryError\n", 0.0),
            ("    def values(self, totals):\n        return [[1.0]] * len(totals)\n", None),
            ("    def further(self, total):\n        raise ValueError\n", 0.0),
            ("    def stats_many(self, translations):\n        return []\n", 0.0),
        ],
    ),
)
def test_bad_parts_end_no_run(place: Place, capsys: Shown, more: str, value: float | None) -> None:
    place.install(code=CODE.replace("\n\nMETRICS", "\n" + more + "\n\nMETRICS"))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "demo", "!"), "--json"))
    assert (card["scores"]["demo.vowels"], card["scores"]["composite"]) == (value, None)


WHOLE = """
from scoring.core.metric import CorpusMetric
class Vowels(CorpusMetric):
    info = pack_metric("demo.vowels")
    signature = why_missing = "vowels"
    def corpus_value(self, translations):
        raise RecursionError("no end")
METRICS"""


def test_failing_signature_or_corpus_metric_has_no_value(place: Place, capsys: Shown) -> None:
    place.install(code=CODE.replace('signature = "vowels:aeiou"', "signature = property(len)"))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "chrf,demo"), "--json"))
    assert "does not make it: TypeError" in card["scores"]["reasons"]["demo.vowels"]
    table = TABLE.replace('level = "both"', 'level = "corpus"')
    place.install(table=table, code=CODE.replace("METRICS", WHOLE, 1))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "chrf,demo"), "--json"))
    assert card["scores"]["demo.vowels"] is None
    assert card["scores"]["chrf_plus_plus"] > 0
