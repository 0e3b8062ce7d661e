"""Real stores and event streams for the screens: a run in the middle, a finished one, hostile texts."""

from __future__ import annotations

import json
import sqlite3
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.core.calls import Reply, Request, Usage
from harness.core.failures import ErrorClass, RunState
from harness.method.method import Attempt, MethodClass, Result, Setup
from harness.run.events import EntryScored, Event, EventQueue, Finished, Progress, Started, Waiting
from harness.setup.scoring_tools import scores_of
from harness.store.corpora.entries import save_corpus
from harness.store.replies import StoredReply, add_replies, request_key
from harness.store.results import add_results
from harness.store.runs import create_run, find_run, seal_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Floor, Live, RunOpening
from scoring.card.claim import Claim, Score, decide_claim
from scoring.core.inventory import Composite
from scoring.core.scorer import RunningTotals, Scorer, missing_reasons
from scoring.core.setup import Translation
from scoring.metrics.inventory import surface_metrics
from tests.corpora import making

SCORER = Scorer(surface_metrics(tokenizer="13a", has_variants=True))

PAIRS = [
    ("I see the dog.", "Mi vidas la hundon.", "Mi vidas la hundon."),
    (
        "The woman whose son went to the store is my teacher.",
        "La virino, kies filo iris al la vendejo, estas mia instruistino.",
        "La virino, kies filo iras al la butiko, estas mia instruisto.",
    ),
    ("Where were you yesterday?", "Kie vi estis hieraŭ?", "Kie vi estas hieraŭ?"),
    ("If it rains, we will stay at home.", "Se pluvos, ni restos hejme.", "Se pluvos, ni restas en la hejmo."),
    ("Good morning, {name}!", "Bonan matenon, {name}!", "Bonan matenon, {name}!"),
    ("The file could not be opened.", "La dosiero ne povis esti malfermita.", "The file ne povis malfermi."),
    ("He has three cats.", "Li havas tri katojn.", "Li havas tri kato."),
    ("Close the door, please.", "Bonvolu fermi la pordon.", "Fermu la pordon, mi petas."),
]  # fmt: skip

CREE = [("I see him.", "ᓂᐚᐸᒫᐤ", "ᓂᐚᐸᒫᐤ"), ("We see the dog.", "niwâpamânân atim", "niwa\u0302pama\u0302na\u0302n atim")]

HOSTILE = [
    "[/foo] text", "[@click=app.quit]press[/]", "[link=https://example.org]y[/link] [bold red]x",
    "\x1b]52;c;aGFja2Vk\x07clip", "\x1b[2J\x1b[Hgone \x1b]0;title\x07", "\x9b2J\x9d0;t\x9c",
    "\u202eevil\u202c \u2066iso\u2069 \u200e\u200f\u061c", "nul\x00 bell\x07 back\x08\x7f del",
    "zero\u200bwidth\u2060\ufeff\u00ad\u034f\u3164", "tab\tline\nfeed\r\nend\u2028\u2029\x0b\x0c\x85",
    "ᓂᐚᐸᒫᐤ 👩\u200d👧 م\u200cن", "w" + "a\u0302\u0323\u0307\u0308" * 40, "long " * 4000,
    "\ue000\ufdd0\U000e0041\U0010ffff private", "$quiet [$bad]x[/] {name} %s \\[x]",
]  # fmt: skip

DATASET = Dataset(
    id="eo-demo-v1", version="1.0", language_pair="EN→EO", source_language="en",
    target_language="eo",
)  # fmt: skip

RUN_ID = "0f3b8c1e-6c1d-4a70-9a52-0123456789ab"

SETUP = Setup(
    method="chat", method_class=MethodClass.COACHED_LLM, method_version="1", provider="ollama",
    model_slug="qwen2.5-7b", condition="coached-v2",
)  # fmt: skip

FLOORS = (
    Floor("empty", 0.0, 0.0), Floor("copied", 0.16, 14.2), Floor("constant", 0.21, 17.9),
    Floor("shuffled", 0.19, 16.4),
)  # fmt: skip


@dataclass
class Scene:
    path: Path
    store: sqlite3.Connection
    number: int
    run_id: str
    entries: Sequence[Entry]
    results: list[Result]
    queue: EventQueue
    missing: dict[str, str]

    def started(self, *, done: int = 0) -> Started:
        return Started(
            run_id=self.run_id, setup=find_run(self.store, self.run_id).setup, dataset=DATASET,
            positions=tuple(range(len(self.entries))), done=done, floors=FLOORS, missing=self.missing,
            budget_usd=0.05, started_at=1_700_000_000.0,
        )  # fmt: skip

    def progress(self, done: int, **changes: object) -> Progress:
        total = len(self.entries)
        results = self.results[:done]
        tries = Waiting(done, 3, 6, 3.0, "429"), Waiting(done + 1, 2, 6, 0.4, "timeout")
        values = values_of(self.entries, results)
        flight = tuple(range(done + 2, min(total, done + 18)))
        fields: dict[str, object] = {
            "run_id": self.run_id, "state": RunState.RUNNING, "elapsed_seconds": 41.0, "total": total,
            "done": done, "failed": sum(result.failed for result in results), "in_flight": flight,
            "waiting": tries[: max(0, total - done)], "concurrency": 16, "most_concurrency": 32,
            "rate_limited": 7, "retries": 9, "values": values, "intervals": intervals_of(values),
            "quality_tier": "functional", "cost_usd": 0.0184, "expected_cost_usd": 0.028,
            "spent_usd": 0.0184, "budget_usd": 0.05, "tokens": 41_220, "per_minute": 118.0,
            "eta_seconds": 22.0, "p50_seconds": 0.41, "p95_seconds": 0.98, **changes,
        }  # fmt: skip
        fields.setdefault("claim", claim_so_far(fields["values"], fields["intervals"]))  # type: ignore[arg-type]
        return Progress(**fields)  # type: ignore[arg-type]

    def scored(self, done: int) -> list[Event]:
        return [EntryScored(self.run_id, result) for result in self.results[:done]]

    def play(self, events: Sequence[Event]) -> None:
        for event in events:
            self.queue(event)

    def middle(self, done: int) -> None:
        """Play a run up to the middle, with a changing rate behind it."""
        self.play([self.started()])
        for second in range(41):
            share = (second / 41) ** 1.3
            self.queue(self.progress(int(done * share), elapsed_seconds=float(second)))
        self.play([*self.scored(done), self.progress(done)])

    def close(self) -> None:
        self.store.close()


def claim_so_far(values: Mapping[str, float | None], intervals: Mapping[str, tuple[float, float]]) -> Claim:
    """Decide as a run does, by the floors of all scenes."""
    lower = {name: ends[0] for name, ends in intervals.items()}
    chrf = Score(values.get("chrf_plus_plus"), lower.get("chrf_plus_plus"))
    mixed = Composite(values.get("composite"), "B", "", (), {}, 1.0)
    return decide_claim(mixed, lower.get("composite"), chrf, scores_of(FLOORS))


def values_of(entries: Sequence[Entry], results: Sequence[Result]) -> dict[str, float | None]:
    totals = RunningTotals(SCORER)
    if results:
        totals.add([SCORER.unpack(result.statistics) for result in results])
    return {**totals.values(), "composite": totals.composite().value}


def intervals_of(values: Mapping[str, float | None]) -> dict[str, tuple[float, float]]:
    """Plausible ends around the values."""
    wide = {"chrf_plus_plus": 4.2, "composite": 0.05}
    ends = {name: (values.get(name), by) for name, by in wide.items()}
    return {name: (value - by, value + by) for name, (value, by) in ends.items() if value is not None}


def result(position: int, entry: Entry, output: str | None, **changes: object) -> Result:
    statistics = SCORER.statistics([Translation(entry, output or "")])[0]
    values = SCORER.entry_values(statistics)
    made = Result(
        position=position, entry_id=entry.id, output=output, statistics=SCORER.pack(statistics),
        headline=values.values["chrf_plus_plus"], exact=bool(values.values["exact_match_rate"]),
        second=values.composite, latency_seconds=0.3 + (position * 7 % 13) / 10,
        usage=Usage(180 + position % 40, 20 + position % 9),
        cost_usd=0.0001 + position % 5 / 10_000, spent_usd=0.0001 + position % 5 / 10_000,
        finished_at=1_700_000_000.0 + position,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def entries_of(pairs: Sequence[tuple[str, str, str]], total: int) -> list[Entry]:
    made = []
    for position in range(total):
        source, reference, _ = pairs[position % len(pairs)]
        variants = ("Mi la hundon vidas.",) if position % len(pairs) == 0 else ()
        analysis = "mi vid-as la hund-o-n | 1sg see-PRS the dog-NOUN-ACC"
        made.append(Entry(
            id=position + 1, source=source, reference=reference, variants=variants,
            segment=Segment.DEVELOPMENT, difficulty=1 + position % 5, provenance="elicited",
            register="formal", context="declaration", morphological_analysis=analysis,
            notes="A note.\nWith two lines.",
        ))  # fmt: skip
    return made


PREAMBLE = "Here is the translation: "


def outputs_of(count: int, every: int) -> list[str]:
    """Return the outputs of PAIRS, every few of them behind a preamble."""
    return [(PREAMBLE if place % every == 0 else "") + PAIRS[place % len(PAIRS)][2] for place in range(count)]


SET_UP: list[Scene] = []
"""Scenes of the test under way: they are closed at its end."""


def scene(
    path: Path,
    *,
    total: int = 120,
    stored: int = 84,
    pairs: Sequence[tuple[str, str, str]] = PAIRS,
    entries: Sequence[Entry] | None = None,
    outputs: Sequence[str | None] | None = None,
    setup: Setup = SETUP,
    target: str = DATASET.target_language,
    scoring: dict[str, object] | None = None,
) -> Scene:
    """Fill a store with a run of which ``stored`` entries are done."""
    entries = entries_of(pairs, total) if entries is None else entries
    store = open_store(path)
    run_id = RUN_ID
    missing = missing_reasons(SCORER.metrics, values_of(entries, []))
    surface = {metric.info.id for metric in SCORER.metrics}
    missing = {name: why for name, why in missing.items() if name not in surface}
    results = []
    for position, entry in enumerate(entries[:stored]):
        output = pairs[position % len(pairs)][2] if outputs is None else outputs[position]
        changes: dict[str, object] = {}
        if position == 11 or output is None:
            output = None
            changes = {
                "error_class": ErrorClass.TIMEOUT, "error": "No answer within 60 s.", "attempts": 6,
            }  # fmt: skip
        if position == 20:
            changes = {"cached": True, "latency_seconds": None, "spent_usd": 0.0}
        results.append(result(position, entry, output, **changes))
    store.execute("BEGIN IMMEDIATE")
    dataset = DATASET.model_copy(update={"target_language": target})
    corpus = Corpus(dataset, tuple(entries), f"{total:064x}", Form.SPECIFICATION)
    number = create_run(
        store, run_id=run_id, corpus=save_corpus(store, corpus), positions=range(len(entries)),
        setup=setup, setup_hash="s", fingerprint_hash="f", plan={},
        opening=RunOpening(floors=FLOORS, missing=missing, budget_usd=0.05, scoring=scoring),
        dataset_id=DATASET.id, language_pair=DATASET.language_pair, harness_version="0.1.0",
        created=1_700_000_000.0,
    )  # fmt: skip
    add_results(
        store, number, [replace(made, trace=_attempts(store, entries[made.position], made)) for made in results]
    )
    set_live(store, number, RunState.RUNNING, Live(at=time.time()))
    store.execute("COMMIT")
    made = Scene(path, store, number, run_id, entries, results, EventQueue(), missing)
    SET_UP.append(made)
    return made


def _attempts(store: sqlite3.Connection, entry: Entry, made: Result) -> tuple[Attempt, ...]:
    if made.failed:
        failure = {"error_class": ErrorClass.TIMEOUT, "error": "No answer within 60 s."}
        failed = Attempt(None, None, 60.0, 2.0, **failure)  # type: ignore[arg-type]
        return tuple(replace(failed, waited_seconds=float(2**n)) for n in range(6))
    body: dict[str, Any] = {
        "model": "qwen2.5-7b", "temperature": 0,
        "messages": [
            {"role": "system", "content": "Translate into Esperanto.\nAnswer with the translation only."},
            {"role": "user", "content": entry.source},
        ],
    }  # fmt: skip
    request = Request("ollama", "http://127.0.0.1/v1", body, read=lambda _: Reply(""))
    key = request_key(request, "chat")
    reply = Reply(made.output or "", Usage(180, 20), "qwen2.5-7b", "stop")
    add_replies(store, [StoredReply(reply, 0.4, 0.0001, key, body)])
    if made.position % 7 == 3:
        failure = {"error_class": ErrorClass.RATE_LIMIT, "error": "Too many requests."}
        limited = Attempt(None, 429, 0.05, **failure)  # type: ignore[arg-type]
        return (limited, Attempt(key, 200, made.latency_seconds, 3.0))
    return (Attempt(key, 200, made.latency_seconds, cached=made.cached, note="kept as it came"),)


def card_of(made: Scene) -> dict[str, object]:
    """A sealed card in the layout of the specification, without results[]."""
    values = values_of(made.entries, made.results)
    ends = {n: {"ci_lower": e[0], "ci_upper": e[1]} for n, e in intervals_of(values).items()}
    return {
        "run_id": made.run_id,
        "scores": {
            **values, "quality_tier": "deployable", "at_floor": False, "confidence_intervals": ends,
            "reasons": made.missing, "total": len(made.entries),
        },
        "claimable_tier": "functional",
        "floors": [
            {"name": f.name, "composite": f.composite, "chrf_plus_plus": f.chrf} for f in FLOORS
        ],
        "cost": {"total_cost_usd": 0.0271},
        "speed": {
            "elapsed_seconds": 63.0, "entries_per_minute": 114.2, "median_latency_seconds": 0.41,
            "p95_latency_seconds": 0.98,
        },
        "tokens": {"total_tokens": 60_412}, "budget": {"budget_usd": 0.05, "spent_usd": 0.0271},
        "retries": {"rate_limited": 7, "retried_entries": 9}, "run_card_hash": "ab" * 32,
    }  # fmt: skip


def sealed(path: Path, total: int = 24) -> Scene:
    made = scene(path, total=total, stored=total)
    seal_run(made.store, made.number, json.dumps(card_of(made)))
    return made


def hostile(path: Path) -> Scene:
    entries = [
        Entry(
            id=f"id{number}{text[:12]}" if "\ud800" not in text else number,
            source=text, reference=text + "r", variants=(text, text + "v"), provenance=text[:40],
            register=text[:40], context=text[:40], notes=text, morphological_analysis=text,
            variant_class=text, **{"extra[/]": text},
        )
        for number, text in enumerate(HOSTILE)
    ]  # fmt: skip
    named = {"model_slug": HOSTILE[0] + HOSTILE[4], "condition": HOSTILE[6]}
    outputs = [None if number == 1 else text for number, text in enumerate(HOSTILE)]
    setup, count = SETUP.model_copy(update=named), len(entries)
    return scene(path, total=count, stored=count, entries=entries, outputs=outputs, setup=setup)


def finished(made: Scene, state: RunState = RunState.COMPLETE) -> Finished:
    done = len(made.results)
    failed = sum(each.failed for each in made.results)
    return Finished(made.run_id, state, done, failed, len(made.entries), 63.0, "ab" * 32)


FAULTY = [
    making.entry(1, source="Good morning!", reference="Bonan matenon!", segment="development"),
    making.entry(2, source="Good morning!", reference="Bonan matenon!", segment="development"),
    making.entry(3, source="Thank you!", reference="Dankon!", register="Formal ", difficulty=2),
    making.entry(4, source="Secret night", reference="Sekreta nokto", segment="held_out", difficulty=2),
]
"""A corpus with faults."""


ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates included


def acting(text: str) -> list[str]:
    return [
        character
        for character in text
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        and character not in "\u200c\u200d"
    ]
