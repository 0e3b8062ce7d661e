"""``rosetta submission run`` and ``tell``: what can be refused is refused before a vault is opened, and nothing is overwritten."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import filelock
import pytest
from click.testing import CliRunner

from corpora.files.problems import CorpusError, Problem, Severity
from corpora.samples import DEMO_CORPUS, sample_path
from harness.api import Ready
from harness.core.failures import HarnessError, RunState
from harness.run.events import Finished
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from harness.store.sqlite.database import opened
from harness.store.sqlite.openings import Live
from harness.submission import UNPACKED
from harness.submission.desk import LOCK, SubmissionEvent, SubmissionStore
from harness.submission.rehearsal import ModelHere
from rosetta_tui.commands import rosetta
from rosetta_tui.home.panels import waiting_runs
from tests.harness.submission.made import MAKER, resigned, sample_bundle
from tests.tui.commands.submission_desk import CANARY, IN_VAULT, Desk, gold, rehearsed

LANE = {"lane": "data", "method": "chat", "options": {"temperature": 0.0}, "files": {}, "made_for": "tiny-7b"}


FORBIDDEN = (
    ("http://192.0.2.1/v1", "tiny", "is on another machine"),
    ("http://127.0.0.1:9/v1", "tiny:cloud", "or of a cloud"),
    ("http://127.0.0.1:9/v1", "tiny", "--trust-local-server"),
)


def test_submission_with_a_forbidden_model_sends_no_secret(desk: Desk) -> None:
    """Neither out of a vault, nor in a rehearsal where a secret sentence is an open one too."""
    path = desk.folder / "tiny.rosetta-submission"
    path.write_bytes(resigned(path.read_bytes(), {}, method=LANE, by=MAKER.public.signing_key))
    know_as_secret(desk, 0)
    before = desk("vault log elders")
    for endpoint, model, words in FORBIDDEN:
        asked = f"submission run {path.name} --endpoint {endpoint} --model {model}"
        assert words in desk(f"{asked} --plain", code=2)
        rehearsed(desk, with_=str(ModelHere(endpoint, model)))
        assert words in desk(asked, *IN_VAULT, code=2)
    assert desk("vault log elders") == before
    assert desk.notes() == [SubmissionEvent.RECEIVED, *[SubmissionEvent.REHEARSED] * 3]


def test_submission_code_without_a_box_opens_no_vault(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    code: dict[str, bytes | None] = {"code/asking.py": b"translate = list", "data/words.tsv": None}
    lane = {"lane": "code", "entry": "asking:translate", "options": {}}
    path = desk.folder / "tiny.rosetta-submission"
    path.write_bytes(resigned(path.read_bytes(), code, method=lane, by=MAKER.public.signing_key))
    rehearsed(desk)
    before = desk("vault log elders")

    def none() -> None:
        raise HarnessError("No box can be made on this computer.")

    monkeypatch.setattr("harness.box.engines.find_engine", none)
    assert "No box" in desk(f"submission run {path.name}", *IN_VAULT, code=2)
    assert desk("vault log elders") == before
    assert desk.notes() == [SubmissionEvent.RECEIVED, SubmissionEvent.REHEARSED]


def test_submission_answer_in_the_pause_opens_no_vault(desk: Desk) -> None:
    rehearsed(desk)
    for _ in range(2):
        desk("submission run tiny.rosetta-submission", *IN_VAULT)
    assert desk.notes()[-1] is SubmissionEvent.SCORED
    before = desk("vault log elders")
    again = IN_VAULT[3:-1]
    said = desk("submission tell tiny.rosetta-submission", *again, code=1)
    assert "Its scores are not released now" in said
    assert desk("vault log elders") == before
    [kept] = SubmissionStore(desk.home).all()
    told = f"Next: rosetta submission tell {kept.number} --vault {desk.folder / 'elders'} --purpose WORDS"
    assert told in desk(f"submission show {kept.number}")
    desk("vault budget --pause 0")
    full = desk("submission tell tiny.rosetta-submission", *again, "-o", "x" * 250, code=2)
    assert f"the same again, which does not count: rosetta submission tell {kept.number}" in full
    assert "the same answer as before" in desk("submission tell tiny.rosetta-submission", *again)
    assert desk("vault log elders") != before
    assert desk.answers() == 2


@pytest.mark.parametrize("known", [True, False])
def test_submission_over_withdrawn_corpus_opens_no_vault(desk: Desk, known: bool) -> None:
    """By what the store has of it, or where it has nothing by its name in the languages of the submission."""
    rehearsed(desk)
    if known:
        desk("run eo-gold --method copy-source", *IN_VAULT[3:])
    else:
        gold(desk.folder)
    said = ["--reason", "asked", "--by", "Council"]
    desk(f"community withdraw --corpus {'eo-gold --vault elders --purpose x' if known else 'gold.json'}", *said)
    before = desk("vault log elders")
    asked = ["submission run tiny.rosetta-submission"]
    for ask in asked + ["run --method copy-source"] * known:
        options = IN_VAULT if ask in asked else ("eo-gold", *IN_VAULT[3:])
        assert "Corpus eo-gold: consent was withdrawn" in desk(ask, *options, code=2)
    assert desk("vault log elders") == before
    assert desk.stands() == ("rehearsed", 0, 0)


def test_submission_lists_and_a_stopped_demo_leave_nothing(bare: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    bare("vault init elders --name Elders --as Office --recovery rec.txt")
    bare("vault list elders")
    bare("submission show")
    assert not (bare.home / "rosetta.sqlite").exists()
    monkeypatch.setattr("harness.submission.folder.pack_folder", stopped)
    bare("submission demo tiny --lane data", code=1)
    assert not list(bare.folder.glob("tiny*"))


def test_submission_overwrites_no_file(desk: Desk) -> None:
    desk("submission show tiny.rosetta-submission")
    path = gold(desk.folder)
    desk(f"run {path} --method copy-source --plain")
    said = desk("submission pack tiny --card last --overwrite", code=2)
    assert "Choose an open run of the method: rosetta runs list" in said
    whole = path.read_bytes()
    rehearsal = "submission run tiny.rosetta-submission --plain -o told.json"
    assert "-o goes with CORPUS" in desk(rehearsal, code=2), "nothing would be written"
    ask = f"submission run tiny.rosetta-submission {path} --plain"
    assert "gold.json is there already" in desk(f"{ask} --terms tiny-terms.txt -o {path}", code=2)
    assert "is there already" in desk(f"submission tell tiny.rosetta-submission -o {path}", code=2)
    assert "needs --terms FILE" in desk(ask, code=2)
    assert "not a folder that you may write to" in desk(f"{ask} --terms tiny-terms.txt -o none/told.json", code=2)
    assert path.read_bytes() == whole
    assert desk.notes() == [SubmissionEvent.RECEIVED]


def test_submission_told_stays_told(desk: Desk) -> None:
    rehearsed(desk)
    path = gold(desk.folder)
    ask = f"submission run tiny.rosetta-submission {path} --terms tiny-terms.txt --plain"
    desk(ask)
    assert desk.stands() == ("told", 1, 1)
    path.write_text("{", "utf-8")
    desk(ask, code=2)
    desk("submission run tiny.rosetta-submission none.json --terms tiny-terms.txt", code=2)
    assert desk.notes()[-1] is SubmissionEvent.NOT_BEGUN
    assert desk.stands() == ("told", 1, 1)
    [kept] = SubmissionStore(desk.home).all()
    SubmissionStore(desk.home).note(kept.submission, SubmissionEvent.REHEARSED)
    assert desk.stands() == ("told", 1, 1)
    gold(desk.folder)
    desk(ask)
    assert desk.stands() == ("scored", 2, 1)
    SubmissionStore(desk.home).note(kept.submission, SubmissionEvent.BEGUN)
    assert desk.stands() == ("begun", 3, 1)
    SubmissionStore(desk.home).note(kept.submission, SubmissionEvent.NOT_RUN)
    assert desk.stands() == ("scored", 3, 1)


def test_submission_run_that_ends_early_is_noted_as_such(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of an error may hold a sentence, so its note says that it ended and no more."""
    ask = "submission run tiny.rosetta-submission"
    over_gold = f"{ask} {gold(desk.folder)} --terms tiny-terms.txt --plain"
    part = "rosetta_tui.commands.submission.secret_run"
    rehearsed(desk)

    def stopped(*_: object, **__: object) -> None:
        raise click.Abort

    def ended(ready: Ready, *_: object) -> tuple[Finished, int]:
        return Finished(ready.run_id, RunState.STOPPED, 0, 0, 30, 1.0), 130

    def failing(*_: object) -> None:
        raise CorpusError([Problem(Severity.ERROR, "gold.json", CANARY, "Correct it.")])

    with monkeypatch.context() as patch:
        patch.setattr(f"{part}.read_corpus", stopped)
        desk("submission run tiny.rosetta-submission", *IN_VAULT, code=1)
    assert desk.notes()[-1] is SubmissionEvent.NOT_BEGUN
    assert desk.stands() == ("rehearsed", 0, 0)
    monkeypatch.setattr(f"{part}.to_the_end", ended)
    desk(over_gold, code=130)
    assert desk.notes()[-1] is SubmissionEvent.NOT_RUN
    monkeypatch.setattr(f"{part}.to_the_end", failing)
    desk(over_gold, code=2)
    assert desk.stands() == ("not_run", 2, 0)
    [kept] = SubmissionStore(desk.home).all()
    said = desk(f"submission show {kept.number}")
    assert "This program ended on the way" in said
    assert "CorpusError" not in said
    assert CANARY not in (kept.folder / "notes.jsonl").read_text("utf-8")


@pytest.mark.costly("two rehearsals, each its own run")
def test_submission_rehearsal_tells_no_secret_of_elsewhere(desk: Desk) -> None:
    """What the maker may be sent is the same as of a desk that keeps no such sentence; nothing open of the run stays."""
    ask = ["submission", "run", "tiny.rosetta-submission", "--rehearse-again", "--plain"]
    before = CliRunner().invoke(rosetta, ask)
    know_as_secret(desk, 0)
    listed = desk("runs list --json")
    after = CliRunner().invoke(rosetta, ask)
    assert (before.exit_code, after.exit_code) == (0, 0), after.output
    assert timeless(after.stdout) == timeless(before.stdout)
    assert "nothing has to be erased" in after.stderr
    assert "nothing has to be erased" not in before.stderr
    assert desk("runs list --json") == listed
    [kept] = SubmissionStore(desk.home).all()
    assert [(e.what, bool(e.run)) for e in kept.notes[1:]] == [(SubmissionEvent.REHEARSED, True), (SubmissionEvent.REHEARSED, False)]  # fmt: skip
    assert not [*(kept.folder / "unpacked").iterdir()]


def test_submission_run_that_was_cut_is_run_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its vault stays shut, and wherever a way on is said, it is the one that works."""
    rehearsed(desk)
    ready: list[Ready] = []

    def failing(given: Ready, *_: object) -> None:
        ready.append(given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("rosetta_tui.commands.submission.secret_run.to_the_end", failing)
        desk("submission run tiny.rosetta-submission", *IN_VAULT, code=1)
    [begun] = ready
    with opened(begun.path) as connection:
        set_live(connection, begun.number, RunState.STOPPED, Live())
        [line] = [run for run in list_runs(connection) if run.state is RunState.STOPPED]
    [kept] = SubmissionStore(desk.home).all()
    assert line.submission == kept.number
    assert not list(waiting_runs([line]))
    before = desk("vault log elders")
    again = f"rosetta submission run {kept.number}"
    short = begun.run_id[:8]
    for verb in ("resume", "retry"):
        assert again in desk(f"{verb} {short}", *IN_VAULT[3:-1], code=2)
    assert desk("vault log elders") == before
    for verb in ("runs list", f"runs show {short}"):
        said = desk(verb)
        assert again in said
        assert "rosetta resume" not in said
    assert again in desk(f"runs export {short} -o card.json", code=2)


def know_as_secret(desk: Desk, entry: int) -> None:
    """Have a run over secret entries, one of which has the source of an entry of the open corpus."""
    path = gold(desk.folder)
    read, open_ = (json.loads(each.read_text("utf-8")) for each in (path, sample_path(DEMO_CORPUS)))
    read["entries"][3]["source"] = open_["entries"][entry]["source"]
    path.write_text(json.dumps(read), "utf-8")
    desk(f"run {path} --method copy-source --plain")


def test_submission_obeys_stricter_terms_of_before(desk: Desk) -> None:
    read = json.loads(sample_path(DEMO_CORPUS).read_text("utf-8"))
    read["dataset"]["transmission"] = "ask"
    Path("stricter.json").write_text(json.dumps(read), "utf-8")
    know_as_secret(desk, 11)
    desk("run stricter.json --method copy-source --limit 1 --plain")
    said = desk("submission run tiny.rosetta-submission --plain", code=2)
    assert "known here as" in said
    assert "under stricter terms" in said
    assert desk.notes() == [SubmissionEvent.RECEIVED]


def test_submission_leftovers_go_with_the_next_command(desk: Desk) -> None:
    desk("submission show tiny.rosetta-submission")
    [kept] = SubmissionStore(desk.home).all()
    left = kept.folder / UNPACKED / "tmp1" / "rehearsal.sqlite-wal"
    left.parent.mkdir(parents=True)
    left.write_text(CANARY, "utf-8")
    with filelock.FileLock(kept.folder / LOCK):
        desk("submission show")
        assert left.exists()
    desk("submission show")
    assert not left.parent.exists()


def timeless(said: str) -> str:
    """What is printed of a run, without its times and ids, and without its progress, which comes by the clock."""
    said = re.sub(r"^-- \d+ of \d+.*\n", "", said, flags=re.MULTILINE)
    times = r"\b[0-9a-f]{8}(-[0-9a-f]{4,12}){0,4}\b|[\d.,]+ ?(ms|s|/s|entries/s|entries a second)\b"
    return re.sub(times, "·", said)


NO_SUBMISSION = [
    ("tiny", "tiny: a folder, and a submission is one file."),
    ("tiny/card.json", "card.json: a run card, where a submission is needed. Pack one"),
    ("tiny/README.md", "README.md: another file, where a submission is needed"),
    ("cut.rosetta-submission", "cut.rosetta-submission: This file is cut short"),
    ("none.rosetta-submission", "none.rosetta-submission: it cannot be read"),
]


def test_submission_verbs_name_what_is_no_submission(desk: Desk) -> None:
    bundle = (desk.folder / "tiny.rosetta-submission").read_bytes()
    (desk.folder / "cut.rosetta-submission").write_bytes(bundle[:-30])
    for name, words in NO_SUBMISSION:
        for verb in ("check", "run", "show"):
            assert words in desk(f"submission {verb} {name}", code=2)
    none = "none: no folder. Name that of the method"
    assert none in desk("submission pack none", code=2)


def test_submission_hints_for_a_folder_can_be_typed(desk: Desk) -> None:
    """Each line is typed as it stands until there is a file; a card that is missing is all that is left to be named."""
    sample_bundle(folder := desk.folder / "my tiny")
    pack, anew = "rosetta submission pack 'my tiny'", " --overwrite"

    def said() -> str:
        return desk("submission check", "my tiny", code=2).rstrip()

    assert said().endswith(f"Pack it: {pack}")
    desk("", *shlex.split(pack)[1:])
    assert said().endswith(f"Name my tiny.rosetta-submission next to it, or pack it again: {pack}{anew}")
    desk("", *shlex.split(pack + anew)[1:])
    desk("submission check", "my tiny.rosetta-submission", code=1)  # no terms are accepted in it
    (folder / "card.json").rename("card.json")
    assert f"{pack}{anew} --card CARD, where CARD is a run card over open entries" in said()
    (folder / "submission.toml").unlink()
    assert "no submission.toml, so it cannot be packed either: rosetta submission demo" in said()


def test_submission_is_rehearsed_with_each_model(desk: Desk) -> None:
    rehearsed(desk, with_=str(ModelHere("http://localhost/v1", "a")))
    [kept] = SubmissionStore(desk.home).all()
    assert kept.rehearsed
    assert kept.rehearsed_with("a at http://localhost/v1")
    assert not kept.rehearsed_with("b at http://localhost/v1")
    assert not kept.rehearsed_with("")
