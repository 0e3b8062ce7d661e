"""Runs and their cards as lines of text, for terminals and pipes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted, percent
from harness.card.reading import block, number, objects
from harness.leaderboard.entrant import counts
from rosetta_tui.report.paragraphs import (
    caveat_lines,
    early_lines,
    finding_lines,
    floor_lines,
    left_out_lines,
    line,
    of_sacrebleu,
    retry_lines,
    rise_line,
    scored_with,
    some_entries,
    translated,
)
from rosetta_tui.show import card_fields, figures
from rosetta_tui.show.figures import beside_value, by_reason, remark, shares, value
from rosetta_tui.show.run_facts import failed_told
from rosetta_tui.show.text import plain
from scoring.core.inventory import by_category, direction, profile_note, short_title, title
from scoring.core.scorer import NOT_WANTED
from scoring.core.specification import stated_columns
from scoring.findings.finding import finding_name, finding_words
from scoring.statistics.intervals import FREE, LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from review.verdict.certificate.certificate import ReviewStatus

BESIDE = "chrf_plus_plus"  # the metric that always is next to the composite (T3)


def card_text(
    card: JsonObject, review: ReviewStatus | None = None, *, reproduced: bool = False, beside: Iterable[str] = ()
) -> str:
    """Return everything that a card says of a run except entries; ``beside``: lines about how far it was verified."""
    head = _head(card, review, beside, reproduced=reproduced)
    return "\n".join([*head, "", *_quality(card), *_groups(card), "", *scored_with(card), *_effort(card)])


def card_in_short(card: JsonObject) -> str:
    """Return in few lines what a run came to, for somebody who watched it, and which command has the rest."""
    name, headline = str(card.get("run_id"))[:8], stated_columns(card.get("scoring")).headline
    return "\n".join(
        [
            *_what_ran(card),
            *_claim(card, brief=True),
            line(title(headline), card_fields.with_interval(block(card, "scores"), headline)),
            *([next(_composite(card))] if translated(card) else []),
            *([line("look first", *looks)] if (looks := first_looks(card)) else []),
            *([line("then", _next_step(card, name))] if looks else []),
            line("entries", _counts(card)),
            line("every score", f"rosetta runs show {name}"),
            line("one page", f"rosetta report run {name}"),
        ]
    )


def first_looks(card: JsonObject) -> list[str]:
    """Return what to look at first: the findings that cost most, the worst part of ten entries or more, the failures."""
    scores, headline = block(card, "scores"), stated_columns(card.get("scoring")).headline
    findings = sorted(card_fields.stated_findings(card), key=lambda found: (-(found.cost or 0.0), -found.count))
    looks = [
        f"{found.count:,} {finding_name(found.code)}"
        + (f" ({figures.signed(-found.cost, 1)} chrF++)" if found.cost else "")
        for found in findings[:_MOST_LOOKS]
    ]
    parts = []
    sign, whole = -1 if direction(headline) == "lower" else 1, number(scores.get(headline))
    for kind in ("difficulty", "segment", "register", "provenance", *FREE):
        groups = block(scores, f"by_{kind}")
        for name, group in ((name, block(groups, name)) for name in groups if len(groups) > 1):
            value, count = number(group.get(headline)), number(group.get("n")) or 0
            if value is not None and count >= LEAST_FOR_INTERVAL:
                words = f"{kind} {name}: {short_title(headline)} {figures.value(headline, value)} of {count:,.0f}"
                parts.append((sign * value, words))
    if parts and (whole is None or min(parts)[0] < sign * whole):  # else no part is worse than the whole
        looks.append(min(parts)[1])
    errors = int(number(scores.get("errors")) or 0)
    return [*looks, f"{errors:,} failed"] if errors else looks


_MOST_LOOKS = 3  # findings that are named first


def _next_step(card: JsonObject, name: str) -> str:
    """Return the command that shows why outputs are not better, or asks for the failed ones again."""
    if block(card, "scores").get("errors"):
        return f"rosetta retry {name} asks for the failed entries again"
    return f"rosetta watch {name}: w says why, B asks the worst entries again"


def _groups(card: JsonObject) -> Iterator[str]:
    """Yield scores by what the entries are; a kind with one group only says nothing new."""
    scores = block(card, "scores")
    lead = ("chrf_plus_plus", "exact_match_rate", "composite")
    shown = lead if translated(card) else stated_columns(card.get("scoring")).ids
    for kind in ("difficulty", "segment", "register", "provenance", *FREE):
        groups = block(scores, f"by_{kind}")
        if len(groups) < 2:
            continue
        yield ""
        for name in sorted(groups, key=str):
            group = block(groups, name)
            values = (f"{short_title(id_)} {card_fields.with_interval(group, id_)}" for id_ in shown)
            yield line(f"{kind} {name}", some_entries(group.get("n", "?")), *values)


def _effort(card: JsonObject) -> Iterator[str]:
    """Yield what the run cost and how long it took."""
    price, speed, scores = block(card, "cost"), block(card, "speed"), block(card, "scores")
    most, per_entry = number(block(card, "budget").get("budget_usd")), number(price.get("cost_per_entry_usd"))
    budget = "" if most is None else f"of {figures.money(most)} budget"
    yield line("cost", card_fields.cost(card), budget, price.get("reason"))
    yield line("  per entry", figures.money(per_entry))
    # What judges and other endpoints cost that were asked about the outputs.
    scoring = block(price, "scoring")
    calls = number(scoring.get("calls"))
    if calls is not None:
        total, known = number(scoring.get("total_cost_usd")), number(scoring.get("known_cost_usd"))
        asked = counted(int(calls), "call")
        yield line("  scoring", figures.cost(total, known or 0.0), asked, "not counted above")
    if translated(card):
        adjusted, none = number(scores.get("cost_adjusted")), number(scores.get("composite")) is None
        why = "there is no composite" if none else "the run was free" if per_entry == 0 else "the cost is unknown"
        yield line("  cost-adjusted score", f"none, as {why}" if adjusted is None else figures.number(adjusted, 2))
    tokens = block(card, "tokens").get("total_tokens")
    yield line("tokens", f"{tokens:,}" if isinstance(tokens, int) else "unknown")
    # Outputs that were made elsewhere often were not timed.
    replayed = block(card, "method").get("method") == "replay"
    per_minute = number(speed.get("entries_per_minute"))
    rate = "" if per_minute is None else f"{per_minute:,.0f} entries a minute"
    read, made = ("as recorded outputs were read", "when they were made") if replayed else ("", "")
    yield line("time", figures.clock(number(speed.get("elapsed_seconds"))), " ".join(filter(None, (rate, read))))
    kinds = {"mean": "avg", "median": "median", "95 % within": "p95"}
    timed = {name: number(speed.get(f"{kind}_latency_seconds")) for name, kind in kinds.items()}
    latencies = [f"{name} {figures.seconds(value)} s" for name, value in timed.items() if value is not None]
    yield line("latency", *latencies, made if latencies else "not measured")
    if retries := block(card, "retries"):
        here = " in this run" if block(card, "retry_of") else ""
        yield line("tries", retries.get("attempts"), f"{retries.get('rate_limited')} rate-limited{here}")


def _head(card: JsonObject, review: ReviewStatus | None, beside: Iterable[str], *, reproduced: bool) -> Iterator[str]:
    yield from _what_ran(card)
    yield line("class", block(card, "method").get("method_class"))
    if card_fields.rescore_of(card):
        yield line("rescored from", card_fields.rescore_of(card), "the outputs are those of that run")
    yield from retry_lines(card)
    yield from early_lines(card)
    yield from _claim(card, review)
    # Repeat what an imported report said about its scores.
    caveats = block(card, "source_report").get("score_caveats")
    listed = list(caveats.values()) if isinstance(caveats, Mapping) else caveats
    for caveat in listed if isinstance(listed, list) else ():
        words = caveat
        if isinstance(caveat, Mapping):
            names = ("message", "text", "caveat", "name", "kind")
            words = next((caveat[n] for n in names if isinstance(caveat.get(n), str)), None)
        if isinstance(words, str) and words.strip():
            yield line("its maker's caveat", plain(" ".join(words.split())[:200]))
    tier = card_fields.validated_by(review, reproduced=reproduced)
    yield line("validated by", tier, card_fields.stated_words(card, review, reproduced=reproduced))
    yield from beside
    if review is not None:
        certificate = review.certificate
        outcome = card_fields.OUTCOMES[certificate.outcome]
        yield line("review", outcome, certificate.panel.words, certificate.organisation.name, certificate.issued[:10])
        yield line("  certificate", certificate.sha256)
        if review.suspended:
            yield line("  SUSPENDED", "somebody took ratings back since; issue and attach it again")
        elif review.passed and review.why_not_community:
            yield line("  not community-validated", review.why_not_community)
    yield line("fingerprint", block(card, "fingerprint").get("hash"))
    yield line("set-up", block(card, "fingerprint").get("setup_hash"))
    yield line("seal", card.get("run_card_hash") or "none")
    if "unverified" in card:
        yield line("UNVERIFIED", card["unverified"])


def _what_ran(card: JsonObject) -> Iterator[str]:
    dataset, method = block(card, "dataset"), block(card, "method")
    yield line("run", card.get("run_id"), card.get("timestamp"))
    yield line("corpus", dataset.get("id"), dataset.get("language_pair"), some_entries(dataset.get("entry_count", "?")))
    if dataset.get("transmission") not in (None, "open"):
        yield line("terms", dataset.get("transmission"), dataset.get("transmission_because"))
    if rule := dataset.get("transmission_rule"):
        yield line("rule", rule)
    if may_send := dataset.get("may_send"):
        yield line("sent, because", may_send)
    if withheld := block(card, "withheld"):
        counts = f"{withheld.get('secret')} of {withheld.get('entries')} entries are secret"
        yield line("withheld", counts, "no row of them leaves, nor a sum over few")
    named = method.get("method_name"), method.get("method"), card.get("model_slug"), card.get("condition")
    yield line("method", *dict.fromkeys(map(str, filter(None, named))))


def _claim(card: JsonObject, review: ReviewStatus | None = None, *, brief: bool = False) -> Iterator[str]:
    """Return what may be claimed of a translation, and why no more; ``brief``: all findings in one line."""
    if translated(card):
        yield line("tier", card_fields.tier_words(card, review))
        yield from caveat_lines(card)
        if not brief:
            yield from finding_lines(card)
        elif words := finding_words(card_fields.stated_findings(card)):
            run = str(card.get("run_id"))[:8]
            yield line("  found", words, f"rosetta runs lint {run} shows where")
    else:
        yield line("task", block(card, "scoring").get("task"))


def _quality(card: JsonObject) -> Iterator[str]:
    scores = block(card, "scores")
    first = [BESIDE] if number(scores.get(BESIDE)) is not None else []
    if first:
        yield from _metric(card, BESIDE, indent="")
    if translated(card):
        yield from _composite(card)
    else:
        first.append(headline := stated_columns(card.get("scoring")).headline)
        remark_words = remark(headline, number(scores.get("total")))
        leads = " · ".join(filter(None, ("leads: runs are ranked by it", remark_words)))
        yield from _metric(card, headline, leads, indent="")
    stated = {id_ for values in card_fields.as_stated(card).values() for id_ in values}
    shown = [
        metric
        for metric in card_fields.stated_metrics([scores])
        if metric not in {*first, *stated} and number(scores.get(metric)) is not None
    ]
    remarks = {remark(metric, number(scores.get("total"))) for metric in first}
    for category, metrics in by_category(shown):
        yield ""
        yield category
        for metric in metrics:
            remark_words = remark(metric, number(scores.get("total")))
            yield from _metric(card, metric, "" if remark_words in remarks else remark_words)
            remarks.add(remark_words)
    yield from _without_value(card)
    yield line("entries", _counts(card))


def _without_value(card: JsonObject) -> Iterator[str]:
    """Yield values that are only stated, then why metrics have none.

    Of answers nothing is said of the translation metrics that nobody asked for.
    """
    scores = block(card, "scores")
    for why, values in card_fields.as_stated(card).items():
        yield ""
        yield why
        yield from (line(f"  {id_}", figures.number(stated, 2)) for id_, stated in values.items())
    yield ""
    reasons = {
        str(id_): str(why) for id_, why in block(scores, "reasons").items() if translated(card) or why != NOT_WANTED
    }
    for reason, names in by_reason(reasons):
        yield line("not scored", f"{names}: {reason}")
    yield from left_out_lines(scores)


def _metric(card: JsonObject, metric: str, said: str | None = None, *, indent: str = "  ") -> Iterator[str]:
    """Yield a value with its interval and what it is to be compared with, then what else is known of it."""
    scores = block(card, "scores")
    yield line(
        f"{indent}{title(metric)}",
        card_fields.with_interval(scores, metric),
        card_fields.spread_words(scores, metric),
        beside_value(metric, card_fields.references_accepted(card.get("scoring"))),
        said if metric != "comet_score" or (scores.get("comet_low_resource_warning") is not False) else None,
        block(scores, "signatures").get(metric) if of_sacrebleu(metric) else None,
    )
    numbers = {name: number(scores.get(name)) for name in scores if name.startswith(metric)}
    yield from (line(f"{indent}  {of}", share) for of, share in shares(metric, numbers))
    if metric == "fst_acceptance_rate":
        yield _accepted(card)
    if metric == "semantic_score":
        # How many entries have each semantic verdict; nothing where the score stands for none.
        stated = (row.get("semantic_verdict") for row in objects(card, "results"))
        counted_verdicts = Counter(verdict for verdict in stated if isinstance(verdict, str))
        if counted_verdicts:
            shown = counted_verdicts.most_common(_MOST_VERDICTS)
            yield line("    verdicts", *(f"{count:,} {verdict}" for verdict, count in shown))
    raw = number(scores.get("compliance_index_raw"))
    now = number(scores.get(metric))
    if metric == "compliance_index" and raw is not None and raw != now:
        yield line("    as first answered", f"{value(metric, raw)} → {value(metric, now)} as delivered")


def _accepted(card: JsonObject) -> str:
    scores, analyser = block(card, "scores"), block(block(card, "scoring"), "analyser")
    words = number(scores.get("fst_accepted"))
    entries = number(scores.get("fst_accepted_entries"))
    total = number(analyser.get("reference_words"))
    known = number(analyser.get("reference_accepted"))
    return line(
        "    accepted",
        None if words is None else f"{words:,.0f} words",
        None if entries is None else f"all words in {entries:,.0f} of {scores.get('total')} entries",
        None if known is None or total is None else f"references {known:,.0f} of {total:,.0f} words",
    )


_MOST_VERDICTS = 7  # as many as there are; a card from elsewhere may state others


def _composite(card: JsonObject) -> Iterator[str]:
    scores = block(card, "scores")
    share, profile = number(scores.get("composite_coverage")), scores.get("composite_profile")
    coverage = "" if share is None else f"profile {profile}, {percent(share)} of its weight has a value"
    why = card_fields.no_composite(card)
    yield line("Composite", *((why,) if why else (card_fields.with_interval(scores, "composite"), coverage)))
    if scores.get("composite_profile_reason"):
        yield line("  why this profile", scores.get("composite_profile_reason"))
    calibrated = block(card, "scoring").get("calibration") is not None
    if note := profile_note(str(profile), calibrated=calibrated):
        yield line("  weights", note)
    for part in objects(scores, "composite_inputs"):
        metric, weight = str(part.get("metric")), number(part.get("effective_weight")) or 0.0
        yield line(f"  {title(metric)}", f"{percent(weight)} of it", value(metric, number(part.get("value"))))
    yield from rise_line(card)
    yield from floor_lines(card)


def _counts(card: JsonObject) -> str:
    scores = block(card, "scores")
    errors = scores.get("errors")
    wrong = " (it counts as wrong)" if errors == 1 else " (they count as wrong)" if errors else ""
    if errors and not translated(card):
        headline = stated_columns(card.get("scoring")).headline
        valued = number(block(block(scores, "spread"), headline).get("n"))
        if valued is None or valued <= (number(scores.get("total")) or 0) - (number(errors) or 0):
            wrong = "" if valued is None else f"; {title(headline)} has a value of {valued:,.0f}"
    failed = failed_told(int(number(errors) or 0), counts(scores.get("errors_by_class")))
    return f"{scores.get('total')} in all, {failed}{wrong}"
