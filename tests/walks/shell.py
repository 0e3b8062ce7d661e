"""The commands of the README as processes of their own, and a speaker who rates in plain lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.tui.review.line_driver import Pipe, environment

PATIENCE_SECONDS = 60.0

Opinion = Callable[[str, str], str]
"""Gives the keys that somebody types at an original and its translation, one a line; the last is the rating."""

MAIN = [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()"]

_ITEM = re.compile(r"^Original: (.*?)^Translation: (.*?)(?=^[^ ])", re.DOTALL | re.MULTILINE)


def rosetta(home: Path, *words: object, code: int = 0, typed: str | None = None) -> str:
    """Run ``rosetta WORDS`` and give all that it printed; fails where it ends with another code."""
    done = subprocess.run(
        [*MAIN, *map(str, words)],
        env={**environment(home), "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "120"},
        input=typed,
        stdin=subprocess.DEVNULL if typed is None else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=4 * PATIENCE_SECONDS,
    )
    assert done.returncode == code, (words, done.stdout)
    return done.stdout


class Speaker:
    """Somebody with a laptop, a stick and a card, who reads each prompt and types a line."""

    def __init__(self, laptop: Path, stick: Path, code: str) -> None:
        self.laptop, self.stick, self.code = laptop, stick, code
        self.heard = ""
        """All that was read out."""

    @contextmanager
    def sitting(self) -> Iterator[Callable[..., str]]:
        """Open what is on the stick; gives a function that types a line and reads on to the next prompt.

        Without a line it only reads. The sitting ends as by a power cut.
        """
        pipe = Pipe(self.laptop, str(self.stick))

        def say(line: str | None = None) -> str:
            if line is not None:
                pipe.type(line)
            before = len(pipe.said)
            there = pipe.read(PATIENCE_SECONDS)
            said = pipe.said[before:].decode()
            self.heard += said
            assert there, said
            return said

        try:
            yield say
        finally:
            pipe.kill()

    def begins(self, say: Callable[..., str], secret_words: str = "") -> str:
        """Answer what is asked before the first sentence; gives what stands at the first practice."""
        answers = {
            "These wait for you:": "",
            "Type the secret words": secret_words,
            "Are they the same?": "1",
            "Type the code from your card": self.code,
            "If your code begins with": "",
            "What you agree to": "1",
            "better translations that you write be used?": "1",
            "Did you take part in making it?": "3",
        }
        seen = say()
        while not shown_item(seen):
            [asked] = [asked for asked in answers if asked in seen] or [seen]
            assert asked in answers, seen
            seen = say(answers.pop(asked))
        return seen

    def rates(self, say: Callable[..., str], seen: str, opinion: Opinion, most: int = 10**6) -> str:
        """Answer up to ``most`` sentences, practice and pauses besides; gives what stands there then."""
        while "That was the last one" not in seen:
            if not (item := shown_item(seen)):
                seen = say("")  # a lesson's answer, a pause
                continue
            practice = "This is only practice" in seen
            if not practice and not most:
                break
            most -= not practice
            for key in opinion(*item):
                seen = say(key)
        return seen

    def hands_over(self, say: Callable[..., str]) -> str:
        """Hand over to the stick; gives the six words that the laptop shows."""
        seen = say("x")
        folder = self.stick if self.stick.is_dir() else self.stick.parent
        seen = say("1" if f"1: {folder}\n" in seen else str(folder))
        assert "Write them down" in seen, seen
        words = re.search(r"These six words belong to your file:\n(.+)\n", seen)
        assert words, seen
        assert say("")
        return words[1]


def shown_item(seen: str) -> tuple[str, str] | None:
    """Return original and translation of the sentence that was read out last and asks for an answer."""
    if not seen.rstrip().endswith("? for help:"):
        return None
    found = _ITEM.findall(seen)
    return (_plain(found[-1][0]), _plain(found[-1][1])) if found else None


def _plain(text: str) -> str:
    return " ".join(text.split())
