"""Sentences of a small language for tests of making a corpus, and speakers who answer what the line face asks."""

from __future__ import annotations

import io
import random
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result

from review.log.laptop import Laptop
from rosetta_tui.commands import rosetta
from rosetta_tui.review.rating.lines.face import run_lines
from rosetta_tui.review.rating.lines.pages import Console
from rosetta_tui.review.rating.sitting import TerminalOpening

WHO = {
    "teacher": "instruisto", "dog": "hundo", "old baker": "maljuna bakisto", "river": "rivero",
    "young doctor": "juna kuracisto", "king": "reĝo", "white horse": "blanka ĉevalo", "singer": "kantisto",
}  # fmt: skip
WHAT = {
    "bread": "pano", "song": "kanto", "big garden": "granda ĝardeno", "window": "fenestro",
    "knife": "tranĉilo", "basket": "korbo", "story": "rakonto", "apple": "pomo", "letter": "letero",
}  # fmt: skip
TIERS = {
    1: ("{who}", "{qui}"),
    2: ("The {who} sees the {what}.", "La {qui} vidas la {quo}n."),
    3: ("Did the {who} not buy some {what} for me?", "Ĉu la {qui} ne aĉetis {quo}n por mi?"),
    4: ("What the {who} sold was our {what}!", "Kion la {qui} vendis, estis nia {quo}!"),
    5: ("If any {who} comes, hide every {what} before night falls.", "Se venos {qui}, kaŝu ĉiun {quo}n antaŭ la nokto."),
}  # fmt: skip
REGISTERS = ("conversational", "formal", "educational", "technical")


def sentences() -> dict[str, tuple[int, str]]:
    """Return source → its difficulty and its translation, in an order that looks drawn."""
    pairs = [(who, what) for who in WHO for what in WHAT]
    found = {}
    for tier, (source, reference) in TIERS.items():
        for who, what in pairs:
            said = {"who": who, "what": what, "qui": WHO[who], "quo": WHAT[what].replace(" ", "n ")}
            if "n}" not in reference and "{quo}n" not in reference:
                said["quo"] = WHAT[what]
            found[source.format(**said)] = (tier, reference.format(**said))
    listed = list(found.items())
    random.Random(1).shuffle(listed)
    return dict(listed)


def table(known: Mapping[str, tuple[int, str]]) -> str:
    """Return a table of sources as a person would write it."""
    lines = ["source\tdifficulty\tregister\tvariant_class"]
    for number, (source, (tier, _)) in enumerate(known.items()):
        shows = "accusative" if tier == 2 and number % 2 else ""
        lines.append(f"{source}\t{tier}\t{REGISTERS[number % 4]}\t{shows}")
    return "\n".join(lines) + "\n"


NEW = (
    "corpus", "new", "words", "--source-language", "en", "--target-language", "eo", "--title", "Words",
    "--organisation", "Our school", "--license", "CC0-1.0",
)  # fmt: skip


@dataclass
class Office:
    """Types commands; what each printed is at hand."""

    home: Path
    said: str = ""

    def __call__(self, line: str) -> str:
        """Run ``rosetta LINE`` and return what it printed."""
        return self.types(*shlex.split(line)).output

    def types(self, *words: str, text: str | None = None, code: int = 0) -> Result:
        """Run ``rosetta WORDS``; fails where it ends with another code."""
        done = CliRunner().invoke(rosetta, list(words), input=text)
        if code == 0 and done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, (words, done.output, done.exception)
        self.said += done.output
        return done

    def refused(self, *words: str) -> str:
        """Run a command that fails in words; gives them."""
        done = CliRunner().invoke(rosetta, list(words))
        assert done.exit_code != 0, (words, done.output)
        return f"{done.output}{done.exception}"

    def cards(self, review: str) -> list[tuple[str, str]]:
        """Return code and secret words of each card of a review."""
        page = (self.home / "review-cards" / f"{review}-cards.html").read_text("utf-8")
        return re.findall(
            r'class="code">.*?<dd><span>(.+?)</span></dd>.*?class="words">.*?<dd><span>(.+?)</span></dd>',
            page,
            re.DOTALL,
        )


Answer = Callable[[str, str], list[str]]
"""Gives the lines that a speaker types at an original and its translation, which is empty where one is asked for."""


class Speaker(Console):
    """Somebody at the line face: hears what is said, and types what each prompt wants."""

    def __init__(self, code: str, secret_words: str, stick: Path, answer: Answer) -> None:
        self._heard = io.StringIO()
        super().__init__(io.StringIO(), self._heard)
        self._answer, self._stick, self._left = answer, stick, list[str]()
        self._known = {
            "Enter opens number 1": "",
            "Type the secret words": secret_words,
            "Are they the same?": "1",
            "Type the code from your card": code,
            "Or another code": code,
            "Type 1, m, l or q": "1",
            "1 yes, 2 no:": "1",
            "Type a folder": str(stick),
            "Enter saves in number 1": str(stick),
            "Enter continues": "",
            "Put the stick in": "x",
            "x writes it once more": "q",
        }  # fmt: skip

    @property
    def heard(self) -> str:
        """All that was said."""
        return self._heard.getvalue()

    def ask(self, prompt: str) -> str:
        """Return what this person types at a prompt; fails at one that nobody told them of."""
        if "for help:" in prompt:
            if not self._left:
                self._left = self._answer(*self._sentence())
            return self._left.pop(0)
        known = next((part for part in self._known if part in prompt), prompt)
        assert known in self._known, f"{self.heard[-2000:]}{prompt}"
        return self._known[known]

    def ask_hidden(self, prompt: str) -> str:
        """See ``ask``."""
        return self.ask(prompt)

    def _sentence(self) -> tuple[str, str]:
        told = self.heard.rsplit("Original: ", 1)[1]
        original, _, rest = told.partition("\n")
        found = re.match(r"Translation: (.*)", rest)
        return original, found[1] if found else ""


def speaks(laptop: Path, file: Path, card: tuple[str, str], answer: Answer) -> Speaker:
    """Have somebody answer a whole file at a laptop and hand in to its stick; gives what they heard and typed."""
    speaker = Speaker(*card, file.parent, answer)
    with Laptop.open(laptop) as opened:
        assert run_lines(TerminalOpening(opened, places=[file]), speaker) == 0, speaker.heard
    return speaker
