"""``rosetta submission``: from a newcomer's demo to what its maker is told; whose fault an end is, and what it costs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from contextlib import closing
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring

from corpora.samples import DEMO_CORPUS, sample_path
from harness import api
from harness.sealed.keys import key_phrase
from harness.store.file.database import open_store
from harness.submission.bundle import parse_submission
from harness.submission.desk import DeskAct, SubmissionDesk
from harness.submission.lanes import ModelHere
from review.office.results.whole_way import STEPS
from tests.harness.box.making import needs_engine
from tests.harness.methods.tiny_model import tiny_model
from tests.harness.submission.made import MAKER, resigned, wheel
from tests.review.thorough import first
from tests.tui.commands.submission_desk import CANARY, IN_VAULT, Desk, desk_here, gold, vault
from tests.tui.review.line_driver import environment
from tests.walks.shell import MAIN

__all__ = ["desk_here"]


def readable(folder: Path) -> list[str]:
    """The files below a folder in which the canary can be read."""
    return [p.name for p in folder.rglob("*") if p.is_file() and CANARY.encode() in p.read_bytes()]


def test_data_goes_the_whole_way_on_any_computer(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    told = desk.json("submission check tiny.rosetta-submission", "submission-check")
    assert told["complete"]
    assert told["lane"] == "data"
    said = desk("submission run tiny.rosetta-submission --plain")
    assert "Its claim holds here, within 2 %." in said
    assert "cost free" in said
    assert "cost unknown" not in said
    assert "Next, over secret texts" in said
    vault(desk)
    said = desk("submission run tiny.rosetta-submission -o told.json", *IN_VAULT)
    assert "It was rehearsed before" in said
    card = json.loads((desk.folder / "told.json").read_text("utf-8"))
    assert card["submitter"] == "A newcomer"
    assert set(card["caveats"]) == {"repeated", "short", "long", "untranslated"}
    assert card["corpus"]["id"] == "eo-gold"
    [row] = desk.json("submission list", "submission-list")["submissions"]
    assert (row["state"], row["runs"], row["answers"]) == ("told", 1, 1)
    assert "d.rosetta-submission, allowed once" not in desk("vault log elders")
    assert "tiny.rosetta-submission" in desk("vault log elders")
    assert not readable(desk.home)
    steps = desk.steps()
    assert [name for name, done in steps.items() if not done] == list(STEPS[5:])
    shown = desk(f"submission show {row['number']}")
    assert f"--vault {desk.folder / 'elders'} --purpose WORDS --for LAPTOP-FILE" in shown


def test_the_next_answer_waits_and_is_told_later_from_the_same_run(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    path = gold(desk.folder)
    desk(f"submission run tiny.rosetta-submission {path} --terms tiny-terms.txt --plain")
    said = desk(f"submission run tiny.rosetta-submission {path} --terms tiny-terms.txt --plain -o now.json")  # fmt: skip
    assert "Nothing is told of it now" in said
    assert "now.json was not written." in said
    assert desk.notes()[-1] is DeskAct.SCORED
    assert desk.answers() == 1
    desk("vault budget --pause 0")
    desk("submission tell tiny.rosetta-submission -o later.json")
    assert desk.notes()[-1] is DeskAct.TOLD
    first = (desk.folder / "later.json").read_bytes()
    desk("submission tell tiny.rosetta-submission -o again.json")
    assert (desk.folder / "again.json").read_bytes() == first
    assert desk.answers() == 2
    assert not readable(desk.home / "submissions")


def test_a_claim_that_does_not_hold_asks_no_keeper(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    (desk.folder / "tiny" / "data" / "words.tsv").write_text("source\ttarget\nthe\tla\n", "utf-8")
    (desk.folder / "tiny.rosetta-submission").unlink()
    desk("submission pack tiny --accept-terms tiny-terms.txt")
    vault(desk)
    before = desk("vault log elders")
    said = desk("submission run tiny.rosetta-submission", *IN_VAULT, code=1)
    assert "Its claim does not hold here, so no keeper is asked" in said
    assert desk("vault log elders") == before
    assert desk.notes() == [DeskAct.RECEIVED, DeskAct.NOT_REPEATED]
    assert not desk.steps()["rehearsed"]


def test_terms_that_were_not_accepted_keep_it_from_secret_texts_alone(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    (desk.folder / "tiny.rosetta-submission").unlink()
    assert "✗ terms" in desk("submission pack tiny")
    assert not desk.json("submission check tiny.rosetta-submission", "submission-check", 1)["complete"]  # fmt: skip
    desk("submission run tiny.rosetta-submission --plain")
    said = desk(
        f"submission run tiny.rosetta-submission {gold(desk.folder)} --terms tiny-terms.txt", code=2
    )
    assert "terms: not accepted" in said
    desk("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    (desk.folder / "others.txt").write_text("Other terms", "utf-8")
    said = desk("submission run tiny.rosetta-submission gold.json --terms others.txt", code=2)
    assert "others were accepted" in said


def test_a_corpus_without_secrets_and_a_vault_without_a_name_are_refused(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    said = desk(f"submission run tiny.rosetta-submission {sample_path(DEMO_CORPUS)} --terms tiny-terms.txt --plain", code=2)  # fmt: skip
    assert "These entries are open" in said
    assert desk.notes()[-1] is DeskAct.NOT_BEGUN
    assert "--vault goes with the name" in desk("submission run tiny.rosetta-submission --vault elders --purpose x", code=2)  # fmt: skip
    assert "no submission has a number" in desk("submission show ffff", code=2)
    assert "has no run over secret entries" in desk("submission tell tiny.rosetta-submission", code=2)  # fmt: skip


def test_what_this_computer_fails_at_is_no_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The model server is down: nothing was judged, and it may be tried again."""
    desk("submission demo tiny --lane data")
    path = desk.folder / "tiny.rosetta-submission"
    lane = {"lane": "data", "method": "chat", "options": {"temperature": 0.0}, "files": {}, "made_for": "tiny-7b"}  # fmt: skip
    path.write_bytes(resigned(path.read_bytes(), {}, method=lane, by=MAKER.public.signing_key))
    said = desk("submission run tiny.rosetta-submission", code=2)
    assert "which you choose: --endpoint and --model" in said
    assert "made with tiny-7b" in said
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    [kept] = SubmissionDesk(desk.home).all()
    here = str(ModelHere(f"http://127.0.0.1:{port}/v1", "tiny"))
    SubmissionDesk(desk.home).note(kept.submission, DeskAct.REHEARSED, words=here)
    ask = f"--endpoint http://127.0.0.1:{port}/v1 --model tiny --trust-local-server --plain"
    said = desk(
        f"submission run tiny.rosetta-submission {gold(desk.folder)} --terms tiny-terms.txt {ask}",
        code=1,
    )
    assert "Not run, and not the submission's fault" in said
    assert desk.notes()[-1] is DeskAct.NOT_RUN
    assert desk.answers() == 0
    assert not desk.steps()["run over secret texts"]


def test_a_grant_is_used_once_though_the_run_was_cut(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Killed between the opening and the run's beginning: the desk knows of it, the grant is gone, nothing is readable."""
    desk("submission demo tiny --lane data")
    desk("submission run tiny.rosetta-submission --plain")
    vault(desk)
    desk("vault grant request elders eo-gold spring.rosetta-request --purpose spring --method tiny.rosetta-submission")  # fmt: skip
    desk("vault grant allow elders spring.rosetta-request --to office.rosetta-answer")
    desk("vault grant take elders office.rosetta-answer")

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    ask = ("eo-gold", "--terms", "tiny-terms.txt", "--vault", "elders", "--grant", "spring.rosetta-request", "--despite-network", "a test", "--plain")  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(api, "start", killed)
        with pytest.raises(Killed):
            desk("submission run tiny.rosetta-submission", *ask)
    assert desk.notes()[-1] is DeskAct.BEGUN
    assert "begun and cut" in desk(f"submission show {SubmissionDesk(desk.home).all()[0].number}")
    assert not readable(desk.home)
    said = desk("submission run tiny.rosetta-submission", *ask, code=2)
    assert "used" in said
    assert desk.notes()[-1] is DeskAct.NOT_BEGUN
    assert desk.stands() == ("begun", 1, 0)


@pytest.mark.parametrize("lines", first(1, range(1, 30, 4)))
def test_killed_at_any_moment_a_grant_opens_once_and_nothing_is_readable(desk: Desk, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The process is killed outright after so many lines over secret entries; the same grant opens nothing again."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    keyring.set_keyring(
        Keyring()
    )  # the keys lie in files, which the other process reads too; the fixture puts it back
    desk("submission demo tiny --lane data")
    desk("submission run tiny.rosetta-submission --plain")
    vault(desk)
    desk("vault grant request elders eo-gold spring.rosetta-request --purpose spring --method tiny.rosetta-submission")  # fmt: skip
    desk("vault grant allow elders spring.rosetta-request --to office.rosetta-answer")
    desk("vault grant take elders office.rosetta-answer")
    ask = ("eo-gold", "--terms", "tiny-terms.txt", "--vault", "elders", "--grant", "spring.rosetta-request", "--despite-network", "a test", "--plain")  # fmt: skip
    words = ("submission", "run", "tiny.rosetta-submission", *ask)
    ended = killed_after(desk.home, lines, *words)
    assert ended in (-signal.SIGKILL, 0)  # 0: it came to its end before
    assert not readable(desk.home)
    said = desk("submission run tiny.rosetta-submission", *ask, code=2)
    assert "used" in said
    assert desk("vault log elders").count("opened 'eo-gold'") == 1
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


def test_a_grant_is_for_one_bundle(desk: Desk) -> None:
    """Another bundle under the same name has another hash."""
    desk("submission demo tiny --lane data")
    vault(desk)
    desk("vault grant request elders eo-gold spring.rosetta-request --purpose spring --method tiny.rosetta-submission")  # fmt: skip
    desk("vault grant allow elders spring.rosetta-request --to office.rosetta-answer")
    desk("vault grant take elders office.rosetta-answer")
    (desk.folder / "tiny" / "README.md").write_text("# Other\n\n## Limitations\n\nIt is another one than that of before.\n")  # fmt: skip
    desk("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    said = desk("submission run tiny.rosetta-submission eo-gold --terms tiny-terms.txt --vault elders --grant spring.rosetta-request --plain", "--despite-network", "a test", code=2)  # fmt: skip
    assert "Nothing was used up" in said or "nothing is used up" in said.lower()


def test_a_model_is_handed_in_as_data_and_run_by_the_custodians_own_engine(desk: Desk) -> None:
    pytest.importorskip("ctranslate2", reason="the extra engine is not installed")
    desk("submission demo tiny --lane data")
    (desk.folder / "tiny.rosetta-submission").unlink()
    model = tiny_model(desk.folder / "tiny" / "data" / "model")
    (desk.folder / "tiny" / "data" / "words.tsv").unlink()
    sheet = desk.folder / "tiny" / "submission.toml"
    lane = 'method = "ctranslate2"\nfiles = { model_folder = "data/model" }'
    told = sheet.read_text("utf-8").replace('method = "glossary"', lane)
    sheet.write_text(told.replace('files = { glossary = "data/words.tsv" }\n', ""), "utf-8")
    desk(f"run {sample_path(DEMO_CORPUS)} --method ctranslate2 --model-folder {model} --limit 12 --plain")  # fmt: skip
    said = desk("submission pack tiny --card last --accept-terms tiny-terms.txt")
    assert "for the method ctranslate2; no code" in said
    said = desk(
        f"submission run tiny.rosetta-submission {gold(desk.folder)} --terms tiny-terms.txt --plain -o told.json"
    )
    assert "12 open entries" in said
    card = json.loads((desk.folder / "told.json").read_text("utf-8"))
    assert card["method"]["method"] == "ctranslate2"
    assert card["caveats"]["repeated"]  # it says the same whatever it is asked
    packed = desk.folder / "tiny.rosetta-submission"
    weights = parse_submission(packed.read_bytes()).members["data/model/model.bin"]
    cut = resigned(packed.read_bytes(), {"data/model/model.bin": weights[:200]}, by=MAKER.public.signing_key)  # fmt: skip
    (desk.folder / "cut.rosetta-submission").write_bytes(cut)
    kept = SubmissionDesk(desk.home).receive(desk.folder / "cut.rosetta-submission")
    SubmissionDesk(desk.home).note(kept.submission, DeskAct.REHEARSED)
    desk("vault budget --pause 0")
    desk(f"submission run cut.rosetta-submission {gold(desk.folder)} --terms tiny-terms.txt --plain -o cut.json")  # fmt: skip
    refused = json.loads((desk.folder / "cut.json").read_text("utf-8"))
    assert (refused["stage"], refused["came"]) == ("load", "none")
    assert desk.answers() == 2


@needs_engine
def test_code_is_rehearsed_and_run_in_a_box(desk: Desk) -> None:
    desk("submission demo tiny")
    said = desk(
        f"submission run tiny.rosetta-submission {gold(desk.folder)} --terms tiny-terms.txt --plain -o told.json"
    )
    assert "it runs in a box" in said
    assert "cost unknown" not in said
    assert CANARY not in said
    card = json.loads((desk.folder / "told.json").read_text("utf-8"))
    assert card["method"]["method"] == "submission"
    assert desk.answers() == 1
    assert os.listdir(SubmissionDesk(desk.home).all()[0].folder / "unpacked") == []  # noqa: PTH208
    assert not desk.steps()["speakers are asked"]


@needs_engine
def test_code_that_fails_on_secret_texts_is_refused_in_a_few_words_and_that_counts(desk: Desk) -> None:  # fmt: skip
    """It says the text in every way it has: as an error, on standard error, as its exit."""
    desk("submission demo tiny")
    file = desk.folder / "tiny" / "code" / "word_by_word.py"
    shout = f"        if '{CANARY[:7]}' '{CANARY[7:]}' in texts[0]:\n            print(texts[0])\n            raise SystemExit(texts[0])\n"
    file.write_text(file.read_text("utf-8").replace("        return [re.sub", f"{shout}        return [re.sub"), "utf-8")  # fmt: skip
    desk("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    said = desk(
        f"submission run tiny.rosetta-submission {gold(desk.folder)} --terms tiny-terms.txt --plain -o told.json"
    )
    told = (desk.folder / "told.json").read_text("utf-8")
    assert (json.loads(told)["stage"], json.loads(told)["came"]) == ("translate", "none")
    assert CANARY not in said + told
    assert desk.answers() == 1
    assert desk.notes()[-2:] == [DeskAct.REFUSED, DeskAct.TOLD]
    assert not readable(desk.home / "submissions")
    with closing(open_store(desk.home / "rosetta.sqlite")):
        pass
    assert not readable(desk.home)


@needs_engine
def test_what_code_needs_is_installed_in_the_box_from_its_wheels(desk: Desk) -> None:
    desk("submission demo tiny")
    file = desk.folder / "tiny" / "code" / "word_by_word.py"
    file.write_text(f"import tiny\nassert tiny.answer == 42\n{file.read_text('utf-8')}", "utf-8")
    (desk.folder / "tiny" / "wheels").mkdir()
    (desk.folder / "tiny" / "wheels" / "tiny-1.0-py3-none-any.whl").write_bytes(wheel())
    said = desk("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    assert "1 wheel, each pinned" in said
    assert "within 2 %" in desk("submission run tiny.rosetta-submission --plain")


@needs_engine
def test_a_rehearsal_tells_its_maker_what_went_wrong(desk: Desk) -> None:
    desk("submission demo tiny")
    sheet = desk.folder / "tiny" / "submission.toml"
    sheet.write_text(sheet.read_text("utf-8").replace(":WordByWord", ":Nothing"), "utf-8")
    desk("submission pack tiny --accept-terms tiny-terms.txt --overwrite")
    said = desk("submission run tiny.rosetta-submission --plain", code=1)
    assert "could not be loaded" in said
    assert "has no attribute 'Nothing'" in said
    assert desk.notes() == [DeskAct.RECEIVED]


def test_a_folder_of_the_reference_is_written_anew(desk: Desk) -> None:
    theirs = desk.folder / "theirs"
    theirs.mkdir()
    (theirs / "method.json").write_text('{"kind": "lexicon", "name": "w", "dictionary": "w.tsv"}')
    (theirs / "w.tsv").write_text("dog\thundo\n")
    assert "Complete submission.toml" in desk("submission pack theirs --from")
    said = desk("submission pack theirs-submission", code=2)
    assert "submission.toml" in said
    assert "Name a new folder" in desk("submission pack theirs --from", code=2)


def test_two_names_of_one_key_are_said_and_counted_as_the_custodian_says(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    path = gold(desk.folder)
    desk(f"submission run tiny.rosetta-submission {path} --terms tiny-terms.txt --plain")
    sheet = desk.folder / "tiny" / "submission.toml"
    sheet.write_text(sheet.read_text("utf-8").replace("A newcomer", "Somebody else"), "utf-8")
    desk("submission pack tiny --accept-terms tiny-terms.txt -o second.rosetta-submission")
    said = desk("submission run second.rosetta-submission --plain")
    assert "The same key was also used under the name 'A newcomer' too" in said
    said = desk(f"submission run second.rosetta-submission {path} --terms tiny-terms.txt --plain", "--submitter", "A newcomer")  # fmt: skip
    assert "'A newcomer' had an answer about 'eo-gold'" in said
    assert desk.answers() == 1


def test_another_key_under_the_same_name_is_said(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    assert "ANOTHER KEY" not in desk("submission show tiny.rosetta-submission")
    first = (desk.folder / "tiny.rosetta-submission").read_bytes()
    second = desk.folder / "second.rosetta-submission"
    second.write_bytes(resigned(first, {}, by=MAKER.public.signing_key, submitter="A Newcоmer"))
    [own] = SubmissionDesk(desk.home).all()
    for verb in ("check", "show", "run"):
        said = desk(f"submission {verb} second.rosetta-submission")
        assert f"ANOTHER KEY was used under the name 'A newcomer' too: {key_phrase(own.manifest.by)}" in said  # fmt: skip
    assert key_phrase(MAKER.public.signing_key) in desk(f"submission show {own.number}").partition("ANOTHER KEY")[2]  # fmt: skip


def test_a_bundle_that_was_changed_at_the_desk_is_noticed(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    desk("submission run tiny.rosetta-submission --plain")
    [kept] = SubmissionDesk(desk.home).all()
    other = resigned(kept.path.read_bytes(), {}, by=MAKER.public.signing_key)
    kept.path.write_bytes(other)
    desk("submission demo second --lane data")
    desk("submission run second.rosetta-submission --plain")
    said = desk("submission list")
    assert "is not the submission that came" in said
    assert "rehearsed" in said
    assert "is not the submission that came" in desk(f"submission show {kept.number}", code=2)
