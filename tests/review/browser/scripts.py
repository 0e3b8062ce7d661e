"""Sittings as scripts: what a person does, step by step, played here with the session of Python, and in JavaScript by ``play.js``."""

import base64
import json
import random
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import which
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from corpora.languages.tags import language_of
from harness.core.storage import StorageProblem
from harness.core.version import VERSION
from harness.sealed.keys import Identity
from harness.sealed.phrase import LIST
from harness.store.sqlite.trouble import transaction
from review.files import manifests
from review.files.batch import Batch, write_batch
from review.files.manifests import InLanguage, OthersWords, SentenceContext
from review.log.event import Event, make_event, read_event, read_payload
from review.log.laptop import Laptop
from review.log.payloads import MOST_TEXT, Face, Scope
from review.log.table import NotSaved, insert_event
from review.rating import CannotJudge, Rating, Reason, Relation
from review.session.session import Session
from review.session.view import Phase, TextField, View
from review.session.words.catalogue import Words, language_name
from review.session.words.troubles import SAVING
from tests.review.files.made import LAPTOP
from tests.review.session.scenes import CODE, OTHER_CODE, batch_of, items_of, sentences_of, tag, training_of

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
BUILT, WEB = ROOT / "review" / "browser" / "built", ROOT / "web"
NODE = 20  # The first version that knows whole surrogate pairs


def in_node(function: str, arguments: Iterable[Any], *files: Path) -> list[Any]:
    """Call a function of the built page in node, once for each argument."""
    return node(HERE / "node.js", BUILT / "review.js", function, *files, given=arguments)


def node(*command: str | Path, given: Iterable[Any] = ()) -> list[Any]:
    """Run a program in node, with JSON lines in and out; what it cannot do here is skipped with a reason."""
    version = (
        subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        if which("node")
        else "v0"
    )
    if int(version[1:].partition(".")[0]) < NODE:
        pytest.skip(f"there is no node {NODE} here: what JavaScript does is not compared")
    lines = "".join(f"{json.dumps(argument)}\n" for argument in given)
    done = subprocess.run(
        ["node", *command], input=lines, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def need_modules() -> None:
    if not (WEB / "node_modules").is_dir():
        pytest.skip("web/node_modules is not there: `make web` fetches what builds the page")


# Sittings

DEVICE = "d0" * 8
README = (Path(manifests.__file__).parent / "templates" / "ratings.txt").read_text("utf-8")
# Texts that the two languages could read in two ways: blanks, byte order marks, halves of pairs, two normal forms
TEXTS = (
    "", " ", "better", " better ", "\x85better\x1c", "\ufeffbetter\ufeff", "\ufeff", "a\ud800b", "\udc00\ud800", "e\u0301\u00e9",
    "\U00010400" * MOST_TEXT, "\U00010400" * (MOST_TEXT + 1), "x" * (MOST_TEXT - 1) + "\ud83d", "line\nline", "\u14c2\u1401\u1424", '"\\/\x7f\u2028',
)  # fmt: skip
SHORT = TEXTS[:10]
TAGS = ("en", "fr", "fr-CA", "crk", "eo", "iu")


@cache
def catalogue(tag: str) -> dict[str, Any]:
    """Return the words of a language as the page carries them, with all that are there."""
    words = Words.load(tag)
    return {
        "language": words.language, "direction": words.direction, "name": words.name, "texts": "", "messages": words.messages(),
        "plurals": "".join(str(words.form(n)) for n in range(201)),
        "names": {each: language_name(each) for each in TAGS}, "languages": {each: language_of(each) for each in TAGS},
    }  # fmt: skip


def as_json(value: Any) -> Any:
    """Return what JavaScript shows for a value: records as objects, sets in order, None as null."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_json(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, frozenset):
        return sorted(str(each) for each in value)
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    return value


_ENUMS: dict[str, Callable[[Any], Any]] = {
    "rate": Rating, "cannot_judge": CannotJudge, "relate": Relation, "withdraw": Scope, "keep_draft": TextField, "save_text": TextField,
    "set_reasons": lambda reasons: [Reason(reason) for reason in reasons],
    "fail": lambda problems: [StorageProblem(problem) for problem in problems],
}  # fmt: skip
"""Act → what reads its choice: its second argument, or its only one."""


@dataclass
class Play:
    """A script that is being written: each step is played with the session of Python, and what it shows is noted."""

    folder: Path
    patch: pytest.MonkeyPatch
    batches: Sequence[Batch]
    passphrases: Sequence[str | None] = (None, None)
    clock: float = 1000.0
    guard: float = 0.25
    font: str | None = "Noto 18"
    steps: list[Any] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    drawn: int = 0

    def __post_init__(self) -> None:

        def salt(_: int) -> bytes:
            self.drawn += 1
            return sha256(f"salt {self.drawn - 1}".encode()).digest()[:16]

        self.patch.setattr("review.log.table.secrets", SimpleNamespace(token_bytes=salt))
        self.patch.setattr("review.log.laptop.new_device", lambda: DEVICE)
        self.patch.setattr(Identity, "load", lambda *_: LAPTOP)
        self.patch.setattr(Identity, "known", lambda *_: True)
        self.start, self.words = self.clock, Words.load("en")
        self.sessions: list[Session] = []
        self.places: list[tuple[int, int]] = []
        self.people = [
            [code if batch.manifest.names_codes else tag(code, batch.salt) for code in (CODE, OTHER_CODE)]
            for batch in self.batches
        ]
        self._open()
        for batch, passphrase in zip(self.batches, self.passphrases, strict=False):
            sealed = write_batch(batch, passphrase=passphrase)
            self.laptop.add_batch(batch.manifest_bytes, sealed, batch.manifest.secret)
        self.do("sit", 0, 0)

    def _open(self) -> None:
        self.laptop = Laptop.open(self.folder)
        self.laptop.connection.execute("PRAGMA synchronous = OFF")  # what a power cut leaves is tested elsewhere

    @property
    def script(self) -> dict[str, Any]:
        files = [write_batch(b, passphrase=p) for b, p in zip(self.batches, self.passphrases, strict=False)]
        return {
            "batches": [
                {"file": base64.b64encode(file).decode()} | ({"passphrase": p} if p else {})
                for file, p in zip(files, self.passphrases, strict=False)
            ],
            "people": self.people, "device": DEVICE, "face": "browser", "version": VERSION, "font": self.font, "guard": self.guard,
            "clock": self.start, "words": {tag: catalogue(tag) for tag in ("en", "fr")}, "readme": README, "steps": self.steps,
            "seed": LAPTOP.seed.hex(), "age": LAPTOP.age.secret,
            "phrase_words": " ".join(LIST) if any(step[0] == "export" for step in self.steps) else "",
        }  # fmt: skip

    def finish(self) -> None:
        """Note what is on the laptop at the end, and close it."""
        events = list(self.laptop.events())
        drafts = [
            [batch.manifest.batch, person, draft.item, draft.field, draft.text]
            for batch, people in zip(self.batches, self.people, strict=True)
            for person in people
            for draft in self.laptop.drafts(batch.manifest.batch, person)
        ]
        self.result = {
            "shown": self.shown,
            "events": [event.line().decode() for event in events],
            "drafts": sorted(drafts),
        }
        self.laptop.close()

    @property
    def place(self) -> tuple[int, int]:
        """The batch and the person of the session that is used."""
        return self.places[self.sessions.index(self.session)]

    @property
    def view(self) -> View:
        return self.session.view

    def do(self, act: str, *args: Any, wait: float = 1.0) -> View:
        """Wait, act, and note what is shown then."""
        self.clock += wait
        if act == "bring":
            args = (self._event(args[0], **args[1]), *self.place)
        self.steps.append([act, as_json(args), wait])
        given = self._do(act, args)
        self.shown.append({"given": given, "view": as_json(self.view), "asks": self.session.asks_relation})
        return self.view

    def _do(self, act: str, args: tuple[Any, ...]) -> Any:
        own: dict[str, Callable[..., Any]] = {
            "sit": self._sit, "use": self._use, "fail": self._fail, "words": self._words, "restart": self._restart, "bring": self._bring,
            "answered": lambda: as_json(self.session.answered()), "export": self._export,
            "agree": lambda shares: self.session.agree(share_corrections=shares),
        }  # fmt: skip
        if act in _ENUMS:
            at = min(1, len(args) - 1)
            args = (*args[:at], _ENUMS[act](args[at]), *args[at + 1 :])
        call = own[act] if act in own else getattr(self.session, act)
        try:
            given = call(*args[:2], override=True) if args[2:] and args[2] is True else call(*args)
        except NotSaved as error:
            return str(error.problem)
        return None if isinstance(given, View) else given

    def _sit(self, batch: int, person: int) -> None:
        self.session = Session(
            self.laptop, self.batches[batch], self.people[batch][person], Face.BROWSER, self.words, clock=lambda: self.clock,
            now=lambda: datetime(2026, 3, 2, tzinfo=UTC) + timedelta(seconds=int(self.clock)), font=self.font, guard=self.guard,
        )  # fmt: skip
        self.sessions.append(self.session)
        self.places.append((batch, person))

    def _event(self, at: int, kind: str, **said: Any) -> str:
        """Return an event of this person that another laptop wrote at a logical time; an undo of the last act where it names none."""
        batch, person = self.place
        who = {
            "wall": "2026-03-01T00:00:00Z",
            "reviewer": self.people[batch][person],
            "batch": self.batches[batch].manifest.batch,
        }
        if kind == "undo":
            acts = [
                event for event in self.laptop.events() if event.kind in {"rate", "skip", "cannot_judge", "translate"}
            ]
            said = {"target": acts[-1].id if acts else "0" * 64}
        judged = {"position": 0, "active_ms": 900, "face": "lines", "font": None, "version": "0", "override": False}
        payload = {"kind": kind, **who, **(judged if kind == "rate" else {}), **said}
        device = sha256(f"{len(self.steps)}".encode()).hexdigest()[:16]
        event = make_event(read_payload(payload, kind), device=device, seq=0, lamport=at, prev="", salt=bytes(16))
        return event.line().decode()

    def _bring(self, line: str, batch: int, person: int) -> None:
        with transaction(self.laptop.connection):
            insert_event(self.laptop.connection, read_event(line.encode()))
        self._restart(batch, person)

    def _use(self, number: int) -> None:
        self.session = self.sessions[number]

    def _words(self, tag: str, texts: str = "") -> None:
        self.session.words = self.words = Words.load(tag).reading(texts)

    def _restart(self, batch: int, person: int) -> None:
        self.laptop.close()
        self._open()
        self.sessions.clear()
        self.places.clear()
        self._sit(batch, person)

    def _fail(self, problems: list[StorageProblem]) -> None:
        """Let the next writes fail, after all that is done in them."""
        left, change, record = list(problems), Laptop._change_drafts, Laptop.record  # every write comes by it

        def failing(*args: Any) -> None:
            if left:
                raise NotSaved(left.pop(0), self.folder, "told by the test")
            change(self.laptop, *args)

        def recording(*args: Any) -> list[Event]:
            drawn = self.drawn
            try:
                return record(self.laptop, *args)
            except NotSaved:
                self.drawn = drawn
                raise

        self.patch.setattr(self.laptop, "_change_drafts", failing)  # every write comes by it
        self.patch.setattr(self.laptop, "record", recording)

    def _export(self) -> list[Any]:
        exported = self.session.export(self.folder)
        return [exported.path.name, exported.phrase, exported.events]


# Sittings at random: whatever a person may do, mostly what makes sense, and often what a machine would do

_ABOUT = ("set_reasons", "keep_draft", "save_text", "flag_harm")


def at_random(folder: Path, patch: pytest.MonkeyPatch, seed: int) -> Play:
    """Play a sitting of some 60 to 120 steps."""
    draw = random.Random(seed)
    play = Play(
        folder, patch, (random_batch(draw, 0), random_batch(draw, 1)), guard=draw.choice((0.25, 0.25, 0.25, 0.0))
    )
    play.do("agree", draw.random() < 0.5)
    for _ in range(draw.randrange(60, 120)):
        if play.view.item is not None and draw.random() < 0.9:
            play.do("painted", play.view.item.id, wait=0.0)
        act, args = _random_act(draw, play)
        play.do(act, *args, wait=draw.choice((0.1, 0.3, 1.0, 1.0, 2.5, 8.0005, 12.5, 61.0, draw.random() * 20)))
    return play


def random_batch(draw: random.Random, number: int) -> Batch:
    """Make one of all kinds of batches."""
    translates = draw.random() < 0.3
    items = (sentences_of if translates else items_of)(draw.choice((1, 3, 7, 16, 31)))
    training = [] if translates else training_of([draw.choice(list(Rating)) for _ in range(draw.choice((0, 1, 3)))])
    version = draw.choice((1, 2, 3, 3, 3))
    added: dict[str, Any] = {}
    if version == 3:
        added = {"shows_words": draw.random() < 0.5, "second_of": draw.choice((None, None, "5e" * 8))}
        added["translations"] = {
            tag: InLanguage(consent=draw.choice(("", f"Consent {tag}"))) for tag in draw.sample(TAGS[2:], 2)
        }
        others = [OthersWords(reasons=(Reason.ADDED,), comment="They said so.")] if added["second_of"] else []
        around = SentenceContext(context="a greeting", before="Before.")
        items = [item.model_copy(update={"around": around, "others": tuple(others)}) for item in items]
        explained = {"fr": "Parce que."} if draw.random() < 0.5 else {}
        training = [item.model_copy(update={"explanations": explained}) for item in training]
    return batch_of(
        items, training, batch=f"{number:02x}" * 8, language=draw.choice(("en", "en", "fr")), salt=b"" if version == 1 else bytes(range(32)),
        task="translate" if translates else "rate", title=draw.choice(("Spring: \u14c2 / 2", "e\u0301t\u00e9", "///")),
        policy_sha256=draw.choice(("0" * 64, sha256(b"").hexdigest())), **added,
    )  # fmt: skip


def _random_act(draw: random.Random, play: Play) -> tuple[str, Sequence[Any]]:
    view, manifest = play.view, play.session.manifest
    if view.phase is Phase.CONSENT:
        return draw.choice((("agree", [True]), ("agree", [False]), ("rate", ["0" * 16, Rating.GIST]), ("undo", [])))
    if view.phase is Phase.WITHDRAWN and draw.random() < 0.7:
        return "sit", [draw.randrange(2), draw.randrange(2)]
    everything = [item.id for item in play.batches[0].items]
    at_hand = [view.item.id] * 6 if view.item else []
    at_hand += [view.last.item.id] * 2 if view.last else []
    item = draw.choice([*at_hand, draw.choice(everything)])
    common: list[tuple[str, Sequence[Any]]] = [
        ("translate", [item, draw.choice(TEXTS)]) if play.session.translating else ("rate", [item, draw.choice(list(Rating))]),
        ("cannot_judge", [item, draw.choice(list(CannotJudge))]), ("skip", [item]), ("undo", []), ("go_on", []),
        ("set_reasons", [item, draw.sample(list(Reason), draw.randrange(4))]), ("flag_harm", [item, draw.random() < 0.6]),
        ("keep_draft", [item, draw.choice(list(TextField)), draw.choice(SHORT)]),
        ("save_text", [item, draw.choice(list(TextField)), draw.choice(TEXTS)]),
    ]  # fmt: skip
    seldom: list[tuple[str, Sequence[Any]]] = [
        ("rate", [item, Rating.EXCELLENT, True]), ("translate", [item, draw.choice(SHORT)]), ("go_to", [draw.choice((None, item))]),
        ("go_to_unrated", []), ("go_to_unsaved", []), ("relate", [draw.choice(list(Relation))]), ("share", [draw.random() < 0.5]),
        ("touched", []), ("answered", []), ("export", []), ("words", draw.choice((["en"], ["fr"], ["en", "iu"], ["fr", "fr-CA"]))),
        ("fail", [[draw.choice(list(SAVING)) for _ in range(draw.randrange(1, 3))]]),
        ("restart", [0, 0]), ("sit", [draw.randrange(2), draw.randrange(2)]), ("use", [draw.randrange(len(play.sessions))]),
    ]  # fmt: skip
    rare: list[tuple[str, Sequence[Any]]] = [("withdraw", [draw.choice(list(Scope))]), ("close", [])]
    at = draw.choice((1, 3, 9, 40))
    brought: list[dict[str, Any]] = [
        {"kind": "rate", "item": item, "rating": draw.choice(list(Rating))}, {"kind": "undo"}, {"kind": "skip", "item": item},
        {"kind": "comment", "item": item, "text": "theirs"}, {"kind": "undo"},
        {"kind": "consent", "consent_sha256": "0" * 64, "language": "xx", "share_corrections": draw.random() < 0.5},
    ]  # fmt: skip
    other = ("bring", [at, draw.choice(brought)])
    if manifest.task == "rate" and play.session.asks_relation and draw.random() < 0.5:
        return "relate", [draw.choice(list(Relation))]
    weights = [(6, common[:1] * 3 + common), (2, [*seldom, other]), (0.05, rare)]
    return draw.choice(draw.choices([acts for _, acts in weights], [weight for weight, _ in weights])[0])
