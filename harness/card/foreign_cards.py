"""Cards of other programs, read as ours: what they carry is kept, what they lack stays unknown (C1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sized
from enum import StrEnum

from pydantic import ValidationError

from corpora.files.json_types import Json, JsonObject
from harness.card.model import HASH_FIELD, Block, Cost, EntryResult, RunCard, Speed, Tokens, Totals
from harness.card.reading import block
from harness.core.canonical import StreamedArray
from harness.core.failures import UsageError
from harness.method.method import MethodClass, Setup
from scoring.card.claim import HIGHEST_WITHOUT_REVIEW
from scoring.core.specification import Tier, quality_tier


class ForeignLayout(StrEnum):
    """What kind of record a JSON object is."""

    CARD = "run card"
    """With ``scores`` and ``dataset``: ours, the specification's, or the older one with ``totals`` only."""
    REPORT = "test report"
    """With ``overall`` and ``entries``, as the reference implementation writes it."""
    LOG = "run log"
    """With ``config`` and ``results``, and no score: what the reference implementation writes as it runs."""
    PUBLISHED = "published row"
    """Flat, with the specification's names: aggregates of a run, without its card."""
    ROW = "leaderboard row"
    """Flat, with names in camel case."""


_INTERVAL_NAMES = {"corpus_chrf": "chrf_plus_plus", "corpus_bleu": "bleu", "composite_score": "composite"}
"""What the older layout calls the intervals of §8.1."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def layout(raw: JsonObject, name: str) -> ForeignLayout:
    """Return what a JSON object is; raises UsageError where it is nothing of the kind."""
    if str(raw.get("format", "")).startswith("rosetta-released-"):
        raise UsageError(
            f"{name} is a released card: coarse scores over secret entries, which are compared with nothing here. Keep the "
            "file; `rosetta runs verify` says who signed it."
        )
    if isinstance(raw.get("overall"), dict) and isinstance(raw.get("entries"), list):
        return ForeignLayout.REPORT
    if isinstance(raw.get("scores"), dict) and isinstance(raw.get("dataset"), dict):
        return ForeignLayout.CARD
    if isinstance(raw.get("config"), dict) and isinstance(log_rows(raw), list | StreamedArray):
        return ForeignLayout.LOG
    if isinstance(raw.get("chrf_plus_plus"), int | float) and not {"modelSlug", "entry_id"} & raw.keys():
        return ForeignLayout.PUBLISHED
    if "modelSlug" in raw or ("model" in raw and any(_HUMP.search(key) for key in raw)):
        return ForeignLayout.ROW
    raise UsageError(f"{name} is not a run card: it has neither `scores` with `dataset`, nor `overall` with `entries`.")


def log_rows(raw: JsonObject) -> Json:
    """Return the entries of a run log, under either of their names."""
    return raw.get("results", raw.get("entries"))


def unwrapped(raw: dict[str, Json]) -> dict[str, Json]:
    """Extract the card from a published row that holds it."""
    inner = raw.get("run_card")
    return inner if isinstance(inner, dict) and "scores" not in raw else raw


def is_ours(raw: JsonObject) -> bool:
    """Return whether a card is arranged as this program does it, with all of its blocks."""
    method = raw.get("method")
    return isinstance(method, dict) and "method_class" in method


def adopt(raw: JsonObject, name: str) -> RunCard:
    """Read a card of either layout; raises UsageError that names the first wrong field by JSON path.

    Rows that are streamed are examined one by one; the card that is returned has none of them.
    """
    rows: object = raw.get("results")
    path = "$"
    try:
        whole = raw if is_ours(raw) else _completed(raw)
        if isinstance(rows, StreamedArray):
            whole = {**whole, "results": []}
        scores = block(raw, "scores")
        if is_ours(raw) and scores.get("composite") is None and scores.get("quality_tier") is None:
            # newer harnesses state neither composite nor tier of what is unscored
            unscored = {**scores, "quality_tier": Tier.UNSCORED.value}
            whole = {"claimable_tier": Tier.UNSCORED.value, **whole, "scores": unscored}
        card = RunCard.model_validate({HASH_FIELD: "", **whole})
        for place, row in enumerate(rows if isinstance(rows, StreamedArray) else ()):
            path = f"$.results[{place}]"
            EntryResult.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        location = first["loc"]
        path += "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in location)
        raise UsageError(f"{name}: {path}: {first['msg']}.") from error
    return card


def _completed(raw: JsonObject) -> dict[str, Json]:
    """Move what is elsewhere in the older layout to where ours has it."""
    results = raw.get("results")
    scores = _scores(raw, results if isinstance(results, list | StreamedArray) else ())
    blocks: dict[str, type[Block]] = {"tokens": Tokens, "cost": Cost, "totals": Totals, "speed": Speed}
    completed: dict[str, Json] = {
        "harness_version": "",
        "timestamp": "",
        "condition": "",
        "stretches": [],
        "results": [],
        "floors": [],
        HASH_FIELD: "",
        **{key: value for key, value in raw.items() if value is not None},
        "scores": scores,
        **{name: _filled(raw, scores, name, model) for name, model in blocks.items()},
    }
    tier = scores["quality_tier"]
    known = Tier(tier) if tier in set(Tier) else Tier.UNSCORED
    claimable = min(known, HIGHEST_WITHOUT_REVIEW, key=lambda claimed_tier: claimed_tier.rank).value
    completed.setdefault("claimable_tier", claimable)
    completed.setdefault("fingerprint", {"hash": "", "components": {}})
    unknown = {"id": "", "language_pair": "", "sha256": "", "entry_count": scores["total"]}
    stated_data = {key: value for key, value in block(raw, "dataset").items() if value is not None}
    completed["dataset"] = unknown | stated_data
    if not isinstance(completed.get("tools_enabled"), list):
        completed["tools_enabled"] = []  # the older layout says only whether there were any
    # Read the set-up from the top of the card.
    method = block(completed, "method_card")
    stated = str(method.get("method_class") or method.get("class") or "")
    guess = MethodClass.COACHED_LLM if completed.get("coaching_data_sha256") else MethodClass.RAW_LLM
    fields = Setup.model_fields.keys() - {"method", "method_class", "method_version", "options"}
    setup = Setup.model_validate(
        {
            "method": str(method.get("name") or "unknown"),
            "method_class": MethodClass(stated) if stated in set(MethodClass) else guess,
            "method_version": str(method.get("version") or ""),
            **{field: completed[field] for field in fields if completed.get(field) is not None},
        }
    )
    completed["method"] = setup.model_dump(mode="json")
    return completed


def _scores(raw: JsonObject, results: Sized) -> dict[str, Json]:
    scores = dict(block(raw, "scores"))
    if scores.get("quality_tier") is None:
        composite = scores.get("composite")
        scores["quality_tier"] = quality_tier(composite if isinstance(composite, int | float) else None).value
    if scores.get("bleu") is None:
        scores["bleu"] = raw.get("corpus_bleu")
    scores.setdefault("total", block(raw, "dataset").get("entry_count", len(results)))
    scores.setdefault("errors", 0)
    if isinstance(scores.get("confidence_intervals"), dict):
        intervals = block(scores, "confidence_intervals")
        scores["confidence_intervals"] = {_INTERVAL_NAMES.get(key, key): value for key, value in intervals.items()}
    return {key: value for key, value in scores.items() if value is not None}


def _filled(raw: JsonObject, scores: JsonObject, name: str, model: type[Block]) -> JsonObject:
    """Return a block of the card, its missing fields taken from where the other layout has them."""
    filled = dict(block(raw, name))
    for place in (raw.get("totals"), scores, raw):
        if isinstance(place, Mapping):
            for field in model.model_fields:
                if filled.get(field) is None and place.get(field) is not None:
                    filled[field] = place[field]
    return filled


def snake_case(row: JsonObject) -> dict[str, Json]:
    """Return a leaderboard row with the names of the specification."""
    return {_HUMP.sub("_", key).lower(): value for key, value in row.items()}
