"""What came back in words for the organiser: files of ratings, laptops that speak, what may be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from corpora.text.messages import counted
from harness.sealed.carried_files import SkippedFiles
from review.files.identities import printed
from review.log.event import WildClock
from review.log.merge import Remark
from review.office.intake import speaking

if TYPE_CHECKING:
    from review.office.results.progress import Gathered, ReviewerProgress, ReviewProgress


def codes(people: Sequence[str]) -> str:
    """Name people by their codes, as they are on the cards."""
    return ", ".join(map(printed, people))


def voice_lines(found: speaking.Assignments) -> Iterator[str]:
    """Yield all that an organiser should look into about who speaks for whom in a review."""
    for duplicate_laptops in found.several:
        yield several_words(duplicate_laptops)
    for laptop in found.shared:
        yield shared_words(laptop.name, laptop.people)
    for laptop in found.laptops:
        if laptop.far_ahead:
            yield far_words(laptop.name)
        if laptop.removed is not None:
            # That a laptop is taken out.
            reason = f" ({laptop.removed})" if laptop.removed else ""
            removed_words = (
                f"NOTE: {laptop.name} is taken out{reason}: nothing that it says counts. "
                f'Undo it: rosetta review enrol --remove --undo "{laptop.name}"'
            )
            yield removed_words


def several_words(person: speaking.DuplicateLaptops) -> str:
    """Return that several laptops speak for one person, and what the organiser can say to it."""
    code = printed(person.code)
    laptops = " and ".join(person.laptops)
    if person.waits:
        first, *others = person.laptops
        return (
            f"LOOK: {code} is heard from {laptops}. None of these ratings count until you say which laptop speaks "
            f'for this person. Ask them, then: rosetta review enrol "{first}" --speaks-for {code}   '
            f'(or the other one; for both, because the person sat at both, add --with "{others[0] if others else first}")'
        )
    return f"NOTE: {code} is heard from {laptops}. You said who speaks for this person: {' and '.join(person.counted)}."


def waiting_words(waiting: int, people: int, review: str) -> str:
    """Return how many people of a review are not counted, and where it is decided; empty where all are."""
    if not waiting:
        return ""
    verb, them = ("is", "this person") if waiting == 1 else ("are", "each of them")
    return (
        f"{waiting} of {people} people {verb} not counted: several laptops speak for {them}. "
        f"Say which does: rosetta review status {review}"
    )


def shared_words(name: str, people: Sequence[str], called: str = "") -> str:
    """Return that one laptop speaks for several people; ``called`` is by what a command finds it, its name if empty."""
    return (
        f"LOOK: {name} speaks for {len(people)} people: {codes(people)}. That is fine where they share this computer. "
        f'If they do not, ask them; a laptop is taken out with: rosetta review enrol --remove "{called or name}" --reason "…"'
    )


def far_words(name: str) -> str:
    """Return that a laptop's log has a time that cannot be."""
    return (
        f"LOOK: the log of {name} counts further than any laptop's can: it was not written by this program as it is. "
        "It does not come before or after what other laptops say of a person unless you let both speak. Ask whose it is."
    )


_MOST_LINES = 5  # lines that are named for one reason


def skipped_lines(skipped: Iterable[SkippedFiles]) -> Iterator[str]:
    """Yield which files of a folder were passed over, a line for each reason."""
    for files in skipped:
        yield f"PASSED OVER  {files}"


def report_lines(report: speaking.FileReport) -> Iterator[str]:
    """Return what was taken, what was not and why, and what to look into."""
    if report.outcome is speaking.FileOutcome.REFUSED:
        yield f"NOT TAKEN  {report.why}"
        return
    if report.outcome is speaking.FileOutcome.PASSED_OVER:
        yield f"PASSED OVER  {report.why}"
        return
    yield f"{report.name}: review {report.review}, check words: {report.phrase}"
    if report.outcome is speaking.FileOutcome.SET_ASIDE:
        yield "  SET ASIDE: nobody has vouched for its laptop yet. The check words are those that the laptop showed when"
        yield "  it wrote this file; the speaker wrote them down. If they are the same:"
        yield f"  rosetta review enrol {report.phrase}"
        yield f"  (the laptop's own words, which `rosetta review enrol --card` shows there, are {report.laptop_phrase})"
        return
    aside, damaged = len(report.aside), len(report.damaged)
    erased = f"erased at once {report.erased} (taken back before), " if report.erased else ""
    yield (f"  added {report.added}, {erased}already here {report.already_here}, set aside {aside}, damaged {damaged}")
    yield from _remarks("set aside", report.aside)
    yield from _remarks("damaged", report.damaged)
    yield from _findings(report)


def _remarks(what: str, remarks: Sequence[Remark]) -> Iterator[str]:
    """Name the lines by reason, the first few of each."""
    for reason, count in Counter(remark.said for remark in remarks).most_common():
        lines = [str(remark.line) for remark in remarks if remark.said == reason]
        more = f" … ({count} in all)" if count > _MOST_LINES else ""
        yield f"  {what}: line {', '.join(lines[:_MOST_LINES])}{more}: {reason}"


def _findings(report: speaking.FileReport) -> Iterator[str]:
    if any(remark.said == speaking.OTHER_LAPTOPS for remark in report.aside):
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
    known = {person.code for person in report.several} | {*report.withdrawn}
    if others := [code for code in report.elsewhere if code not in known]:
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
        yield f"  RECOMPUTE: {certificates_rest(report.recompute)} on it. Issue again: `rosetta review gate --issue`."


def waiting_lines(dropped: int, unopened: int) -> Iterator[str]:
    """Return what a withdrawal did to the files that wait for somebody to vouch for their laptop."""
    if dropped:
        files = "1 file that waited" if dropped == 1 else f"{dropped} files that waited"
        yield (
            f"DROPPED: {files} for an unknown laptop held something of this person. A file is signed as a whole, so what "
            "others gave in it went too: ask them to save their answers again."
        )
    if unopened:
        files = "1 file that waits" if unopened == 1 else f"{unopened} files that wait"
        yield (
            f"LOOK: {files} could not be opened with the key available and may hold something of this person. "
            "Do it once more with --identity and the recovery key."
        )


def certificates_rest(count: int) -> str:
    """Return how many certificates rest (on something)."""
    return "one certificate rests" if count == 1 else f"{count} certificates rest"


def laptop_findings(copied: bool, gaps: int, clocks: Sequence[WildClock]) -> Iterator[str]:
    """Return what to look into about a laptop: copies, missing places, a clock that cannot be right."""
    if copied:
        yield (
            "  LOOK: the data of this laptop was copied, and both copies continued. Both are kept; where one "
            "person rated on both, the later rating counts. Ask which laptop is in use."
        )
    if gaps:
        yield f"  LOOK: {gaps} places of its log are missing or do not fit together."
    for clock in clocks:
        yield f"  NOTE: {clock.said} Nothing depends on it."


HOW_TO_ALLOW = (
    "Ask them: they can change their answer in the program at any time, and then save their answers once more."
)


def may_be_used(person: ReviewerProgress) -> str:
    """Return a person's last word; nothing where nothing came yet."""
    if not person.consented:
        return ""
    return "yes" if person.shares else "no"


def kept_back_words(found: ReviewProgress) -> Iterator[str]:
    """Return how many translations are here and may not be used, and what can be done."""
    people = [reviewer for reviewer in found.reviewers if reviewer.kept_back]
    if not people:
        return
    count = sum(person.kept_back for person in people)
    who = "1 person" if len(people) == 1 else f"{len(people)} people"
    what = "translation" if count == 1 else "translations"
    yield f"NOT TO BE USED: {count} {what} of {who} who did not say that theirs may be used. {HOW_TO_ALLOW}"


# ---- What was taken into a corpus in the making, in words for anyone who makes it: counts and
# entries, never a sentence.


def taken_words(found: Gathered) -> str:
    return f"Used: {counted(found.translated, 'translation')}, {found.agreed} agreed to, {found.corrected} corrected."


def left_lines(found: Gathered) -> Iterator[str]:
    """Yield what was left out, taken back or not agreed to, and what to do about it."""
    if found.waiting:
        yield f"{counted(len(found.waiting), 'sentence')} with speakers, without an answer so far that may be used."
    if found.unshared:
        yield f"Left out: {counted(found.unshared, 'translation')} of people who did not say that theirs may be used. {HOW_TO_ALLOW}"
    if found.beside:
        yield f"Left out: {counted(found.beside, 'translation')} of sentences that another review translated. If that one is taken back or refused, gather takes these."
    if found.withheld or found.objected:
        many = counted(found.withheld + len(found.objected), "sentence")
        named = f" ({_named(found.objected)})" if found.objected else ""
        yield f"Left out: {many} that somebody called harmful or not to be shown around{named}. Talk with them; `rosetta review adjudicate` clears a flag."
    if found.unjudged:
        yield f"A second speaker could not judge: {_named(found.unjudged)}. To be examined by another one (rosetta corpus ask agree --again)."
    if found.own:
        yield f"No agreement: {_named(found.own)}, looked over on the laptop of the translation. Give it to another speaker (rosetta corpus ask agree --again), or if that was another person: rosetta corpus gather --shared-laptop REVIEW."
    if found.other_wording:
        yield f"Answers about another wording than the one that is there now: {_named(found.other_wording)}. Give it to a second speaker (rosetta corpus ask agree --again)."
    if found.taken_back:
        yield f"Taken back by who said it, and out of the corpus: {_named(found.taken_back)}."
    if found.refused:
        yield f"A second speaker did not agree, and wrote no better one: {_named(found.refused)}. What is left without a translation waits for another one (rosetta corpus ask translate)."


def _named(entries: list[int]) -> str:
    numbers = ", ".join(map(str, sorted(entries)))
    return f"{'entry' if len(entries) == 1 else 'entries'} {numbers}"
