"""``rosetta submission``: from a newcomer's demo to what its maker is told; whose fault an end is, and what it costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness import api
from harness.core.failures import HarnessError
from harness.sealed.keys import key_phrase
from harness.store.sqlite.database import open_store
from harness.submission.bundle import parse_submission
from harness.submission.desk import SubmissionEvent, SubmissionStore
from harness.submission.rehearsal import ModelHere
from harness.vault.opening import VaultOpening
from review.office.results.whole_way import STEPS
from rosetta_tui.app import display
from rosetta_tui.front import WAITING
from scoring.card.caveats import CaveatKind
from tests.harness.box.making import needs_engine
from tests.harness.scripted import Scripted, completion, json_answer, serving
from tests.harness.shipped_methods.tiny_model import tiny_model
from tests.harness.submission.made import MAKER, resigned
from tests.review.thorough import first
from tests.tui.commands.submission_desk import CANARY, IN_VAULT, Desk, gold, readable, rehearsed
from tests.tui.review.line_driver import environment
from tests.walks.shell import MAIN


@pytest.mark.costly("the rehearsal, the vault and what its maker is told, in one walk")
def test_submission_of_data_goes_the_whole_way(desk: Desk) -> None:
    told = desk.json("submission check tiny.rosetta-submission", "submission-check")
    assert told["complete"]
    assert told["lane"] == "data"
    said = desk("submission run tiny.rosetta-submission --plain")
    assert "Its claim holds here, within 2 %." in said
    assert "cost free" in said
    assert "cost unknown" not in said
    assert "Next, over secret texts" in said
    said = desk("submission run tiny.rosetta-submission -o told.json", *IN_VAULT)
    assert "It was rehearsed before" in said
    card = json.loads((desk.folder / "told.json").read_text("utf-8"))
    assert card["submitter"] == "A newcomer"
    assert set(card["caveats"]) == set(CaveatKind)
    assert card["corpus"]["id"] == "eo-gold"
    [row] = desk.json("submission show", "submission-list")["submissions"]
    assert (row["state"], row["runs"], row["answers"]) == ("told", 1, 1)
    assert "d.rosetta-submission, allowed once" not in desk("vault log elders")
    assert "tiny.rosetta-submission" in (log := desk("vault log elders"))
    assert "ask " not in log
    assert not readable(desk.home)
    steps = desk.steps()
    assert [name for name, done in steps.items() if not done] == list(STEPS[6:])
    shown = desk(f"submission show {row['number']}")
    assert f"--for LAPTOP-FILE --vault {desk.folder / 'elders'} --purpose WORDS" in shown


def test_submission_with_a_false_claim_asks_no_keeper(desk: Desk) -> None:
    (desk.folder / "tiny" / "data" / "words.tsv").write_text("source\ttarget\nthe\tla\n", "utf-8")
    (desk.folder / "tiny.rosetta-submission").unlink()
    desk("submission pack tiny --accept-terms tiny-terms.txt")
    before = desk("vault log elders")
    said = desk("submission run tiny.rosetta-submission", *IN_VAULT, code=1)
    assert "Its claim does not hold here, so no keeper is asked" in said
    assert desk("vault log elders") == before
    assert desk.notes() == [SubmissionEvent.RECEIVED, SubmissionEvent.NOT_REPEATED]
    assert not desk.steps()["rehearsed"]


def test_submission_without_terms_sees_no_secret_text(desk: Desk) -> None:
    (desk.folder / "tiny.rosetta-submission").unlink()
    assert "✗ terms" in desk("submission pack tiny")
    assert not desk.json("submission check tiny.rosetta-submission", "submission-check", 1)["complete"]
    rehearsed(desk)
    ask = f"submission run tiny.rosetta-submission {gold(desk.folder)} --terms"
    assert "terms: not accepted" in desk(f"{ask} tiny-terms.txt", code=2)
    desk("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    (desk.folder / "others.txt").write_text("Other terms", "utf-8")
    assert "others were accepted" in desk(f"{ask} others.txt", code=2)


def test_submission_run_refuses_wrong_usage(desk: Desk) -> None:
    rehearsed(desk)
    run = "submission run tiny.rosetta-submission"
    said = desk(f"{run} {sample_path(DEMO_CORPUS)} --terms tiny-terms.txt --plain", code=2)
    assert "These entries are open" in said
    assert desk.notes()[-1] is SubmissionEvent.NOT_BEGUN
    assert "--vault goes with CORPUS" in desk(f"{run} --vault elders --purpose x", code=2)
    assert "no submission has a number" in desk("submission show ffff", code=2)
    said = desk("submission tell tiny.rosetta-submission", code=2)
    assert "has no run over secret entries" in said


TOLD = "--terms tiny-terms.txt --plain -o told.json"
TWO_OF_THREE = "--name Elders --as Office --threshold 2 --recovery rec2.txt --keeper School.rosetta-keeper"
TOGETHER = ("eo-gold", "--terms", "tiny-terms.txt", "--vault", "together", "--purpose", "spring", "--despite-network", "a test", "--plain")  # fmt: skip
"""A run over a vault of which the school opens its part elsewhere."""


def granted(desk: Desk) -> None:
    """Ask the keepers of a vault for a run of the submission, and have the school allow it."""
    rehearsed(desk)
    notes, patch = desk.notes(), pytest.MonkeyPatch()
    with patch.context() as school:
        school.setenv("ROSETTA_HOME", str(desk.folder / "school"))
        desk("vault card School.rosetta-keeper")
    desk(f"vault init together {TWO_OF_THREE}")
    desk(f"vault add together {gold(desk.folder)}")
    said = desk("submission run tiny.rosetta-submission", *TOGETHER, code=WAITING)
    assert "Written: tiny.rosetta-request. 2 keepers must allow it: Office, and 1 more of" in said
    assert desk.notes() == notes
    with patch.context() as school:
        school.setenv("ROSETTA_HOME", str(desk.folder / "school"))
        desk("vault grant answer together tiny.rosetta-request")
    (desk.folder / "gold.json").unlink()


def test_submission_grant_is_used_once_though_cut(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the opening and the run's beginning: the desk knows of it, the grant is gone, nothing is readable."""
    granted(desk)

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(api, "start", killed)
        with pytest.raises(Killed):
            desk("submission run tiny.rosetta-submission", *TOGETHER)
    assert desk.notes()[-1] is SubmissionEvent.BEGUN
    assert "begun and cut" in desk(f"submission show {SubmissionStore(desk.home).all()[0].number}")
    assert not readable(desk.home)
    assert "Waiting for the keepers" in desk("submission run tiny.rosetta-submission", *TOGETHER, code=WAITING)
    assert desk.stands() == ("begun", 1, 0)


@pytest.mark.costly("makes a vault of several keepers, and a process that is killed")
@pytest.mark.parametrize("lines", first(1, range(1, 30, 4)))
def test_submission_killed_opens_once_and_leaves_nothing(desk: Desk, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The process is killed outright after so many lines over secret entries; the same grant opens nothing again."""
    granted(desk)
    words = ("submission", "run", "tiny.rosetta-submission", *TOGETHER)
    ended = killed_after(desk.home, lines, *words)
    assert ended in (-signal.SIGKILL, 0)  # 0: it came to its end before
    assert not readable(desk.home)
    desk("submission run tiny.rosetta-submission", *TOGETHER, code=WAITING)
    assert desk("vault log together").count("opened 'eo-gold'") == 1
    assert desk.answers() == (ended == 0)


def killed_after(home: Path, lines: int, *words: str) -> int:
    """Start the program, kill it after so many lines over secret entries, and return the code with which it ended."""
    where = environment(home) | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([*MAIN, *words], env=where, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:  # fmt: skip
        assert running.stdout is not None
        seen = (line for line in running.stdout if "secret" in line)
        for _ in range(lines):
            next(seen, None)
        running.kill()
        return running.wait()


def test_submission_grant_is_for_one_bundle(desk: Desk) -> None:
    """Another bundle under the same name has another hash."""
    granted(desk)
    (desk.folder / "tiny" / "README.md").write_text("# Other\n\n## Limitations\n\nIt is another one than that of before.\n")  # fmt: skip
    desk("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    rehearsed(desk)
    said = desk("submission run tiny.rosetta-submission", *TOGETHER, code=WAITING)
    assert "Written: tiny-2.rosetta-request" in said
    assert "opened 'eo-gold'" not in desk("vault log together")


@pytest.mark.costly("loads a translation engine")
def test_submission_of_a_model_runs_on_own_engine(desk: Desk) -> None:
    pytest.importorskip("ctranslate2", reason="the extra engine is not installed")
    (desk.folder / "tiny.rosetta-submission").unlink()
    model = tiny_model(desk.folder / "tiny" / "data" / "model")
    (desk.folder / "tiny" / "data" / "words.tsv").unlink()
    sheet = desk.folder / "tiny" / "submission.toml"
    lane = 'method = "ctranslate2"\nfiles = { model_folder = "data/model" }'
    told = sheet.read_text("utf-8").replace('method = "glossary"', lane)
    sheet.write_text(told.replace('files = { glossary = "data/words.tsv" }\n', ""), "utf-8")
    desk(f"run {sample_path(DEMO_CORPUS)} --method ctranslate2 --model-folder {model} --limit 12 --plain")
    said = desk("submission pack tiny --card last --accept-terms tiny-terms.txt")
    assert "for the method ctranslate2; no code" in said
    rehearsed(desk)
    desk(f"submission run tiny.rosetta-submission {gold(desk.folder)} {TOLD}")
    card = json.loads((desk.folder / "told.json").read_text("utf-8"))
    assert card["method"]["method"] == "ctranslate2"
    assert card["caveats"]["repeated"]  # it says the same whatever it is asked
    packed = (desk.folder / "tiny.rosetta-submission").read_bytes()
    weights = parse_submission(packed).members["data/model/model.bin"]
    path = desk.folder / "cut.rosetta-submission"
    path.write_bytes(resigned(packed, {"data/model/model.bin": weights[:200]}, by=MAKER.public.signing_key))
    rehearsed(desk, path.name)
    desk("vault budget --pause 0")
    desk(f"submission run {path.name} {gold(desk.folder)} {TOLD.replace('told', 'cut')}")
    refused = json.loads((desk.folder / "cut.json").read_text("utf-8"))
    assert (refused["stage"], refused["came"]) == ("load", "none")
    assert desk.answers() == 2


@needs_engine
@pytest.mark.costly("makes a real box")
def test_submission_of_code_runs_in_a_box(bare: Desk) -> None:
    bare("submission demo tiny")
    rehearsed(bare)
    assert "it runs in a box" in bare("submission check tiny.rosetta-submission")
    said = bare(f"submission run tiny.rosetta-submission {gold(bare.folder)} {TOLD}")
    assert "cost unknown" not in said
    assert CANARY not in said
    card = json.loads((bare.folder / "told.json").read_text("utf-8"))
    assert card["method"]["method"] == "submission"
    assert bare.answers() == 1
    assert os.listdir(SubmissionStore(bare.home).all()[0].folder / "unpacked") == []  # noqa: PTH208
    assert not bare.steps()["speakers are asked"]


@needs_engine
@pytest.mark.costly("makes a real box")
def test_submission_code_that_fails_tells_no_secret(bare: Desk) -> None:
    """It says the text in every way it has: as an error, on standard error, as its exit."""
    bare("submission demo tiny")
    file = bare.folder / "tiny" / "code" / "word_by_word.py"
    shout = f"        if '{CANARY[:7]}' '{CANARY[7:]}' in texts[0]:\n            print(texts[0])\n            raise SystemExit(texts[0])\n"
    file.write_text(file.read_text("utf-8").replace("        return [re.sub", f"{shout}        return [re.sub"), "utf-8")  # fmt: skip
    bare("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    rehearsed(bare)
    said = bare(f"submission run tiny.rosetta-submission {gold(bare.folder)} {TOLD}")
    told = (bare.folder / "told.json").read_text("utf-8")
    assert (json.loads(told)["stage"], json.loads(told)["came"]) == ("translate", "none")
    assert CANARY not in said + told
    assert bare.answers() == 1
    assert bare.notes()[-2:] == [SubmissionEvent.REFUSED, SubmissionEvent.TOLD]
    assert not readable(bare.home / "submissions")
    with closing(open_store(bare.home / "rosetta.sqlite")):  # what lies beside it goes into it
        pass
    assert not readable(bare.home)


@needs_engine
@pytest.mark.thorough
def test_submission_rehearsal_tells_what_went_wrong(bare: Desk) -> None:
    bare("submission demo tiny")
    sheet = bare.folder / "tiny" / "submission.toml"
    sheet.write_text(sheet.read_text("utf-8").replace(":WordByWord", ":Nothing"), "utf-8")
    bare("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    said = bare("submission run tiny.rosetta-submission --plain", code=1)
    assert "has no attribute 'Nothing'" in said
    assert bare.notes() == [SubmissionEvent.RECEIVED]


def test_submission_of_the_reference_is_written_anew(desk: Desk) -> None:
    theirs = desk.folder / "theirs"
    theirs.mkdir()
    (theirs / "method.json").write_text('{"kind": "lexicon", "name": "w", "dictionary": "w.tsv"}')
    (theirs / "w.tsv").write_text("dog\thundo\n")
    assert "Complete submission.toml" in desk("submission pack theirs --from")
    said = desk("submission pack theirs-submission", code=2)
    assert "submission.toml" in said
    assert "Name a new folder" in desk("submission pack theirs --from", code=2)


def test_submission_names_and_keys_of_a_maker_are_compared(desk: Desk) -> None:
    """One key under two names, whose answers count as one's; and one name, as it looks, under two keys."""
    rehearsed(desk)
    path = gold(desk.folder)
    desk(f"submission run tiny.rosetta-submission {path} --terms tiny-terms.txt --plain")
    sheet = desk.folder / "tiny" / "submission.toml"
    sheet.write_text(sheet.read_text("utf-8").replace("A newcomer", "Somebody else"), "utf-8")
    desk("submission pack tiny --accept-terms tiny-terms.txt -o second.rosetta-submission")
    said = desk("submission check second.rosetta-submission")
    assert "The same key was also used under the name 'A newcomer' too" in said
    rehearsed(desk, "second.rosetta-submission")
    said = desk(f"submission run second.rosetta-submission {path} --terms tiny-terms.txt --plain", "--submitter", "A newcomer")  # fmt: skip
    assert "'A newcomer' had an answer about 'eo-gold'" in said
    assert desk.answers() == 1
    first = (desk.folder / "tiny.rosetta-submission").read_bytes()
    third = desk.folder / "third.rosetta-submission"
    third.write_bytes(resigned(first, {}, by=MAKER.public.signing_key, submitter="A Newcоmer"))
    own = key_phrase(parse_submission(first).manifest.by)
    for verb in ("check", "show"):
        said = desk(f"submission {verb} {third.name}")
        assert f"ANOTHER KEY was used under the name 'A newcomer' too: {own}" in said


CHAT = {"lane": "data", "method": "chat", "options": {"temperature": 0.0}, "files": {}, "made_for": "tiny"}
CODE = {"lane": "code", "entry": "asking:translate", "options": {}}
ASKING = b"""
from rosetta_box import ask

def translate(texts):
    return [ask("tiny", [{"role": "user", "content": each}]) for each in texts for _ in "12"][::2]
"""


@pytest.fixture
def model() -> Iterator[Scripted]:
    with serving(lambda _: json_answer(completion("saluton"))) as made:
        yield made


def ready(desk: Desk, model: Scripted, lane: dict[str, Any], changed: dict[str, bytes | None]) -> str:
    """Make a submission that asks the model, rehearsed, and a vault; returns the options that name the model."""
    path = desk.folder / "tiny.rosetta-submission"
    path.write_bytes(resigned(path.read_bytes(), changed, method=lane, by=MAKER.public.signing_key))
    rehearsed(desk, with_=str(ModelHere(model.url, "tiny")))
    return f"submission run {path.name} --endpoint {model.url} --model tiny --trust-local-server"


def model_lines(desk: Desk) -> list[str]:
    """The lines of the vault's log about the model, oldest first."""
    return [each for each in desk("vault log elders").splitlines() if " tiny at http" in each]


def test_submission_model_stands_in_the_log_before_and_after(desk: Desk, model: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    ask = ready(desk, model, CHAT, {})
    before: list[list[str]] = []

    def looked(*given: Any) -> Any:
        before.append(model_lines(desk))
        assert not model.asked
        return display.to_the_end(*given)

    monkeypatch.setattr("rosetta_tui.commands.submission.secret_run.to_the_end", looked)
    desk(ask, *IN_VAULT)
    [[begun]] = before
    assert "let the method of the run" in begun
    assert f"tiny at {model.url}" in begun
    [first, last] = model_lines(desk)
    assert first == begun
    assert "counted 50 questions of the method" in last
    assert len(model.asked) == 50
    assert CANARY not in (desk.folder / "elders" / "log.jsonl").read_text("utf-8")


@needs_engine
def test_submission_questions_of_a_box_are_counted(desk: Desk, model: Scripted) -> None:
    changed: dict[str, bytes | None] = {"code/asking.py": ASKING, "data/words.tsv": None}
    desk(ready(desk, model, CODE, changed), *IN_VAULT)
    [_, last] = model_lines(desk)
    assert "counted 100 questions" in last
    assert len(model.asked) == 100


@pytest.mark.parametrize(("at", "code", "questions"), [(1, 2, 0), (2, 0, 50)])
def test_submission_model_is_not_asked_without_the_log(desk: Desk, model: Scripted, monkeypatch: pytest.MonkeyPatch, at: int, code: int, questions: int) -> None:  # fmt: skip
    """The stick with the vault is pulled: before the first line nothing is asked; at the end the run stays, and its count is said."""
    ask = ready(desk, model, CHAT, {})
    monkeypatch.setattr(VaultOpening, "note_model", _pulled_at(VaultOpening.note_model, at))
    words = desk(ask, *IN_VAULT, code=code)
    assert len(model.asked) == questions
    assert ("could not be told how often the model was asked (50 times)" in words) is (at == 2)
    assert desk.stands()[0] == ("rehearsed" if at == 1 else "told")


def _pulled_at(note: Callable[..., None], at: int) -> Callable[..., None]:
    times: list[int] = []

    def noted(*given: Any, **more: Any) -> None:
        times.append(1)
        if len(times) == at:
            raise HarnessError("The stick is gone.")
        note(*given, **more)

    return noted


@pytest.mark.costly("two runs over the corpus of a vault")
def test_submission_confirms_over_activated_sentences(bare: Desk) -> None:
    """A first run that everybody may have learnt from, then held_out is activated, and the next run confirms."""
    bare("submission demo tiny --lane data")
    path = gold(bare.folder, 96)
    read = json.loads(path.read_text("utf-8"))
    for each in read["entries"][46:]:
        each["segment"] = "held_out"
    path.write_text(json.dumps(read), "utf-8")
    bare("vault init elders --name Elders --as Office --recovery rec.txt")
    bare(f"vault add elders {path}")
    bare("vault budget --pause 0")
    rehearsed(bare)
    run, ledger = "submission run tiny.rosetta-submission -o", bare.home / "releases/ledger.jsonl"
    few = bare(f"{run} few.json --confirm", *IN_VAULT, code=2)
    assert "46 different secret entries of eo-gold were never told of, and a run that confirms needs 50" in few
    assert "Not confirmed: it has fewer than 50 secret entries" in bare(f"{run} a.json", *IN_VAULT)
    [row] = bare.json("submission show", "submission-list")["submissions"]
    activate = f"rosetta vault check-up {bare.folder / 'elders'} CORPUS --do rotate --count 50"
    assert activate in bare(f"submission show {row['number']}")
    bare("vault check-up elders eo-gold --do rotate --count 50 --purpose confirm")
    own = "run eo-gold -m copy-source --confirm"
    assert "leave out --entries" in bare(f"{own} --limit 60", *IN_VAULT[3:], code=2)
    bare(own, *IN_VAULT[3:])
    assert "50 entries" in bare("runs show last")
    assert "Confirmed" in bare(f"{run} b.json --confirm", *IN_VAULT)
    card = json.loads((bare.folder / "b.json").read_text("utf-8"))
    assert (card["confirmation"], card["corpus"]["entries"], card["answer"]) == ("confirmed", 50, 2)
    assert bare.steps()["confirmation"]
    assert "belong together" in bare(f"verify b.json --with {ledger}")
    ledger.unlink()  # whoever takes the ledger away would have every sentence untold again
    assert "is not the one that released" in bare(f"{run} c.json --confirm", *IN_VAULT, code=2)
    assert "is not the one that released" in bare(own, *IN_VAULT[3:], code=2)
