"""What became of files of ratings, in words for the organiser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from review.files.reviewer_codes import printed
from rosetta_tui.review.organiser.words.voices import codes, far_words, several_words, shared_words

if TYPE_CHECKING:
    from review.log.clocks import WildClock
    from review.log.merge import Remark
    from review.office.intake.file_report import FileReport

_MOST_LINES = 5
"""Lines that are named for one reason."""


def report_lines(report: FileReport) -> Iterator[str]:
    """Say what was taken, what was not and why, and what to look into."""
    from review.office.intake.file_report import FileOutcome

    if report.outcome is FileOutcome.REFUSED:
        yield f"NOT TAKEN  {report.why}"
        return
    yield f"{report.name}: review {report.review}, check words: {report.phrase}"
    if report.outcome is FileOutcome.SET_ASIDE:
        yield "  SET ASIDE: nobody has vouched for its laptop yet. The check words are those that the laptop showed when"
        yield "  it wrote this file; the speaker wrote them down. If they are the same:"
        yield f"  rosetta review enrol {report.phrase}"
        yield f"  (the laptop's own words, which `rosetta review enrol --card` shows there, are {report.laptop_phrase})"
        return
    aside, damaged = len(report.aside), len(report.damaged)
    erased = f"erased at once {report.erased} (taken back before), " if report.erased else ""
    yield (
        f"  added {report.added}, {erased}already here {report.already_here}, set aside {aside}, "
        f"damaged {damaged}"
    )
    yield from _remarks("set aside", report.aside)
    yield from _remarks("damaged", report.damaged)
    yield from _findings(report)


def _remarks(what: str, remarks: Sequence[Remark]) -> Iterator[str]:
    """Name the lines by reason, the first few of each."""
    for reason, count in Counter(remark.said for remark in remarks).most_common():
        lines = [str(remark.line) for remark in remarks if remark.said == reason]
        more = f" … ({count} in all)" if count > _MOST_LINES else ""
        yield f"  {what}: line {', '.join(lines[:_MOST_LINES])}{more}: {reason}"


def _findings(report: FileReport) -> Iterator[str]:
    from review.office.intake.objections import OTHER_LAPTOPS

    if any(remark.said == OTHER_LAPTOPS for remark in report.aside):
        yield (
            "  LOOK: a laptop's log is taken from that laptop only. If this one has the saved data of one that broke: "
            f"rosetta review enrol {report.signing_key} --instead-of LAPTOP, then import the file again."
        )
    for person in report.several:
        yield f"  {several_words(person)}"
    if back := sorted({*report.elsewhere} & {*report.withdrawn}):
        yield (
            f"  LOOK: {codes(back)} was taken back on another laptop than the one that spoke for this person before. "
            "Ask whether it was they: what was taken back is erased for good, and a new card lets them take part again."
        )
    told = {person.code for person in report.several} | {*report.withdrawn}
    if others := [code for code in report.elsewhere if code not in told]:
        yield (
            f"  NOTE: another laptop brought something of {codes(others)} before. Nothing hangs on it: it decides nothing, "
            "or one of the two came instead of the other."
        )
    if report.speaks_for:
        yield f"  {shared_words('its laptop', report.speaks_for, report.laptop_phrase)}"
    if report.far_ahead:
        yield f"  {far_words('its laptop')}"
    yield from laptop_findings(report.copied, report.gaps, report.clocks)
    if report.withdrawn:
        yield (
            f"  WITHDRAWN: by {', '.join(map(printed, report.withdrawn))}. What was taken back is erased here, "
            "and will be from every later file."
        )
    yield from (f"  {line}" for line in waiting_lines(report.dropped, report.unopened))
    if report.unclean:
        yield (
            "  LOOK: what was taken back is overwritten, but the disk has no room to rewrite the file without it. "
            "Free some space; it is done the next time you open a review."
        )
    if report.recompute:
        yield f"  RECOMPUTE: {certificates_rest(report.recompute)} on it. Issue anew: `rosetta review gate --issue`."


def waiting_lines(dropped: int, unopened: int) -> Iterator[str]:
    """Say what a withdrawal did to the files that wait for somebody to vouch for their laptop."""
    if dropped:
        files = "1 file that waited" if dropped == 1 else f"{dropped} files that waited"
        yield (
            f"DROPPED: {files} for an unknown laptop held something of this person. A file is signed as a whole, so what "
            "others gave in it went too: let them hand over again."
        )
    if unopened:
        files = "1 file that waits" if unopened == 1 else f"{unopened} files that wait"
        yield (
            f"LOOK: {files} could not be opened with the key at hand and may hold something of this person. "
            "Do it once more with --identity and the recovery key."
        )


def certificates_rest(count: int) -> str:
    """Say how many certificates rest (on something)."""
    return "one certificate rests" if count == 1 else f"{count} certificates rest"


def laptop_findings(copied: bool, gaps: int, clocks: Sequence[WildClock]) -> Iterator[str]:
    """Say what to look into about a laptop: copies, missing places, a clock that cannot be right."""
    if copied:
        yield (
            "  LOOK: the data of this laptop was copied, and both copies went on. Both are kept; where one "
            "person rated on both, the later rating counts. Ask which laptop is in use."
        )
    if gaps:
        yield f"  LOOK: {gaps} places of its log are missing or do not fit together."
    for clock in clocks:
        yield f"  NOTE: {clock.said} Nothing depends on it."
