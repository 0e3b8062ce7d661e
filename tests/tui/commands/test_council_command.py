"""``rosetta council``: the one next step, and doing it; nothing is done that a person did not say yes to."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from harness.submission.desk import SubmissionEvent
from review.office.results.whole_way import WayEnd, WayStep
from review.records import next_step
from rosetta_tui.commands import council
from rosetta_tui.front import WAITING
from tests.tui.commands.command_line import ok, said
from tests.tui.commands.submission_desk import Desk, gold, readable, rehearsed


def first(desk: Desk) -> dict[str, str]:
    return dict(desk.json("council", "council")["steps"][0])


def test_council_begins_with_a_vault_and_its_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    assert "rosetta vault init FOLDER --name NAME" in ok("council", home)
    ok("vault init elders --name Elders --as Office --threshold 2 --recovery rec.txt", home)
    assert f"Next for vault Elders: seal a corpus (it holds none yet).\n  rosetta vault add {tmp_path / 'elders'} FILE" in ok("council", home)  # fmt: skip
    ok(f"vault add elders {gold(tmp_path)}", home)
    assert f"rosetta vault export {tmp_path / 'elders'} FOLDER" in ok("council", home)


def test_council_takes_names_of_files_as_people_type_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(council, "on_terminal", lambda: True)
    for name in ("Ann's card", "school", "library"):
        ok(f'vault card "{name}.rosetta-keeper"', tmp_path / name)
    home, typed = tmp_path / "home", "\nelders{0}\nElders\nOffice\nrec{0}.txt\n{1}\nn\n"
    wrong = said("council", home, typed.format("", "Ann's other card.rosetta-keeper"))
    assert "put quotation marks around a name" in str(wrong.exception)
    shown = ok("council", home, typed.format("", "Ann's card.rosetta-keeper"))
    assert "Made the vault 'Elders' in elders. 3 keys open it, any 2 of them together and none alone" in shown
    (tmp_path / "home2").mkdir()
    shown = ok("council", tmp_path / "home2", typed.format("2", "school.rosetta-keeper library.rosetta-keeper"))
    assert "4 keys open it" in shown


def test_council_says_whom_a_submission_waits_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk("vault init together --name Together --as Office --threshold 2 --recovery rec2.txt")
    desk(f"vault add together {gold(desk.folder)}")
    desk("vault export together copy --purpose keepers")
    rehearsed(desk)
    assert " CORPUS --terms FILE" in first(desk)["command"], "two vaults: which one is a person's to say"
    run = "submission run tiny.rosetta-submission eo-gold --terms tiny-terms.txt --vault together --despite-network x"
    desk(run, "--purpose", "the spring run", code=WAITING)
    step = first(desk)
    assert step["name"] == "run over secret texts"
    assert "2 must allow it. Allowed by Office. No answer yet from recovery key." in step["words"]
    folder = desk.folder / "together"
    assert step["command"].endswith(f" eo-gold --terms FILE --vault {folder} --purpose 'the spring run'")
    number = step["command"].split()[3]
    assert desk.json(f"council {number}", "council")["steps"] == [step]
    monkeypatch.setattr(council, "on_terminal", lambda: True)
    before = desk("vault log together")
    assert "Do it now?" in ok("council", desk.home, "n\n")
    assert desk("vault log together") == before


def test_council_shows_a_keeper_the_request_on_the_stick(desk: Desk) -> None:
    """Once, and only while their answer is needed; what else is on the stick is left alone."""
    school, library, stick = desk.folder / "school", desk.folder / "library", desk.folder / "my stick"
    stick.mkdir()
    for home in (school, library):
        ok(f"vault card {home.name}.rosetta-keeper", home)
    desk("vault init together --name Together --as Office --threshold 2 --recovery rec2.txt --keeper school.rosetta-keeper --keeper library.rosetta-keeper")  # fmt: skip
    desk(f"vault add together {gold(desk.folder)}")
    desk("vault export together", str(stick / "copy"), "--purpose", "keepers")
    rehearsed(desk)
    (desk.folder / "tiny.rosetta-submission").rename(stick / "tiny.rosetta-submission")
    run = ["submission", "run", str(stick / "tiny.rosetta-submission"), "eo-gold", "--terms", "tiny-terms.txt"]
    desk(*run, "--vault", "together", "--despite-network", "x", "--purpose", "spring", code=WAITING)
    (stick / "a.rosetta-request").symlink_to("/dev/zero")
    (stick / "b.rosetta-request").write_text("{}")
    nothing = "Nothing is to be done here"
    for home in (school, library):
        assert nothing in ok("council", home)
        ok(f"vault log '{stick / 'copy'}'", home)
        shown = ok("council", home)
        assert "answer a request (Office asks to open 'eo-gold' once: 6 gold_standard)." in shown
    command = shown.splitlines()[1].strip()
    assert command == f"rosetta vault grant answer '{stick / 'copy'}' '{stick / 'tiny.rosetta-request'}'"
    assert "answer a request" not in desk("council"), "who asks has allowed it"
    ok(f"{command.removeprefix('rosetta ')} --refuse no", library)
    assert nothing in ok("council", library)
    ok(f"{command.removeprefix('rosetta ')} --yes", school)
    assert nothing in ok("council", school)
    (stick / "tiny-library.rosetta-answer").unlink()
    assert nothing in ok("council", library), "enough others allowed it"


def test_council_gives_a_command_only_options_that_it_has(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk("vault log elders")  # seen where it lies now
    rehearsed(desk)
    step = WayStep("confirmation", done=False, words="", command="rosetta vault check-up FOLDER CORPUS --purpose WORDS")
    monkeypatch.setattr(next_step, "end_of_way", lambda *_: WayEnd(step, "", step.command))
    assert first(desk)["command"] == "rosetta vault check-up FOLDER eo-gold --purpose WORDS"
    corpus = gold(desk.folder)
    corpus.write_text(corpus.read_text("utf-8").replace('"eo-gold"', '"--help"'), "utf-8")
    desk("vault init other --name Other --as Office --recovery rec2.txt")
    desk(f"vault add other {corpus}")
    shutil.rmtree(desk.folder / "elders")
    assert first(desk)["command"] == "rosetta vault check-up FOLDER --purpose WORDS -- --help"


def test_council_fills_in_words_and_not_parts_of_a_purpose(desk: Desk) -> None:
    desk("vault init together --name Together --as Office --threshold 2 --recovery rec2.txt")
    desk(f"vault add together {gold(desk.folder)}")
    desk("vault export together copy --purpose keepers")
    rehearsed(desk, with_="our model at http://127.0.0.1:9/v1")
    known = "--model 'our model' --endpoint http://127.0.0.1:9/v1"
    assert f" CORPUS --terms FILE {known}" in first(desk)["command"]
    purpose = "the CORPUS ' WORDS run"
    rehearsed(desk)
    run = "submission run tiny.rosetta-submission eo-gold --terms tiny-terms.txt --vault together"
    desk(run, "--despite-network", "x", "--purpose", purpose, code=WAITING)
    words = shlex.split(first(desk)["command"])
    assert words[4:] == ["eo-gold", "--terms", "FILE", "--vault", str(desk.folder / "together"), "--purpose", purpose]


@pytest.mark.costly("runs a submission over secret sentences")
def test_council_does_each_step_on_enter(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words in capital letters are asked for; the next step is said when one is done."""
    monkeypatch.setattr(council, "on_terminal", lambda: True)
    monkeypatch.setattr("harness.endpoint.offline.network_routes", lambda: ())
    desk("vault log elders")  # seen where it lies now
    rehearsed(desk)
    shown = ok("council", desk.home, "\ntiny-terms.txt\nthe spring run\nn\n")
    assert "--terms FILE: tiny-terms.txt" in shown
    assert "$ rosetta submission run " in shown
    assert desk.notes()[-1] is SubmissionEvent.TOLD
    assert "speakers are asked" in shown.rpartition("Next for ")[2]
    assert "the spring run" in desk("vault log elders")
    assert not readable(desk.home)
    failed = said("council", desk.home, "\n2\n20\nstick\nnobody.rosetta-laptop\nspeakers judge\n")
    assert failed.exit_code != 0, "a wrong word is refused by the command itself"
    assert "nobody.rosetta-laptop" in f"{failed.output}{failed.exception}"
