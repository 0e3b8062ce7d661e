"""One batch, judged by three people in the window, the terminal and a browser, into one verdict."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from review.log.payloads import Face
from review.office.store.store import Office
from review.session.view import PART
from review.verdict.gate.key import ControlKind
from tests.desktop.real.display import Display
from tests.desktop.real.reader import Bus, Reader, press
from tests.desktop.real.window import Window, window
from tests.review.browser.drivers import browser
from tests.review.browser.sitting import BROWSERS, Sitting
from tests.tui.commands.command_line import ok, said
from tests.tui.review.terminal import Terminal

CREATE = (
    "review create last --organisation Council --reviewers 3 --items 10 --bad 2 --repeats 1 --anchors 0 --seed 3"
    " --consent consent.txt --guide consent.txt --training training.tsv --page -o stick"
)
TRAINING = "source\tcandidate\trating\texplanation\nYes.\tNe.\treject\tIt says no.\n"
TOTAL = 13
ANSWERS = {
    5: "444", 7: "443", 25: "333", 33: "444", 34: "434", 65: "344", 69: "432", 105: "444", 108: "333", 112: "443",
}  # fmt: skip
"""Entry → what is pressed in the window, the terminal and the page; 2 is Gist, 3 Acceptable, 4 Excellent."""
COUNTS = {
    Face.DESKTOP: {"acceptable": 3, "excellent": 7},
    Face.TERMINAL: {"acceptable": 4, "excellent": 6},
    Face.BROWSER: {"gist": 1, "acceptable": 4, "excellent": 5},
}
SHARE = "0.968750"
"""Entry 69 stands alone for 9 of 96 entries, and one of three people finds it not good enough: 1 - 9/96 · 1/3."""
SAME = "0.633333"
"""All pairs of people rate five sentences alike, one of three pairs four, and none the tenth: (5 + 4/3) / 10."""
WITHIN_ONE = "0.966667"
"""Only Gist and Excellent of entry 69 are further apart: (9 + 2/3) / 10."""
ALPHA = "0.313304"
"""Krippendorff's, of ranks. 1 Gist, 11 Acceptable and 18 Excellent: Acceptable and Excellent are ((11 + 18)/2)² = 210.25
apart, Gist and Acceptable 6² = 36, Gist and Excellent 20.5² = 420.25. They meet 4.5, 0.5 and 0.5 times: 1174.25. By
chance: 11·18·210.25 + 11·36 + 18·420.25 = 49590. Alpha = 1 - 29 · 1174.25/49590."""


def judge_in_window(shown: Window, reader: Reader, code: str, items: Sequence[str], keys: Sequence[str]) -> str:
    """Rate all items and hand in to the folder of the batch; return the six words."""
    reader.hear("Asked by")
    press(reader, "They are the same")
    reader.find("Which code is on your card?", "text").write(code)
    press(reader, "Continue")
    reader.hear("Before you begin")
    press(reader, "I agree")
    press(reader, "Neither")
    reader.hear("Practice 1 of 1")
    press(reader, "Reject…")
    reader.hear("You said Reject.")
    press(reader, "Continue")
    for number, (item, key) in enumerate(zip(items, keys, strict=True)):
        if number == PART:
            reader.find("10 done, 3 to go.")
            shown.press("Return")
        shown.sees(item)
        shown.press(key)
    reader.find("That was the last one. Thank you!")
    press(reader, "Hand in your answers")
    press(reader, "A folder on this computer…")
    reader.hear("Saved and checked in a folder")
    return reader.read("These six words belong to your file:")


def judge_in_terminal(terminal: Terminal, code: str, keys: Sequence[str]) -> str:
    """Rate all items and hand in to the folder of the batch; return the six words."""
    terminal.see("Its six words:")
    terminal.press("\r", "Which code is on your card?")
    terminal.write(code)
    terminal.see(code)
    terminal.press("\r", "Before you begin")
    terminal.press("\r", "I took part")
    terminal.press("3", "Practice 1 of 1")
    terminal.press("1", "You said Reject.")
    terminal.press("\r", f"Sentence 1 of {TOTAL}")
    for number, key in enumerate(keys, 1):
        coming = f"Sentence {number + 1} of {TOTAL}" if number < TOTAL else "That was the last one."
        terminal.press(key, "10 done, 3 to go." if number == PART else coming)
        if number == PART:
            terminal.press("\r", coming)
    terminal.press("x", "No stick was found.")
    terminal.press("\r", "These six words belong to your file:")
    return terminal.shown.partition("belong to your file:")[2].split("\n\n")[1].strip()


async def judge_in_page(sitting: Sitting, code: str, keys: Sequence[str]) -> str:
    """Rate all items and save the file among the downloads; return the six words."""
    await sitting.begin(code)
    for number, key in enumerate(keys):
        if number == PART:
            await sitting.says("10 done, 3 to go.")
            await sitting.window.key("Enter")
        await sitting.rate(key)
    await sitting.says("That was the last one.")
    words, _ = await sitting.hand_over()
    return words


@pytest.mark.costly("a window, a terminal and a browser, each through a whole batch")
@pytest.mark.parametrize("name", BROWSERS[:1])
async def test_three_people_by_three_faces_reach_one_verdict(
    name: str, display: Display, reader: Reader, bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    home, stick = tmp_path / "office", tmp_path / "stick"
    Path("consent.txt").write_text("You may stop at any time.", "utf-8")
    Path("training.tsv").write_text(TRAINING, "utf-8")
    ok("demo --plain", home)
    ok(CREATE, home)
    with Office.open(home) as office:
        review = office.review("last")
    people = []
    for place, (person, order) in enumerate(review.key.orders.items()):
        items = [review.key.items[item] for item in order]
        keys = ["1" if item.control is ControlKind.BAD else ANSWERS[item.entry][place] for item in items]
        people.append((review.code(person), order, keys))
    assert [len(keys) for _, _, keys in people] == [TOTAL] * 3
    (code, order, keys), in_terminal, in_page = people
    [file] = stick.glob("*.rosetta-batch")
    with window(display, tmp_path / "window", file, environment=bus.environment, guard=0.0) as shown:
        words = {judge_in_window(shown, reader, code, order, keys)}
    code, _, keys = in_terminal
    with Terminal(tmp_path) as terminal:
        words.add(judge_in_terminal(terminal, code, keys))
    code, _, keys = in_page
    [page] = stick.glob("eo-demo*.html")
    async with browser(name, tmp_path / "profile", tmp_path / "downloads") as opened:
        words.add(await judge_in_page(Sitting(opened, page, tmp_path / "downloads"), code, keys))

    waiting = said("review import stick downloads", home).output
    assert waiting.count("SET ASIDE: nobody has vouched for its laptop yet.") == len(people)
    assert set(re.findall(r"check words: (.+)", waiting)) == words
    for phrase in words:
        assert ", set aside 0, damaged 0" in ok(f"review enrol {phrase}", home)
    [found] = json.loads(ok("review gate last --json", home))
    agreement, numbers = found["agreement"], found["numbers"]
    assert (numbers["items"], len(numbers["reviewers"]), numbers["share"]) == (10, 3, SHARE)
    assert [agreement[each]["value"] for each in ("exact", "within_one", "alpha")] == [SAME, WITHIN_ONE, ALPHA]
    assert found["relations"] == {"made": 0, "knows": 0, "neither": 3, "not_asked": 0}
    ok("review export last --csv answers.csv", home)
    rows = [*csv.DictReader(Path("answers.csv").read_text("utf-8-sig").splitlines())]
    for face, counts in COUNTS.items():
        own = [row for row in rows if row["face"] == face]
        assert Counter(row["rating"] for row in own if not row["control"]) == counts
        assert Counter(row["rating"] for row in own if row["control"] == "bad") == {"reject": 2}
