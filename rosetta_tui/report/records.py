"""Records of ownership, an organisation's profile, and what shows how far a run was verified, as lines and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.sealed.keys import key_phrase
from rosetta_tui.report.paragraphs import line
from rosetta_tui.show.text import CHECK_SIGNS
from scoring.core.messages import counted

if TYPE_CHECKING:
    from harness.card.checking.verdict import CardCheck
    from review.records.ownership import OwnershipRecord
    from review.verifying.folders import FolderLine
    from review.verifying.verifying import FileVerdict


def evidence_lines(found: Iterable[CardCheck]) -> Iterator[str]:
    """Yield what shows how far a run was verified, each with whether it does."""
    for card_check in found:
        yield line(
            "  shown by", f"{CHECK_SIGNS[card_check.ok]} {card_check.name}: {card_check.words}"
        )


def checks_json(found: Iterable[CardCheck]) -> list[dict[str, Any]]:
    """Return checks as JSON values."""
    return [
        {"name": card_check.name, "ok": card_check.ok, "words": card_check.words}
        for card_check in found
    ]


def ownership_lines(record: OwnershipRecord) -> Iterator[str]:
    """Yield all that a record of ownership says."""
    terms = record.terms
    yield line("ownership", str(record.state))
    yield line("record", terms.id)
    yield line("method", terms.method, terms.language_pair)
    yield line("run", terms.run_id, f"card {terms.card[:16]}…")
    reached = f"{terms.segment}, composite of {terms.composite_at_least} or more"
    yield line("gate", "passed", f"certificate {terms.certificate[:16]}…", reached)
    for side, party in (("organisation", terms.organisation), ("developer", terms.developer)):
        yield line(side, party.name, f"six words: {key_phrase(party.signing_key)}")
    for developer_keep in terms.developer_keeps:
        yield line("developer keeps", developer_keep)
    for organisation_gain in terms.organisation_gains:
        yield line("organisation gains", organisation_gain)
    yield line(
        "earnings",
        f"{terms.organisation_share} % to the organisation, {terms.developer_share} % to the developer",
    )
    if terms.more:
        yield line("besides", terms.more)
    for act in record.acts:
        yield line(str(act.what), f"by the {terms.side_of(act.by)}", act.when, act.reason)


def ownership_json(record: OwnershipRecord) -> dict[str, Any]:
    """Return a record of ownership as JSON values, with its state."""
    return {
        "id": record.terms.id,
        "state": str(record.state),
        "record": record.model_dump(mode="json"),
    }


def profile_lines(items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the checklist of an organisation: what is required, what was seen, what is stated."""
    for item in items:
        yield f"§{item['section']} {item['title']} ({item['item']}): {item['asked']}"
        for words in item["seen"]:
            yield line("  seen here", words)
        if item["stated"]:
            yield line("  stated", item["stated"], item["person"], item["when"][:10])
        if not item["seen"] and not item["stated"]:
            yield line("  nothing", f'rosetta organisation state {item["item"]} "WORDS" --by NAME')


def folder_lines(found: Sequence[FolderLine], known_kinds: str) -> Iterator[str]:
    """Yield a line for each file of a folder, once which kinds are known where one is not, and a total."""
    for folder_line in found:
        what = "not examined" if folder_line.verdict is None else folder_line.verdict.what
        yield line(f"{CHECK_SIGNS[folder_line.holds]} {folder_line.path}", what, folder_line.words)
    if any(folder_line.unknown for folder_line in found):
        yield known_kinds
    held, not_held = (
        sum(folder_line.holds is way for folder_line in found) for way in (True, False)
    )
    left = sum(folder_line.verdict is None for folder_line in found)
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
