"""Kill a process at each of its steps on the disk while it withdraws, and say what the register is then.

Run as a program of one thread, because it forks: ``python -m tests.harness.consent.killed FOLDER STEP`` kills at every
STEP-th place and prints each state that was left: how many notices hold, or the error.
"""

import json
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.consent.notice import MethodWithdrawal, Subject, WholeCorpusWithdrawal, write_notice
from harness.consent.register import Register, lines_of
from harness.sealed.keys import Identity, Role, key_phrase
from tests.harness.vault.killed import killed

OWN, COMMUNITY, RIVAL = (Identity.make(Role.ORGANISATION) for _ in range(3))
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)

CORPUS = WholeCorpusWithdrawal(
    sha256="a" * 64, id="words", source_language="en", target_language="eo", language_pair="EN→EO"
)
METHOD = MethodWithdrawal(fields={"method": "chat", "model_slug": "rival-1"})


def register(folder: Path) -> Register:
    return Register(folder, OWN)


def from_elsewhere(about: Subject, by: Identity = COMMUNITY) -> bytes:
    return write_notice(about, "she asked", "Council", by, NOON)


def six_words(of: Identity) -> str:
    return key_phrase(of.public.signing_key)


def withdraw(folder: Path) -> None:
    register(folder).say(METHOD, "reason", "Council")


def state(folder: Path) -> int | str:
    try:
        return len(lines_of(folder))
    except Exception as error:  # noqa: BLE001  told as it is
        return repr(error)


def main(folder: Path, step: int) -> dict[str, Any]:
    whole = folder / "whole"
    register(whole).say(CORPUS, "reason", "Council")
    left, after, place = [], [], 0
    while True:
        here = folder / str(place)
        shutil.copytree(whole, here)
        if not killed(withdraw, here, place):
            break
        left.append(state(here))
        register(here).say(METHOD, "again", "Council")
        after.append(state(here))
        place += step
    return {"left": left, "after": after}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
