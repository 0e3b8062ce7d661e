"""A review in an office, and the commands that read its verdict."""

from __future__ import annotations

import json
import shutil
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from corpora.model.entry import Segment
from harness.sealed.keys import Identity, Role
from harness.setup.preparing import word_analyser
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import open_store
from review.files.batch import Batch, open_batch
from review.log.fold import State
from review.log.payloads import AnyPayload, HarmFlag, Rate
from review.office.store.store import Office, Review
from review.rating import Rating
from review.verdict.certificate.evidence import Evidence, pack_evidence
from review.verdict.gate.key import ControlKind
from rosetta_tui.commands.review import review
from rosetta_tui.commands.review import review as review_commands
from rosetta_tui.commands.runs import runs
from tests.review.office import made
from tests.review.office.made import copied, kept
from tests.review.verdict import histories
from tests.review.verdict.certified import GO, about, deliver, fill_office, fluent_run
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


def gate(*arguments: object) -> dict[str, Any]:
    """Return the verdict of the one run as JSON."""
    [found] = json.loads(invoke("gate", *arguments, "--json").stdout)
    return dict(found)


def sealed_run(home: Path, segment: Segment = Segment.DEVELOPMENT) -> dict[str, Any]:
    """Copy a store with a sealed run whose automatic tier is fluent; gives its card."""

    def fill(to: Path) -> None:
        with ThreadPoolExecutor(1) as pool:  # it brings its own event loop
            pool.submit(fluent_run, to / "rosetta.sqlite", to, segment=segment).result()

    copied(kept(f"fluent {segment}", fill), home)
    with closing(open_store(home / "rosetta.sqlite")) as store:
        return read_card(store, find_run(store, "last").id) or {}


def reviewed(
    card: dict[str, Any], shape: Shape = GO, *, seed: int = 1, segments: str = "development", **more: str
) -> Evidence:
    rng = Random(seed)
    key = histories.make_key(rng, shape)
    facts = {"run_id": card["run_id"], "run_card_hash": card["run_card_hash"], **more}
    key = about(key, segments=segments, **facts)
    events = histories.make_events(rng, shape, key)
    return histories.evidence_of(key, [e for e in events if e.device != histories.ORGANISATION])


def filled(office: Office, home: Path, evidence: Evidence, **batch: object) -> Review:
    return fill_office(office, evidence, Identity.load(home, Role.ORGANISATION), **batch)


@dataclass
class Spring:
    """The review ``spring`` of the run of the store, in an office that was made once for each kind."""

    home: Path
    card: dict[str, Any]

    def __post_init__(self) -> None:
        self.office = Office.open(self.home)
        self.review = self.office.review("spring")
        self.first = next(iter(self.review.key.orders))

    @property
    def state(self) -> State:
        return self.office.state(self.review)

    @property
    def looks(self) -> list[int]:
        return list(self.state.looks.values())


def spring(
    home: Path,
    shape: Shape = GO,
    *,
    segment: str = "development",
    flag: str = "",
    run: Segment = Segment.DEVELOPMENT,
    **batch: object,
) -> Spring:
    """Copy an office with a review of entries of a segment; ``run``: of which those in the store are.

    ``flag``: somebody calls one ``real`` item harmful, or a control of this kind.
    """

    def fill(to: Path) -> None:
        card = sealed_run(to, run)
        evidence = reviewed(card, shape, segments=segment)
        if flag:
            control = None if flag == "real" else ControlKind(flag)
            key, consent = evidence.key, next(e for e in evidence.events if e.kind == "consent")
            item = next(i for i, each in key.items.items() if each.control is control)
            said = {"reviewer": consent.payload.reviewer, "batch": consent.payload.batch}
            harm = HarmFlag(wall=histories.WALL, item=item, harmful=True, **said)
            evidence = histories.evidence_of(key, [*evidence.events, *later_laptop(3, harm).events])
        with Office.open(to) as office:
            filled(office, to, evidence, **batch)

    copied(kept(f"spring {shape} {segment} {flag} {run} {batch}", fill), home)
    with closing(open_store(home / "rosetta.sqlite")) as store:
        return Spring(home, read_card(store, find_run(store, "last").id) or {})


@pytest.fixture
def go(home: Path) -> Iterator[Spring]:
    """A review whose verdict is go."""
    made = spring(home)
    yield made
    made.office.close()


def later_laptop(seed: int, *said: AnyPayload) -> histories.Chain:
    """Let a new laptop say something, later than all others."""
    chain = histories.Chain(Random(seed))
    chain.lamport = 10**6 * seed
    for each in said:
        chain.write(each)
    return chain


def rate_of(review: Review, item: str, rating: Rating = Rating.GIST) -> Rate:
    """Let the first person rate an item."""
    return Rate(
        wall=histories.WALL, reviewer=next(iter(review.key.orders)), batch=review.key.batches[0],
        item=item, position=0, active_ms=5, face="lines", version="0", rating=rating,
    )  # fmt: skip


def say_later(office: Office, review: Review, seed: int, *said: AnyPayload) -> str:
    """Let a new laptop say something, and take it in; gives its device."""
    chain = later_laptop(seed, *said)
    deliver(office.connection, review.key, tuple(chain.events))
    return chain.device


def another_rating(office: Office, review: Review, seed: int) -> str:
    """Write something in the name of the first person on a new device, and return that device."""
    return say_later(office, review, seed, rate_of(review, next(iter(review.key.items))))


def issued(tmp_path: Path, name: str = "out") -> Path:
    """Issue the certificate of the newest review."""
    done = invoke("gate", "--issue", "-o", tmp_path / name)
    assert done.exit_code == 0, done.output
    [certificate] = (tmp_path / name).glob("*.certificate.json")
    return certificate


def put(file: Any, folder: Path, name: str = "c") -> Path:
    """Write an evidence file."""
    path = folder / f"{name}.rosetta-evidence"
    path.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
    return path


CREATE = ("create", "last", "--organisation", "The council")


@lru_cache(maxsize=4)
def _analyser(language: str, sentences: tuple[str, ...]) -> object:
    return word_analyser(language, sentences)


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Seal a run in the store; codes cost little, and words of one corpus are looked up once."""
    monkeypatch.setattr("review.files.identities._WORK", 4)  # its cost is meant for thieves
    monkeypatch.setattr(
        "review.office.making.creating.word_analyser", lambda language, sentences: _analyser(language, tuple(sentences))
    )
    made.store_runs(home)
    return home


def rosetta(*arguments: object, text: str | None = None, code: int = 0) -> Result:
    result = CliRunner().invoke(review, [*map(str, arguments)], input=text)
    if code == 0 and result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    assert harmless(result.output)
    return result


def refused(*arguments: object) -> str:
    """Run a command that fails in words, which the front door prints; gives them."""
    result = CliRunner().invoke(review, [*map(str, arguments)])
    assert result.exception is not None
    return str(result.exception)


def harmless(text: str) -> bool:
    return all(c == "\n" or unicodedata.category(c) not in {"Cc", "Cf"} for c in text)


def batch_at(path: Path) -> Batch:
    """Return the one batch in a folder, or that of a file."""
    [file] = path.glob("*.rosetta-batch") if path.is_dir() else [path]
    return open_batch(file.read_bytes())


def create(folder: Path, *more: object) -> Batch:
    """Make a review whose batch is written into a folder of its own."""
    rosetta(*CREATE, "-o", folder, "--seed", "3", "--json", *more)
    return batch_at(folder)


def sent(home: Path, folder: Path, *more: str) -> list[made.Person]:
    """Copy a review that was made once, and give its people."""

    def fill(to: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROSETTA_HOME", str(to / "home"))
            made.store_runs(to / "home")
            create(to / "out", "--name", "spring", *more)

    kept = made.kept(f"sent {more}", fill)
    made.copied(kept / "home", home)
    batch = batch_at(Path(shutil.copytree(kept / "out", folder)))
    people = made.codes_of(home).items()
    return [made.Person(folder / code, batch, who, code) for who, code in people]


def status() -> dict[str, object]:
    told: dict[str, object] = json.loads(rosetta("status", "--json").output)
    return told
