"""Records of ownership, an organisation's profile, and what shows how far a run was verified, as lines and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.sealed.keys import key_phrase
from rosetta_tui.report.paragraphs import line
from rosetta_tui.show import figures
from rosetta_tui.show.text import CHECK_SIGNS, plain
from scoring.core.inventory import short_title

if TYPE_CHECKING:
    from harness.card.checking.lint_subject import LintReport
    from harness.card.checking.verdict import CardCheck
    from harness.card.reproduction import ReproductionComparison
    from review.records.ownership import OwnershipRecord
    from review.records.profile import ProfileItem
    from review.verifying.verifying import FileVerdict, FolderLine
    from scoring.statistics.repetitions import Reproduction


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
