"""A desk for the screens of submissions: bundles that came, and one that went its way as far as an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.card.withholding import ReleasedScore
from harness.release import FOLDER
from harness.release.ledger import ReleaseLedger
from harness.release.ledger_records import InLedger, RefusalTold, ReleasedRefusal, ScoresTold
from harness.sealed.keys import Identity, Role
from harness.submission.desk import KeptSubmission, SubmissionEvent, SubmissionStore
from rosetta_tui.submission.facts import DeskReading, SubmissionReading
from tests.harness.submission.made import resigned, sample_bundle
from tests.tui.vault.made import CORPUS, METHOD, score_told

PHRASE = "apricot within garter soda bleach cookie"
NUMBER = "5f5f5f5f5f5f5f5f"
RUN = "0f3b8c1e-6c1d-4a70-9a52-000000000001"


def received(home: Path, folder: Path, file: str = "ann", members: Mapping[str, bytes | None] | None = None, **manifest: Any) -> KeptSubmission:  # fmt: skip
    """Take in the sample from a file of this name, with other members or another manifest."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{file}.rosetta-submission"
    path.write_bytes(resigned(sample_bundle(folder / f"{file}-sample"), members or {}, **manifest))
    return SubmissionStore(home).receive(path)


def hostile(home: Path, folder: Path, name: str, texts: Sequence[str]) -> KeptSubmission:
    """Take in a bundle in which everything that its maker may write would do harm if it were shown as it is."""
    lines = ["# [/b]", *(each.replace("\x00", "") for each in texts), f"## limits {name}", name]
    readme = "\n\n".join(lines).encode("utf-8", "replace")
    said = {"name": name[:200], "submitter": texts[1][:200], "release": texts[3][:200], "licence": texts[6][:200]}
    return received(home, folder, "\u202ex", {"README.md": readme}, **said)


def told(home: Path, kept: KeptSubmission, *, refused: bool = False) -> None:
    """Note that a run was over secret texts, and write into the ledger what its maker was told."""
    desk = SubmissionStore(home)
    act = SubmissionEvent.REFUSED if refused else SubmissionEvent.SCORED
    words = "load" if refused else ""
    desk.note(kept.submission, SubmissionEvent.BEGUN, corpus="greetings")
    desk.note(kept.submission, act, RUN, "greetings", words)
    desk.note(kept.submission, SubmissionEvent.TOLD, RUN, "greetings", words)
    identity = Identity.make(Role.KEEPER)
    (home / "keeper.key").write_text(identity.text())
    book = ReleaseLedger(home / FOLDER, identity, lambda: datetime(2026, 2, 3, 11, tzinfo=UTC))
    with book.changing() as change:
        change.write((_refusal if refused else _scores)(change.place))


def _scores(place: InLedger) -> ScoresTold:
    more = {
        "scores": {
            "chrf_plus_plus": ReleasedScore(value=45.0, lower=40.0, upper=50.0, step=5.0),
            "composite": ReleasedScore(value=0.5, lower=0.4, upper=0.6, step=0.1),
        },
        "caveats": {"repeated": False, "short": False, "long": False, "untranslated": True},
    }
    return score_told(place, "A newcomer", RUN, issued="2026-02-03", **more)


def _refusal(place: InLedger) -> RefusalTold:
    card = ReleasedRefusal(
        run=RUN, submitter="A newcomer", method=METHOD, corpus=CORPUS, stage="load", came="none", answer=1, of=10,
        rosetta="0.1.0", issued="2026-02-03", place=place, by="e" * 64,
    )  # fmt: skip
    return RefusalTold(card=card)


def steady(found: SubmissionReading) -> SubmissionReading:
    """Return a reading in which all that is drawn by chance is always the same, for pictures."""
    facts = found.facts
    if facts is None:
        return found
    number = facts.kept.number

    def same(text: str) -> str:
        return re.sub(r"\d{4}-\d\d-\d\d", "2026-02-03", text.replace(number, NUMBER))

    steps = [replace(each, words=same(each.words), command=same(each.command)) for each in facts.steps]
    place = list(facts.steps).index(facts.end.step) if facts.end.step else None
    end = replace(facts.end, step=None if place is None else steps[place], command=same(facts.end.command))
    checks = [
        replace(each, words=re.sub(r"[0-9a-f]{16}…", "1a2b3c4d5e6f7a8b…", same(each.words))) for each in facts.checks
    ]
    manifest = facts.kept.manifest.model_copy(update={"packed": "2026-02-03T04:05:06Z"})
    kept = replace(facts.kept, folder=Path(NUMBER), manifest=manifest)
    rehearsal = facts.rehearsal and replace(facts.rehearsal, run=RUN)
    return replace(found, facts=replace(facts, kept=kept, phrase=PHRASE, steps=steps, end=end, checks=checks, rehearsal=rehearsal))  # fmt: skip


def steady_desk(found: DeskReading) -> DeskReading:
    """Return the list in the same way."""
    listed = [
        replace(each, number=f"{place}{NUMBER[1:]}", phrase=PHRASE, since="2026-02-03T04:05:06Z",
                manifest=each.manifest.model_copy(update={"packed": "2026-02-03T04:05:06Z"}))
        for place, each in enumerate(sorted(found.listed, key=lambda each: each.manifest.name))
    ]  # fmt: skip
    return replace(found, listed=listed, wrong=[re.sub(r"\S*/home/", "", each) for each in found.wrong])
