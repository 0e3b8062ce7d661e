"""A review in an office, and the commands that read its verdict."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from click.testing import CliRunner, Result

from harness.sealed.keys import Identity, Role
from harness.store.file.database import open_store
from review.log.payloads import HarmFlag, Rate
from review.office.store.store import Office, Review
from review.rating import Rating
from review.verdict.certificate.evidence import Evidence, pack_evidence
from review.verdict.panel.key import ControlKind
from rosetta_tui.commands.review import review as review_commands
from rosetta_tui.commands.runs import runs
from tests.review.verdict import histories
from tests.review.verdict.certified import GO, about, deliver, fill_office
from tests.review.verdict.histories import Shape


def invoke(*arguments: object, text: str | None = None) -> Result:
    done = CliRunner().invoke(review_commands, [str(a) for a in arguments], input=text)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def shown(*arguments: object) -> str:
    done = CliRunner().invoke(runs, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def listed() -> dict[str, Any]:
    [run] = json.loads(shown("list", "--json"))
    return dict(run)


def reviewed(
    card: dict[str, Any],
    shape: Shape = GO,
    *,
    seed: int = 1,
    segments: str = "development",
    **more: str,
) -> Evidence:
    rng = Random(seed)
    key = histories.make_key(rng, shape)
    facts = {"run_id": card["run_id"], "run_card_hash": card["run_card_hash"], **more}
    key = about(key, segments=segments, **facts)
    events = [
        e for e in histories.make_events(rng, shape, key) if e.device != histories.ORGANISATION
    ]
    return histories.evidence_of(key, events)


def filled(office: Office, home: Path, evidence: Evidence, **batch: object) -> Review:
    identity = Identity.load(home, Role.ORGANISATION)
    return fill_office(office, evidence, identity, **batch)


def issued(tmp_path: Path, name: str = "out") -> Path:
    """Issue the certificate of the newest review."""
    done = invoke("gate", "--issue", "-o", tmp_path / name)
    assert done.exit_code == 0, done.output
    [certificate] = (tmp_path / name).glob("*.certificate.json")
    return certificate


def another_rating(office: Office, review: Review, seed: int) -> str:
    """Write something in the name of the first person on a new device, and return that device."""
    chain = histories.Chain(Random(seed))
    chain.lamport = 10**6
    who, item = next(iter(review.key.orders)), next(iter(review.key.items))
    chain.write(
        Rate(
            wall=histories.WALL, reviewer=who, batch=review.key.batches[0], item=item, position=0,
            active_ms=5, face="lines", version="0", rating=Rating.GIST,
        )
    )  # fmt: skip
    deliver(office.connection, review.key, tuple(chain.events))
    return chain.device


def second_laptop(office: Office, review: Review) -> None:
    """Let another laptop rate something in the name of the first person."""
    device = another_rating(office, review, 5)
    office.connection.execute(
        "UPDATE delivery SET signing_key = ? WHERE device = ?", ("ab" * 32, device)
    )


def put(file: Any, folder: Path, name: str = "c") -> Path:
    """Write an evidence file."""
    path = folder / f"{name}.rosetta-evidence"
    path.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
    return path


def find_bytes(home: Path) -> str:
    with closing(open_store(home / "rosetta.sqlite")) as store:
        return str(store.execute("SELECT run_card FROM runs").fetchone()[0])


def replace_evidence(file: Any, evidence: Evidence) -> Any:
    return type(file)(file.certificate, file.signature, evidence)


def flagged(
    card: dict[str, Any],
    segments: str = "development",
    shape: Shape = GO,
    control: ControlKind | None = None,
) -> Evidence:
    """A review in which one person flags an item of the run, or a test translation of this kind."""
    evidence = reviewed(card, shape, segments=segments)
    key = evidence.key
    item = next(
        i
        for i, each in key.items.items()
        if each.control is control and (control or each.run_id == card["run_id"])
    )
    laptop = histories.Chain(Random(3))
    laptop.lamport = 10**6
    who, batch = next(e for e in evidence.events if e.kind == "consent").payload.reviewer, None
    batch = next(e for e in evidence.events if e.kind == "consent").payload.batch
    laptop.write(HarmFlag(wall=histories.WALL, reviewer=who, batch=batch, item=item, harmful=True))
    return histories.evidence_of(key, [*evidence.events, *laptop.events])
