"""Verifying a card: its seal, its fingerprint, and every number computed again from its outputs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpora.files.json_types import Json, JsonObject
from corpora.model.entry import AnyEntry
from harness.card.assembling import (
    SETUP_FIELDS,
    VERIFICATION_TIER,
    analyser_version,
    assemble,
    listed_floors,
    store_card,
)
from harness.card.checking.recompute import (
    card_material,
    card_scorer,
    card_setup,
    counts_again,
    measured_again,
    measures_again,
    resting_on_rows,
    rows_again,
    scores_again,
    without,
)
from harness.card.checking.verdict import CardCheck, CardVerdict, impossible, taken_as_stated
from harness.card.foreign_cards import ForeignLayout, adopt, is_ours, layout, snake_case, unwrapped
from harness.card.foreign_logs import report_again
from harness.card.material import Material, fingerprint, held, stored_material
from harness.card.model import HASH_FIELD, EntryResult, RunCard, SealForm, seal_form
from harness.card.reading import block, earlier_claim, of_these_rules, parse_object
from harness.card.rows import HeldRows, StoredRows
from harness.consent import checks as consent
from harness.core.canonical import StreamedArray, canonical_sha256, sorted_key_sha256
from harness.core.failures import HarnessError, UsageError
from harness.core.version import VERSION
from harness.setup.scoring_options import check_stated
from harness.setup.scoring_tools import stated_setup
from harness.store.runs import Run, find_run
from harness.store.sqlite.database import home
from harness.store.sqlite.trouble import transaction
from harness.store.withdrawn import entry_ids_of_run, now_standing
from scoring.core.inventory import composite, profile_for
from scoring.core.scorer import Scorer
from scoring.core.specification import quality_tier, specified, stated_weighing

_WORDS = frozenset({
    "reasons", "signatures", "composite_missing", "composite_profile_reason", "tier_in_words", "comet_model",
})  # fmt: skip
"""Parts of ``scores`` that are words: another version of the program may put them otherwise."""

_CLAIM = frozenset({"claimable_tier", "at_floor", "mostly_identical", "claim"})
"""Parts of ``scores`` that say what may be claimed."""

_TERMS = (
    "transmission", "transmission_because", "transmission_rule", "licence_class", "endpoints", "training", "may_send",
)  # fmt: skip
"""Parts of ``dataset`` that older cards do not have, or state by earlier classes of licences."""


def verify_card(data: bytes, connection: sqlite3.Connection | None = None, name: str = "the card") -> CardVerdict:
    """Verify the bytes of a card, as far as they carry data.

    Withheld rows are taken from the store where ``connection`` has the run. Numbers agree within
    ``difference.TOLERANCE``; those of the older layout, which rounds, within half a unit of their last
    decimal. Raises UsageError where the bytes are no card.
    """
    return verify_object(unwrapped(parse_object(data, name)), connection, name)


def verify_object(raw: Mapping[str, Any], connection: sqlite3.Connection | None, name: str) -> CardVerdict:
    """Verify a card that was parsed, as ``verify_card`` does."""
    match layout(raw, name):
        case ForeignLayout.CARD:
            card = adopt(raw, name)
            rows = HeldRows(raw.get("results") or ())
            verdict = _verify(raw, card, connection, rows)
            if now_standing():  # what notices that are believed here say of it
                stored = None if connection is None else entry_ids_of_run(connection, card.run_id)
                ids = [row.entry_id for row in rows] or stored
                verdict.checks += consent_checks(consent.of_card(raw, ids))
            return verdict
        case ForeignLayout.REPORT:
            return _verify_report(raw)
        case ForeignLayout.LOG:
            verdict = CardVerdict()
            verdict.skip("seal", "a run log has none")
            verdict.skip("scores", "a run log has none; import it, and it is scored")
            return verdict
        case ForeignLayout.ROW | ForeignLayout.PUBLISHED:
            return _verify_row(raw)


def consent_checks(subject: consent.Verified) -> Iterator[CardCheck]:
    """Yield what notices that are believed here say of something; nothing where none is about it."""
    for check in consent.found(subject, now_standing()):
        yield CardCheck("consent", check.ok, check.words)


def _verify(raw: JsonObject, card: RunCard, connection: sqlite3.Connection | None, rows: StoredRows) -> CardVerdict:
    verdict = CardVerdict([check_hash(raw)])
    _check_calibration(verdict, card)
    # Name a verification tier that only the card itself vouches for.
    if card.verification_tier != VERIFICATION_TIER:
        verdict.skip(
            "verification tier",
            f"states {card.verification_tier}; nothing here shows it. Only what is attached to the run does: "
            "a certificate (`rosetta review attach`), the record of a reproduction (`rosetta runs attach`)",
        )
    ours = is_ours(raw)
    _check_fingerprint(verdict, raw, card, ours=ours)
    if not len(rows) and card.withheld is None:
        verdict.skip("numbers", "the card has no results[], so they cannot be computed again")
        _check_arithmetic(verdict, raw)
        return verdict
    if not _check_stated(verdict, card, rows):
        verdict.skip("numbers", "they rest on stated numbers that cannot be, so none was computed")
    elif card.withheld is None and not rows.withheld:
        rounded = not ours
        material = card_material(card, rows)
        if words := taken_as_stated(card, material.scorer):
            verdict.skip("stated numbers", words)
        measures, _ = measured_again(card.speed, material)
        again = {**measures_again(card, material, measures), "scores": scores_again(card, material, measures)}
        computed = resting_on_rows(raw, again)
        scores = dict(block(computed, "scores"))
        del computed["scores"]
        _compare_rows(verdict, raw, material, rounded=rounded)
        verdict.compare("cost, speed, tokens", raw, computed, rounded=rounded)
        if "claim" not in block(raw, "scores"):
            scores |= earlier_claim(card, rows, scores)
        _check_scores(verdict, raw, scores, material.scorer, rounded)
    elif _check_against_store(verdict, raw, card, connection):
        pass
    elif card.withheld is not None:
        # Check what a card without rows states.
        verdict.skip(
            "numbers",
            f"{card.withheld.secret:,} of {card.withheld.entries:,} entries are secret, so the card has totals and no rows: only "
            "the composite could be computed again. Where the run is in the store, everything is",
        )
        _check_arithmetic(verdict, raw)
    else:
        _check_withheld(verdict, raw, card, rows)
    return verdict


def _compare_rows(verdict: CardVerdict, raw: JsonObject, material: Material, *, rounded: bool) -> None:
    again = StreamedArray(lambda: rows_again(material), len(material.entries))
    verdict.compare("entries", raw, {"results": again}, rounded=rounded)


def verify_rows(connection: sqlite3.Connection, run: Run, head: JsonObject, rows: StoredRows) -> CardVerdict:
    """Verify the card of a run of this store as ``verify_card`` does; ``head`` is the card without its rows.

    None of them may be withheld.
    """
    card = RunCard.model_validate({**head, "results": []})
    whole: dict[str, Any] = {**head, "results": rows.as_json()}
    verdict = _verify(whole, card, connection, rows)
    verdict.checks += consent_checks(consent.of_card(head, entry_ids_of_run(connection, run.run_id) or []))
    return verdict


def check_own_card(card: RunCard, rows: Sequence[EntryResult] | StoredRows) -> CardVerdict:
    """Verify a card that was just computed, but for its scores: the same code would compute them again. ``rows`` are its rows.

    What is left are the values that are stated as they are, which are the only ones that can be impossible.
    """
    raw = card.as_json()
    verdict = CardVerdict()
    _check_calibration(verdict, card)
    _check_fingerprint(verdict, raw, card, ours=True)
    _check_stated(verdict, card, rows)
    _check_arithmetic(verdict, raw)
    return verdict


def check_hash(raw: JsonObject) -> CardCheck:
    """Return whether the hash on a card is its own."""
    if not raw.get(HASH_FIELD):
        lost = False if is_ours(raw) else None  # every card of this program has one
        return CardCheck("seal", lost, "the card has no run_card_hash")
    form = seal_form(raw)
    if form is None:
        words = "run_card_hash is not the hash of this card: it was changed"
        return CardCheck("seal", False, words)
    words = "RFC 8785" if form is SealForm.JCS else "older form, sorted keys"
    return CardCheck("seal", True, words)


def _check_calibration(verdict: CardVerdict, card: RunCard) -> None:
    """Check the calibration that a card says its scores were weighed by."""
    if (calibration := (card.scoring or {}).get("calibration")) is not None:
        verdict.checks.append(CardCheck("calibration", *check_stated(calibration, home())))


def _check_fingerprint(verdict: CardVerdict, raw: JsonObject, card: RunCard, *, ours: bool) -> None:
    stated = raw.get("fingerprint")
    if not isinstance(stated, dict) or not stated.get("hash"):
        verdict.skip("fingerprint", "the card has none")
    elif ours:
        setup = card_setup(card)
        again = fingerprint(setup, card.dataset.sha256, card.harness_version)
        # the fields that stand both at the top of the card and in its method block; the analyser that a method names
        # goes before that of the scores, which older cards do not name there
        fields = setup.model_dump(mode="json", include=set(SETUP_FIELDS))
        if setup.fst_version is None and card.fst_version is not None:
            fields["fst_version"] = analyser_version(stated_setup(card.scoring))
        verdict.compare("fingerprint", raw, {"fingerprint": again.model_dump(mode="json"), **fields}, rounded=False)
    elif not isinstance(components := stated.get("components"), dict):
        verdict.skip("fingerprint", "the card does not list its components")
    else:
        hashes = {canonical_sha256(components), sorted_key_sha256(components)}
        expected = stated["hash"] if stated["hash"] in hashes else sorted_key_sha256(components)
        both = ({"fingerprint": {"hash": value}} for value in (stated["hash"], expected))
        verdict.compare("fingerprint", *both, rounded=False)


def _check_stated(verdict: CardVerdict, card: RunCard, rows: Sequence[EntryResult] | StoredRows) -> bool:
    """Judge what is not computed again; False where no run can have given it."""
    wrong = list(impossible(card, card_scorer(card, rows), rows))
    if wrong:
        verdict.judge("stated numbers", wrong)
    return not wrong


def _check_scores(
    verdict: CardVerdict, raw: JsonObject, expected: dict[str, Json], scorer: Scorer, rounded: bool
) -> None:
    """Compare the scores; a metric that this version cannot compute is named, not judged."""
    stated, computed = block(raw, "scores"), scorer.ids
    others = [id_ for id_ in scorer.foreign if id_ not in block(expected, "reasons")]
    foreign, null = _uncommon(stated, expected, computed, others)
    dropped = {*_WORDS, *null, *foreign, *_later(raw)}
    if earlier := not of_these_rules(stated):
        dropped |= _CLAIM
        verdict.skip("claim", "decided by earlier rules; lists show what today's allow")
    ours = [id_ for id_ in foreign if "." not in id_]
    if ours or null:
        dropped |= {name for name in expected if "composite" in name or name.startswith("by_")}
        dropped |= {"quality_tier", "cost_adjusted", "floors", "findings", *_CLAIM}
        dropped |= {name for name, value in expected.items() if value is None and ours}
        _check_arithmetic(verdict, raw)
    if foreign or null:
        verdict.skip("metrics", _other_metrics(foreign, null))
    again = without(expected, dropped)
    if not scorer.mixes:  # earlier cards of other tasks state one all the same
        again["composite_profile"] = profile_for({})
    # the intervals whose recipe the card records; others cannot be made again
    recorded, intervals = block(stated, "confidence_intervals"), block(expected, "confidence_intervals")
    known = [id_ for id_ in recorded if "method" in block(recorded, id_) and id_ not in dropped]
    again["confidence_intervals"] = {id_: intervals[id_] for id_ in known if id_ in intervals}
    verdict.compare("scores", raw, {"scores": again}, rounded=rounded)
    if not (ours or null):
        floors = listed_floors(expected)
        claim = {} if earlier else {"claimable_tier": expected["claimable_tier"]}
        name = "tiers and floors" if scorer.mixes else "no tier and no floors"
        verdict.compare(name, raw, {"floors": floors, **claim}, rounded=rounded)


def _later(raw: JsonObject) -> set[str]:
    """Return the parts that this card lacks, as earlier ones do, and findings by another version, which may find more."""
    stated = block(raw, "scores")
    now = raw.get("harness_version") == VERSION and "findings" in stated
    return ({"spread"} - set(stated)) | (set() if now else {"findings"})


def _uncommon(
    stated: JsonObject, expected: JsonObject, computed: list[str], others: list[str]
) -> tuple[list[str], list[str]]:
    """Return the metrics that have a value only on the card, and those that have one only here."""
    foreign = sorted(
        id_
        for id_ in (*block(expected, "reasons"), *others)
        if id_ not in computed and isinstance(stated.get(id_), int | float)
    )
    null = sorted(id_ for id_ in computed if stated.get(id_) is None and expected[id_] is not None)
    return foreign, null


def _other_metrics(foreign: list[str], null: list[str]) -> str:
    parts = []
    if foreign:
        parts.append(f"this version does not compute {', '.join(foreign)}")
    if null:
        parts.append(f"the card gives no value for {', '.join(null)}")
    return "; ".join(parts) + ": the composite was checked against the values on the card only"


def _check_arithmetic(verdict: CardVerdict, raw: JsonObject) -> None:
    """Check what follows from the stated scores alone: the composite and its tier (§4, §5.1)."""
    stated, weighing = block(raw, "scores"), stated_weighing(raw.get("scoring")) or specified()
    value = stated.get("composite")
    if not isinstance(value, int | float):
        verdict.skip("composite", "the card states none")
        return
    expected = {"composite": composite(stated, weighing=weighing).value, "quality_tier": weighing.tier(value).value}
    stated_parts = {name: stated[name] for name in expected if stated.get(name) is not None}
    verdict.compare("composite", {"scores": stated_parts}, {"scores": expected}, rounded=True)


def _check_against_store(
    verdict: CardVerdict, raw: JsonObject, card: RunCard, connection: sqlite3.Connection | None
) -> bool:
    """Compare a card with what the store computes, where it has the run; gives whether it has."""
    whole = "withheld" not in raw  # as older versions sealed it
    stored = None if connection is None else _stored_again(connection, card, whole=whole)
    if stored is None:
        return False
    scores = block(raw, "scores")
    earlier = "claim" not in scores or not of_these_rules(scores)
    expected = without(stored, ("fingerprint", HASH_FIELD, *(("claimable_tier",) if earlier else ())))
    expected["scores"] = without(block(stored, "scores"), {*_WORDS, *_later(raw), *(_CLAIM if earlier else ())})
    if whole or "transmission_rule" not in block(raw, "dataset"):
        expected["dataset"] = without(block(stored, "dataset"), _TERMS)
    verdict.compare("numbers, from the stored rows", raw, expected, rounded=False)
    return True


def _check_withheld(verdict: CardVerdict, raw: JsonObject, card: RunCard, rows: StoredRows) -> None:
    verdict.skip(
        "scores",
        f"{rows.withheld:,} of {len(rows):,} entries are secret, their texts are "
        "withheld: metrics, intervals, breakdowns and floors could not be computed again",
    )
    material = card_material(card, rows)
    _compare_rows(verdict, raw, material, rounded=False)
    measures, _ = measured_again(card.speed, material)
    again = {**measures_again(card, material, measures), "scores": counts_again(rows)}
    computed = resting_on_rows(raw, again)
    verdict.compare("cost, speed, tokens, counts", raw, computed, rounded=False)
    _check_arithmetic(verdict, raw)


def _stored_again(connection: sqlite3.Connection, card: RunCard, *, whole: bool) -> JsonObject | None:
    """Compute the card of a run of this store again, None if the store has no such run."""
    try:
        run = find_run(connection, card.run_id, withdrawn=True)
    except UsageError:
        return None
    if run.imported or run.run_id != card.run_id:
        return None
    try:
        material = stored_material(connection, run.id)
        if material.scorer.foreign:
            return None
        _, earlier = measured_again(card.speed, material)
        return assemble(held(material) if whole else material, whole=whole, answered_only=earlier).as_json()
    except HarnessError:
        return None


def _verify_report(raw: JsonObject) -> CardVerdict:
    verdict = CardVerdict()
    verdict.skip("seal", "a test report has none")
    verdict.skip("fingerprint", "a test report has none")
    overall, entries = report_again(raw)
    verdict.compare("entries", raw, {"entries": entries}, rounded=True)
    verdict.compare("scores", raw, {"overall": overall}, rounded=True)
    verdict.skip("intervals, plug-in metrics, cost, speed", "not computed again for test reports")
    return verdict


def _verify_row(raw: JsonObject) -> CardVerdict:
    verdict = CardVerdict()
    row = snake_case(raw)
    verdict.skip("seal", "a leaderboard row is no card; its hash, if any, is that of the card")
    verdict.skip("numbers", "a leaderboard row has no outputs to compute them from")
    score = row.get("composite_score", row.get("composite"))
    tier = row.get("quality_tier")
    if isinstance(score, int | float) and isinstance(tier, str):
        stated_tier = {"quality_tier": tier.lower()}
        expected = {"quality_tier": quality_tier(score).value}
        verdict.compare("tier", stated_tier, expected, rounded=True)
    return verdict


# ---- Sealing a run's card: computed, checked as a reader would check it, stored ----


def seal(connection: sqlite3.Connection, run: int, known: Sequence[AnyEntry] = ()) -> RunCard:
    """Compute a finished run's card and store it; ``known`` entries as in ``read_entries``.

    Raises StoreError if the run has one already, and HarnessError if ``runs verify`` would not accept the card.
    """
    card = sealed_card(stored_material(connection, run, known))
    with transaction(connection):
        store_card(connection, run, card.as_json())
    return card


def sealed_card(material: Material) -> RunCard:
    """Compute a card that ``runs verify`` accepts; HarnessError names the first field that it would not."""
    card = assemble(material)
    verdict = check_own_card(card, material.rows if card.withheld is None else [])
    if not verdict.ok:
        wrong = verdict.first_difference
        what = str(wrong) if wrong else next(c.words for c in verdict.checks if c.ok is False)
        raise HarnessError(
            f"The card of run {card.run_id[:8]} is not sealed, because `rosetta runs verify` would not accept it: "
            f"{what}. The run's entries are stored. Please report this as a fault of the program."
        )
    return card
