"""The organiser from nothing: each command of “In short”, speakers in plain lines, both verifiers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from difflib import SequenceMatcher
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest

from review.verdict import stand_alone
from tests.walks.shell import Opinion, Speaker, rosetta

COMMENT = "too formal for children"

SPOKEN = {"name": "spring", "reviewers": 3, "items": 50, "seed": 7}


def options(**told: object) -> list[object]:
    return [word for name, value in told.items() for word in (f"--{name}", value)]


class Panel:
    """What speakers of the demo's language would have said, and what they think of what is shown to them."""

    def __init__(self) -> None:
        demo = json.loads((files("corpora.samples") / "eo-demo-v1.json").read_text("utf-8"))
        self.entries = {" ".join(each["source"].split()): each for each in demo["entries"]}

    def opinion(self, lenience: float, *, hurt: bool = False) -> Opinion:
        """Rate by how like the translation is to one's own; whoever is ``hurt`` calls one sentence harmful.

        Of diagnostic entries no test translations are made, so the flag is about the method's own.
        """
        flags = ["!1"] if hurt else []

        def judge(original: str, translation: str) -> str:
            entry = self.entries[original]
            alike = SequenceMatcher(None, entry["reference"], translation, autojunk=False).ratio()
            rating = 1 + sum(alike + lenience > bound for bound in (0.6, 0.8, 0.95))
            flag = flags.pop() if flags and entry["segment"] == "diagnostic" else ""
            return f"{flag}{rating}"

        return judge


def cards_of(home: Path, review: str) -> list[str]:
    return (home / "review-cards" / f"{review}-cards.txt").read_text("utf-8").split("-" * 72)


def code_on(card: str) -> str:
    [code] = re.findall(r"Your code: +(\S+)", card)
    return str(code)


@pytest.mark.thorough
def test_in_short_from_a_run_to_a_verdict_that_two_programs_compute_again(tmp_path: Path) -> None:
    home, stick, out = tmp_path / "home", tmp_path / "stick", tmp_path / "out"
    review = partial(rosetta, home, "review")
    rosetta(home, "demo", "--plain")
    assert "chance" in review("plan")
    create = ["create", "last", "--organisation", "Our council", "-o", stick]
    assert "Next: copy the program" in review(*create, *options(**SPOKEN))
    phrases, panel = [], Panel()
    for number, card in enumerate(cards_of(home, "spring")):
        speaker = Speaker(tmp_path / f"laptop-{number}", stick, code_on(card))
        judge = panel.opinion(number / 20, hurt=number == 1)
        with speaker.sitting() as say:
            speaker.rates(say, speaker.begins(say), judge, most=3)
            if number == 0:
                say("c")
                say(COMMENT)  # no empty line: the power goes before the comment is saved
        with speaker.sitting() as say:
            speaker.rates(say, say(), judge)
            phrases.append(speaker.hands_over(say))
    waiting = review("import", stick, code=1)
    assert all(phrase in waiting for phrase in phrases), waiting
    first = phrases[0].split()
    told = review("enrol", *first[:5], f"{first[5]}zz", code=2)
    assert "Word 6" in told
    assert repr(first[5]) in told
    for phrase in phrases:
        assert "added" in review("enrol", *phrase.split())
    assert "210 of 210 decisions are here, from 3 files." in review("status", "last")
    queued = review("adjudicate", "last", "--json")
    queue = json.loads(queued[queued.index("[\n") :])  # after a line that says that this is a look
    assert [case["flags"] for case in queue if case["flags"]] == [1]
    print(review("adjudicate", "last", typed="c\nOnly an odd word.\nAnna\n"))
    verdict = review("gate", "last", "--issue", "-o", out)
    assert "DISCUSS" in verdict
    assert "Only an odd word." in verdict
    page = tmp_path / "page.html"
    review("page", "last", "-o", page)
    assert "Our council" in page.read_text("utf-8")
    [certificate] = out.glob("*.certificate.json")
    [evidence] = out.glob("*.rosetta-evidence")
    kept = [*options(batch=stick / "spring.rosetta-batch"), "--words", phrases[2]]
    assert "Everything holds" in review("verify", certificate, *kept)
    assert "Everything holds" in rosetta(
        tmp_path / "elsewhere", "review", "verify", evidence, *kept
    )
    assert second_program(evidence).startswith("Holds: discuss")
    exported = tmp_path / "ratings.csv"
    review("export", "last", "--csv", exported, "--comments")
    assert COMMENT in exported.read_text("utf-8")


def second_program(evidence: Path) -> str:
    """Run the verifier that shares nothing with ours."""
    program = Path(stand_alone.__file__).parent / "rosetta_verify.py"
    command = [sys.executable, "-P", str(program), str(evidence)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done
    return done.stdout
