"""Paragraphs of a run's page (what may be claimed of it and why, and what asking again did to it), and, as lines and JSON, records of
ownership, an organisation's profile, and what shows how far a run was verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.card.reading import block, claim_of, number, objects, of_earlier_version, stated_floors, without_rise
from harness.sealed.keys import key_phrase
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import stated_findings
from rosetta_tui.show.figures import floor_words, value
from rosetta_tui.show.text import CHECK_SIGNS, plain
from scoring.card.claim import FloorScores, caveat_sentence
from scoring.core.inventory import known_row, row_of, short_title, title
from scoring.core.packs import RAISED
from scoring.core.specification import TRANSLATIONS, stated_columns
from scoring.findings.finding import finding_sentence

if TYPE_CHECKING:
    from harness.card.checking.lint_subject import LintReport
    from harness.card.checking.verdict import CardCheck
    from harness.card.reproduction import ReproductionComparison
    from harness.run.final_scores import RetriedScores
    from review.records.ownership import OwnershipRecord
    from review.records.profile import ProfileItem
    from review.verifying.verifying import FileVerdict, FolderLine
    from scoring.statistics.repetitions import Reproduction

# ---- Paragraphs of a run's page ----


def line(name: str, *parts: object) -> str:
    """Return one line of a page: a name, and what there is to say in parts."""
    joined = " · ".join(plain(str(part)) for part in parts if part not in (None, ""))
    return f"{plain(name):<26} {joined}".rstrip()


EARLIER = (
    "floors of an earlier version: no words at random, and a constant of eight candidates; "
    "score the outputs again to compare with those of now"
)

RISE = "an input has no value here, though worthless outputs have one, and counts as nothing"


def caveat_lines(card: JsonObject) -> Iterator[str]:
    """Yield a line for each way in which a part of the outputs fails."""
    for caveat in claim_of(card).caveats:
        yield line("  caveat", caveat_sentence(caveat))


def finding_lines(card: JsonObject) -> Iterator[str]:
    """Yield a line for each finding in the outputs."""
    for finding in stated_findings(card):
        yield line("  found", finding_sentence(finding))


def rise_line(card: JsonObject) -> Iterator[str]:
    """Yield a line where inputs without a value raise the composite; what is claimed has no such rise."""
    if (even := without_rise(card)) is not None:
        yield line("  without its rise", value("composite", even), RISE)


def floor_lines(card: JsonObject) -> Iterator[str]:
    """Yield a line for each floor, composite first, then what it is and what it was worked out on."""
    total = block(card, "scores").get("total")
    for name, floor in stated_floors(card).items():
        yield line(f"  ╿ {floor_words(name)}", *floor_parts(floor, total))
    if of_earlier_version(card):
        yield line("  ╿", EARLIER)


def floor_parts(floor: FloorScores, total: object) -> Iterator[str]:
    """Yield what is to be said of one floor of a run over ``total`` entries."""
    yield value("composite", floor.composite)
    if floor.chrf_plus_plus is not None:
        yield f"chrF++ {figures.number(floor.chrf_plus_plus, 1)}"
    if floor.searched is not None:
        yield f"the best by composite of {floor.searched:,} different references"
    if floor.entries is not None and floor.entries != total:
        yield f"on {floor.entries:,} entries"


def retry_lines(card: JsonObject) -> Iterator[str]:
    """Return which entries were asked for again after they had failed, and with which settings."""
    retried = block(card, "retry_of")
    if not retried:
        return
    asked, kept = some_entries(retried.get("retried")), retried.get("kept")
    retry_words = f"asked again for {asked} that had failed; the other {kept} are those of that run"
    yield line("retry of", retried.get("run_id"), retry_words)
    parts = list(objects(retried, "parts"))
    for part in parts if len(parts) > 1 else []:
        setup = block(part, "setup")
        temperature = setup.get("temperature")
        yield line(
            f"  {some_entries(part.get('entries'))} by",
            setup.get("model_slug"),
            setup.get("condition"),
            None if temperature is None else f"temperature {temperature}",
            setup.get("prompt_version"),
        )


def early_lines(card: JsonObject) -> Iterator[str]:
    """Yield that the run once ended itself before its last entry, and by which rule."""
    early = block(card, "stopped_early")
    if early:
        after = f"by --stop-when {plain(str(early.get('rule')))} after {some_entries(early.get('entries'))}"
        yield line("stopped early", after, f"against run {str(early.get('against'))[:8]}", "continued to the end later")


def some_entries(count: object) -> str:
    """Count entries in words; the count may be anything that a card holds."""
    return f"{plain(str(count))} {'entry' if count == 1 else 'entries'}"


def retried_lines(scores: RetriedScores) -> Iterator[str]:
    """Yield the scores of a retried run next to those without the entries asked for again."""
    again = f"{scores.failed} of {scores.asked} failed once more" if scores.failed else ""
    yield line("without the retried", f"{scores.kept} entries", _values(scores.without), again)
    yield line("before the retry", _values(scores.before) or "the run before is gone")
    yield line("", "entries that are tried until they succeed flatter a score: compare like with like")


def _values(values: Mapping[str, float | None]) -> str:
    return " · ".join(f"{title(name)} {value(name, number)}" for name, number in values.items())


JUDGE_FAILED = "_judge_failed"  # end of the name of a count of judgements that failed

_WITHOUT = {
    JUDGE_FAILED: "a judgement: the judge failed",
    "_unchecked": "instructions that can be checked",
    "_references_failed": "a result of the reference query",
    RAISED: "a value: the code of its pack failed",
}
"""End of the name of a count of entries → what they are without."""


EMPTY_REFERENCES = "_empty_references"
"""End of the name of a count of references in which nothing is spoken."""


def left_out_lines(scores: JsonObject) -> Iterator[str]:
    """Yield how many entries count for nothing in a metric because something other than the output failed."""
    for name, score in scores.items():
        if name.endswith(EMPTY_REFERENCES) and (empty := number(score)):
            metric = short_title(name.removesuffix(EMPTY_REFERENCES))
            many = some_entries(int(empty))
            yield line("empty", f"{metric}: {many} with an empty reference; every word there counts as added")
        for end, what in _WITHOUT.items():
            count = number(score) if name.endswith(end) else None
            if count:
                metric = short_title(name.removesuffix(end))
                yield line("left out", f"{metric}: {some_entries(int(count))} without {what}")
        if name.endswith(JUDGE_FAILED) and (without := not_judged(scores, name)):
            metric = name.removesuffix(JUDGE_FAILED)
            stated = "|from:stated|" in str(block(scores, "signatures").get(metric))
            why = _NO_JUDGE if stated else _NOTHING_TO_JUDGE
            yield line("not judged", f"{short_title(metric)}: {some_entries(without)}: {why}")


_NO_JUDGE = "no judge was asked, and no record brings a score of the answer"
_NOTHING_TO_JUDGE = "the answer is empty, has no reference to judge by, or has not one answer to each turn"


def not_judged(scores: JsonObject, failed: str) -> int:
    """Return how many entries have no judgement, beyond those counted under ``failed``; 0 where nobody can tell."""
    spread = block(block(scores, "spread"), failed.removesuffix(JUDGE_FAILED))
    total, judged, in_vain = (number(scores.get("total")), number(spread.get("n")), scores.get(failed))
    if total is None or judged is None:
        return 0
    return max(0, int(total - judged - (number(in_vain) or 0)))


# ---- What the scores of a card depend on besides its texts, as lines of text ----


def scored_with(card: JsonObject) -> Iterator[str]:
    """Name everything that the scores depend on besides the texts."""
    scoring = block(card, "scoring")
    if not scoring:
        return
    yield "scored with"
    metrics = scoring.get("metrics")
    of_translations = any("." not in str(id_) for id_ in (metrics if isinstance(metrics, list | tuple) else ()))
    for name, parts in (
        ("language card", (scoring.get("language_card"), _hash(scoring, "language_card_sha256"))),
        ("script", (scoring.get("script"),)),
        *(_translation_tools(scoring) if of_translations or translated(card) else ()),
    ):
        known = [part for part in parts if part]
        yield line(f"  {name}", *(known or ["none"]))
    for name in block(scoring, "annotators"):
        # who judged and by which prompt, or on which files of the corpus something ran
        facts = block(block(scoring, "annotators"), name)
        prompt, databases = _hash(facts, "prompt_sha256"), _some(facts, "databases", "databases")
        yield line(f"  {name}", *_model(facts), prompt, databases)
    yield ""
    yield "signatures"
    for metric, signature in block(block(card, "scores"), "signatures").items():
        if row_of(metric) is not None and not of_sacrebleu(metric):
            yield line(f"  {title(metric)}", signature)
    yield ""


def _translation_tools(scoring: JsonObject) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield what the metrics of translations read beside the texts."""
    if stated := block(scoring, "calibration"):
        yield ("weights", ("calibrated", _hash(stated, "sha256"), f"key {stated.get('signer')!s:.12}"))
    variants = "" if scoring.get("has_variants") is True else "; no entry has any"
    several = f"several for chrF++, BLEU and TER: also the variants{variants}"
    yield "references", (several if scoring.get("multi_ref") is True else "one for each entry",)
    analyser: Sequence[object] = ()
    if facts := block(scoring, "analyser"):
        engine = f"{facts.get('engine')} {facts.get('engine_version')}"
        kind = "says yes or no only" if facts.get("acceptor") is True else None
        analyser = (facts.get("name"), _hash(facts, "sha256"), engine, kind)
    yield "analyser", analyser
    yield "source words", (scoring.get("word_list"),)
    yield "alignment", (scoring.get("alignment"),)
    yield "terms", (_some(scoring, "terms", "prescribed"), _hash(scoring, "terms_sha256"))
    yield "meanings", (_some(scoring, "gloss_dictionary", "lemmas"), _hash(scoring, "gloss_dictionary_sha256"))
    yield "embeddings", _model(block(scoring, "embeddings"))
    yield "COMET", _model(block(scoring, "comet"))


def _model(facts: JsonObject) -> Sequence[object]:
    imported = "scores from a file" if facts.get("imported") is True else None
    return (facts.get("model"), facts.get("endpoint"), imported, _hash(facts, "sha256"))


def _some(facts: JsonObject, name: str, what: str) -> str | None:
    count = number(facts.get(name))
    return f"{count:,.0f} {what}" if count else None


def _hash(facts: JsonObject, name: str) -> str | None:
    """Return the beginning of a SHA-256, which is enough to tell two files from each other."""
    digest = facts.get(name)
    return f"sha256 {str(digest)[:12]}" if digest else None


def translated(card: JsonObject) -> bool:
    """Return whether a card is of translations, which alone have a composite, floors and a tier."""
    return stated_columns(card.get("scoring")) == TRANSLATIONS


def of_sacrebleu(metric: str) -> bool:
    """Return whether a value never stands without its signature (T3); the others are listed below."""
    return "." not in metric and known_row(metric).category == "surface"


# ---- Records of ownership, an organisation's profile, and how far a run was verified ----


def evidence_lines(found: Iterable[CardCheck]) -> Iterator[str]:
    """Yield what shows how far a run was verified, each with whether it does."""
    for check in found:
        yield line("  shown by", f"{CHECK_SIGNS[check.ok]} {check.name}: {check.words}")


def checks_json(found: Iterable[CardCheck]) -> list[JsonObject]:
    return [{"name": check.name, "ok": check.ok, "words": check.words} for check in found]


def ownership_lines(record: OwnershipRecord) -> Iterator[str]:
    terms = record.terms
    yield line("ownership", str(record.state))
    yield line("record", terms.id)
    yield line("method", terms.method, terms.language_pair)
    yield line("run", terms.run_id, f"card {terms.card[:16]}…")
    reached = f"{terms.segment}, composite of {terms.composite_at_least} or more"
    yield line("gate", "passed", f"certificate {terms.certificate[:16]}…", reached)
    for side, party in (("organisation", terms.organisation), ("developer", terms.developer)):
        yield line(side, party.name, f"six words: {key_phrase(party.signing_key)}")
    for kept in terms.developer_keeps:
        yield line("developer keeps", kept)
    for gain in terms.organisation_gains:
        yield line("organisation gains", gain)
    yield line(
        "earnings", f"{terms.organisation_share} % to the organisation, {terms.developer_share} % to the developer"
    )
    if terms.more:
        yield line("besides", terms.more)
    for act in record.acts:
        yield line(str(act.what), f"by the {terms.side_of(act.by)}", act.when, act.reason)


def ownership_json(record: OwnershipRecord) -> JsonObject:
    """Return a record of ownership as JSON values, with its state."""
    return {"id": record.terms.id, "state": str(record.state), "record": record.model_dump(mode="json")}


def profile_lines(items: Iterable[ProfileItem]) -> Iterator[str]:
    """Yield the checklist of an organisation: what is required, what was seen, what is stated."""
    for item in items:
        yield f"§{item.section} {item.title} ({item.item}): {item.asked}"
        for words in item.seen:
            yield line("  seen here", words)
        if item.stated:
            yield line("  stated", item.stated, item.person, (item.when or "")[:10])
        if not item.seen and not item.stated:
            yield line("  nothing", f'rosetta community profile {item.item} "WORDS" --by NAME')


def folder_lines(found: Sequence[FolderLine], known_kinds: str) -> Iterator[str]:
    """Yield a line for each file of a folder, once which kinds are known where one is not, and a total."""
    for file_line in found:
        what = "not examined" if file_line.verdict is None else file_line.verdict.what
        yield line(f"{CHECK_SIGNS[file_line.holds]} {file_line.path}", what, file_line.words)
    if any(file_line.unknown for file_line in found):
        yield known_kinds
    held, not_held = (sum(line.holds is way for line in found) for way in (True, False))
    left = sum(file_line.verdict is None for file_line in found)
    unsigned = len(found) - held - not_held - left
    yield f"{counted(len(found), 'file')}: {held:,} hold, {not_held:,} do not, {unsigned:,} signed by nobody, {left:,} could not be examined."


def verdict_lines(found: FileVerdict) -> Iterator[str]:
    """Yield what came out of verifying a file."""
    yield line(found.name, found.what)
    for name, words in found.facts:
        yield line(f"  {name}", words)
    for signer in found.signers:
        whose = signer.known or "nobody here knows whose key it is"
        yield line(f"  signed, {signer.role}", f"six words: {signer.words}", whose)
    for check in found.checks:
        yield f"{CHECK_SIGNS[check.ok]} {check.name}: {check.words}"
    if not found.holds:
        yield "This does not hold."
    elif not any(check.ok for check in found.checks):
        yield "Nothing in it could be checked; lines with – say why."
    elif any(check.ok is None for check in found.checks):
        yield "What could be checked holds; lines with – could not be checked."
    else:
        yield "Everything holds."


# ---- A card and its repetition as lines of text and as JSON ----

_SAID = {
    True: "Reproduced: composite and chrF++ are within 2 % of what the card claims.",
    False: "NOT reproduced: composite or chrF++ is more than 2 % away from what the card claims.",
    None: "Nothing can be said: the card and its repetition share neither composite nor chrF++.",
}


def reproduction_lines(found: ReproductionComparison) -> Iterator[str]:
    """Yield every score of both cards, how far they are apart, and what follows."""
    first, second = found.claimed, found.repeated
    yield f"Card {first.card[:16]}… of run {first.run_id[:8]}, {found.entries:,} entries, run again as {second.run_id[:8]}"
    yield from deviation_lines(found.verdict, first.scores)
    if first.failed or second.failed:
        yield f"entries without an output: {first.failed:,} on the card, {second.failed:,} in the repetition"
    if found.scored_otherwise:
        yield f"scored otherwise: {', '.join(found.scored_otherwise)}"
    yield _SAID[found.reproduced]


def deviation_lines(found: Reproduction, claimed: Mapping[str, float | None]) -> Iterator[str]:
    """Yield every score of two runs and how far they are apart; ``claimed``: the scores of the first one."""
    yield f"{'':24} {'claimed':>10} {'again':>10} {'apart':>9}  within 2 %"
    for metric, deviation in found.deviations.items():
        apart = "" if deviation.share is None else figures.signed(deviation.share, 1, share=True)
        first, second = (figures.number(v, 4) for v in (deviation.claimed, deviation.repeated))
        yield f"{short_title(metric):24.24} {first:>10} {second:>10} {apart:>9}  {'yes' if deviation.within else 'no'}"
    for metric in found.missing:
        where = "the card" if claimed.get(metric) is not None else "the repetition"
        yield f"{short_title(metric):24.24} only {where} has a value"


def reproduction_json(found: ReproductionComparison) -> JsonObject:
    """Return the comparison as its file has it, with the deviation of each score next to it."""
    document = {
        metric: {"share": deviation.share, "within": deviation.within}
        for metric, deviation in found.verdict.deviations.items()
    }
    return found.model_dump(mode="json") | {"deviations": document, "missing": list(found.verdict.missing)}


# ---- What linting found, as lines of text ----

MOST_IDS = 12  # ids of entries that are named; JSON has all
SIGNS = {"look": "!", "note": "–"}

BESIDE = (
    "Not examined here: whether scores can be reproduced, entries that were moved between segments, and what people say of the "
    "outputs (benchmark-specification §9.2–9.3)."
)


def lint_lines(found: Sequence[LintReport]) -> Iterator[str]:
    """Yield what ``rosetta runs lint`` prints."""
    for report in found:
        left_out = {skipped.check for skipped in report.not_looked_at}
        if looked := sum(finding.severity == "look" for finding in report.findings):
            summary = f"{looked} to look at"
        elif "all" in left_out:
            summary = "no check could be made"
        else:
            summary = f"nothing found by {report.checks - len(left_out)} of {report.checks} checks"
            summary += "; the outputs themselves were not examined" if "outputs" in left_out else ""
        yield f"{report.run}: {summary}"
        for finding in report.findings:
            chance = "" if finding.chance is None else f" By chance: {figures.p_words(finding.chance)}."
            yield f"  {SIGNS[finding.severity]} {finding.check}: {finding.seen}.{chance}"
            if finding.examples:
                yield f"      such as   {' · '.join(map(plain, finding.examples))}"
            if finding.entries:
                more = f" and {len(finding.entries) - MOST_IDS:,} more" if len(finding.entries) > MOST_IDS else ""
                yield f"      entries   {', '.join(map(str, finding.entries[:MOST_IDS]))}{more}"
            if finding.rests_on:
                yield f"      rests on  {finding.rests_on}"
            if finding.proves_not:
                yield f"      proves    not {finding.proves_not}"
        for skipped in report.not_looked_at:
            yield f"  – {skipped.check}: not examined, because {skipped.why}"
        yield ""
    yield BESIDE
