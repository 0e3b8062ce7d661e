"""A review's plan in words for the organiser, before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.text.comparison import script_of
from corpora.text.messages import counted, percent
from corpora.text.visible import letter_name
from harness.core.failures import UsageError
from review.files.font_file import CarriedFont, read_font
from review.office.making.batches import Drawn
from review.office.making.carried_fonts import Readability, carried_fonts, readability
from review.office.making.controls import USUAL, WANTED
from review.office.making.items import Item, stratum
from review.office.making.texts import ReviewTexts
from review.session.view import SECONDS_TO_JUDGE, SECONDS_TO_WRITE
from review.verdict.gate.planner import RatingPlan, chances
from review.verdict.gate.policy import GatePolicy
from scoring.calibration.threshold import tier_line

if TYPE_CHECKING:
    from corpora.files.json_types import JsonObject
    from review.office.making.creating import ReviewDraft
    from review.office.results.progress import ReviewProgress


# ---- The texts about letters for the organiser: which a reviewer's window lacks, and what
# therefore nobody is asked.

_MOST = 10  # entries that are named
_BROUGHT = "Latin, Greek, Cyrillic, Arabic, Canadian syllabics and many signs"
"""What the fonts of the reviewer's window draw."""


_SIGNS = "signs"  # everything that is no letter


class Letters(NamedTuple):
    """The fonts that a batch brings along, and what can be read with them and those of the window."""

    fonts: tuple[CarriedFont, ...]
    found: Readability
    secret: bool  # then no letter of a sentence is named, only its script


def look_at_letters(drawn: Drawn, texts: ReviewTexts, given: Mapping[str, Any], *, secret: bool) -> Letters:
    """Cut the fonts that are named to the letters of a review, and work out what can be read; UsageError in words."""
    shown = [*(item.shown for item in drawn.items), *drawn.training]
    written = [text for batch_item in shown for text in _texts(batch_item.model_dump())]
    written += [
        texts.consent,
        texts.guide,
        *(text for language in texts.others.values() for text in _texts(language.model_dump())),
    ]
    written += [given["title"] or texts.title, given["organisation"] or "", *drawn.written]
    fonts = carried_fonts(given["fonts"], given["licences"], written)
    has = [read_font(font.font).characters for font in fonts]
    readable_letters = readability(drawn, texts.consent, texts.language, has)
    return Letters(fonts, readable_letters, secret)


def _texts(record: object) -> Iterator[str]:
    """Yield every text of a record, at whatever depth."""
    if isinstance(record, str):
        yield record
    elif isinstance(record, Mapping):
        for value in record.values():
            yield from _texts(value)
    elif isinstance(record, list | tuple):
        for value in record:
            yield from _texts(value)


def letter_lines(letters: Letters) -> Iterator[str]:
    """Yield, for the plan, which letters the reviewer's window lacks and what becomes of their items."""
    readability = letters.found
    brings = f"the reviewer's window brings {_BROUGHT}"
    if letters.fonts:
        size = sum(len(font.font) for font in letters.fonts)
        brings += f", the batch {counted(len(letters.fonts), 'font')} ({size // 1024 + 1} KB)"
    if not readability.lacking:
        yield f"all can be shown: {brings}"
        return
    yield f"not all can be shown: {brings}"
    if readability.named:
        yield (
            f"SHOWN BY NAME, such as ‹GRINNING FACE›: {_kinds(letters, readability.named)} in "
            f"{counted(len(readability.named), 'item')}, {_entries(readability.named)}"
        )
    if readability.left_out:
        yield (
            f"LEFT OUT where the computer has no font for them: {counted(len(readability.left_out), 'item')} with "
            f"{_kinds(letters, readability.left_out)}, {_entries(readability.left_out)}"
        )


def unreadable_words(letters: Letters) -> str:
    """Return what nobody could read, and how to fix it; empty where all can be read."""
    readability = letters.found
    if readability.consent_lacks:
        what = f"The consent cannot be read ({_scripts(readability.consent_lacks)})"
    elif readability.left_out:
        what = (
            f"{counted(len(readability.left_out), 'item')} cannot be read ({_kinds(letters, readability.left_out)}, "
            f"{_entries(readability.left_out)})"
        )
    else:
        return ""
    return (
        f"{what} with the letters that the reviewer's window brings: {_BROUGHT}. Send a font along (--font FILE.ttf "
        "--font-licence OFL.txt), or add --anyway: then nobody is asked about them where the computer has no font "
        "for them."
    )


def require_readable(letters: Letters, *, anyway: bool) -> None:
    """Refuse a review of which something could not be read, unless the organiser knows it."""
    if not anyway and (why := unreadable_words(letters)):
        raise UsageError(why)


def letters_json(letters: Letters) -> JsonObject:
    return {
        "fonts": len(letters.fonts),
        "lacking": _by_script(letters.found.lacking),
        "shown_by_name": [item.truth.entry for item in letters.found.named],
        "left_out": [item.truth.entry for item in letters.found.left_out],
    }


def not_shown_words(found: ReviewProgress) -> Iterator[str]:
    """Return which sentences laptops could not show, so that their people were not asked."""
    entries = found.not_shown
    if entries:
        times = sum(entries.values())
        message = "could not be shown on a laptop, so its person was not asked"
        yield (
            f"NOT SHOWN: {counted(len(entries), 'sentence')} {message} ({counted(times, 'time')} in all): "
            f"{list_entries(entries)}. A batch can bring letters along: `rosetta review create --font`."
        )


def list_entries(entries: Iterable[object]) -> str:
    """Name entries by their ids, the first ones of many."""
    ids = list(dict.fromkeys(map(str, entries)))
    more = f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""
    return f"{'entry' if len(ids) == 1 else 'entries'} {', '.join(ids[:_MOST])}{more}"


def _entries(items: Sequence[Item]) -> str:
    ids = sorted((str(item.truth.entry) for item in items), key=lambda id_: (len(id_), id_))
    return list_entries(ids)


def _kinds(letters: Letters, items: Sequence[Item]) -> str:
    """Name what some items lack: the scripts, and of open sentences a few signs by their names."""
    texts = "".join(text for item in items for text in (item.shown.source, item.shown.candidate))
    here = [letter for letter in letters.found.lacking if letter in texts]
    few = here[:3] if not letters.secret else []
    names = f": {', '.join(map(letter_name, few))}{', …' if len(here) > len(few) else ''}" if few else ""
    return f"{_scripts(here)}{names}"


def _scripts(letters: Iterable[str]) -> str:
    return ", ".join(
        counted(count, "sign" if name == _SIGNS else f"{name} letter") for name, count in _by_script(letters).items()
    )


def _by_script(letters: Iterable[str]) -> dict[str, int]:
    """Count letters by their script; what is no letter is a sign."""
    return dict(
        Counter(script_of(letter).replace("_", " ") if letter.isalpha() else _SIGNS for letter in letters).most_common()
    )


_LONG = 150  # sentences after which one sitting is too long
_LONG_TO_WRITE = 100  # the same where sentences are written, or looked over word by word
_TRUE = 0.85  # share for which the chance of a verdict is given

_KINDS = {
    "fst": "a word in another form by the analyser",
    "other reference": "another sentence's translation",
    "phrase swap": "a phrase swapped",
    "truncated": "half of it left out",
}


def draft_lines(draft: ReviewDraft, policy: GatePolicy, letters: Letters, *, own_training: bool) -> Iterator[str]:
    """Yield who is asked about what, what it is worth, and what could not be had."""
    runs = draft.runs.runs
    missing = max(run.missing for run in runs)
    several = f", {len(runs)} systems each, blind" if len(runs) > 1 else ""
    have = "has" if missing == 1 else "have"
    without = f" ({missing} {have} no output and {'is' if missing == 1 else 'are'} not asked)" if missing else ""
    sentences = f"{len(draft.entries)} of {len(runs[0].entries)}{several}{without}"
    yield plan_line("sentences", sentences)
    yield plan_line("difficulty", _strata(draft))
    yield plan_line("controls", _controls(draft))
    kinds = draft.controls.kinds()
    if kinds and "fst" not in kinds:
        why = draft.why_no_forms or "the analyser knows too few words of these texts in two forms"
        yield plan_line("", f"no wrong word forms: {why}")
    if draft.controls.from_outputs:
        yield plan_line("", f"{draft.controls.from_outputs} of the wrong ones are made from the systems' own outputs")
    for line in draft.controls.short:
        yield plan_line("", line)
    low, high = (round(draft.longest * seconds / 60) for seconds in SECONDS_TO_JUDGE)
    core = "" if len(draft.core) == len(draft.real) else f", {len(draft.core)} of them common to all"
    share = f"{draft.longest} items{core}; about {low}–{high} minutes"
    yield plan_line("each person", share)
    for number, line in enumerate(_training(draft, own_training=own_training)):
        yield plan_line("" if number else "training", line)
    if draft.placed:
        secret = "; secret sentences are among them" if draft.around.secret else ""
        context = (
            f"shown beside {draft.placed} of {len(draft.entries)} sentences: where the corpus has them from, and those next "
            f"to them in their document{secret}"
        )
        yield plan_line("context", context)
    yield from letters_plan(letters)
    yield plan_line("seed", str(draft.seed))
    yield plan_line("chance", chance(draft, policy))
    yield from (plan_line("", line) for line in _warnings(draft, policy))


def plan_line(name: str, text: str) -> str:
    """Return one line of a plan: label (empty where it continues) and text."""
    return f"{name:<13}{text}"


def rule_lines(policy: GatePolicy) -> Iterator[str]:
    """Yield what a rule that was derived for a small panel can show and what it cannot; nothing for any other rule."""
    if policy.status.startswith("derived"):
        level, enough = policy.level, policy.enough
        yield plan_line(
            "rule",
            f"derived: {enough.reviewers} people and {enough.items} sentences are enough. A go shows, {percent(float(level.confidence))} sure, that "
            f"{percent(float(level.share))} of the translations are acceptable to these people: nearly every one has to be. It cannot show "
            f"that rejected ones are rarer than {percent(float(policy.veto.most))}, and it speaks for a community from {enough.community_reviewers} people on. `rosetta review plan -o` writes the rule",
        )


def letters_plan(letters: Letters) -> Iterator[str]:
    """Yield as lines of a plan which letters the reviewer's window lacks."""
    for number, line in enumerate(letter_lines(letters)):
        yield plan_line("" if number else "letters", line)


def _strata(draft: ReviewDraft) -> str:
    counts = Counter(map(stratum, draft.entries))
    if set(counts) == {0}:
        return "not given by the corpus: one stratum"
    named = (f"{name or 'not given'}: {count}" for name, count in sorted(counts.items()))
    return ", ".join(named)


def _controls(draft: ReviewDraft) -> str:
    counts = Counter(str(item.truth.control) for item in draft.controls.items)
    kinds = ", ".join(f"{count} {_KINDS[kind]}" for kind, count in draft.controls.kinds().items())
    made = f" ({kinds})" if kinds else ""
    return f"{counts['bad']} wrong on purpose{made}, {counts['repeat']} asked twice, {counts['anchor']} references"


def _training(draft: ReviewDraft, *, own_training: bool) -> Iterator[str]:
    spare, count = len(draft.spare), len(draft.training)
    if own_training:
        yield f"{count} items of yours"
        return
    if not count:
        yield "none: there are no development entries to make it from; give yours with --training"
        return
    yield (
        f"{count} items, all to be rejected, made from development entries; what is good or acceptable "
        "only a speaker can show (--training)"
    )
    # Why it has fewer items than usual, or shows sentences that are asked about.
    if not spare:
        yield "training shows sentences that are asked about too, because no development entry is left. Lower --items"
    elif count < USUAL and spare < WANTED:
        yield f"fewer than {USUAL}; development entries not asked about: {spare}. Lower --items for more"
    elif count < USUAL:
        yield f"fewer than {USUAL}: the development entries that are left are too short to make more"


def chance(draft: ReviewDraft, policy: GatePolicy) -> str:
    """Return how probable a verdict is, on the common core, for each system."""
    strata = dict(sorted(Counter(map(stratum, draft.core_entries)).items()))
    reviewers = len(draft.orders)
    if reviewers < 2 or min(strata.values()) < 2:
        return "cannot be told: at least two people and two sentences of each difficulty are needed"
    sizes = Counter(map(stratum, draft.runs.runs[0].entries.values()))
    total = sum(sizes[name] for name in strata)
    weights = {name: sizes[name] / total for name in strata}
    chances_found = chances(RatingPlan(reviewers, strata, weights), _TRUE, policy, trials=2000)
    return (
        f"{reviewers} people × {len(draft.core_entries)} sentences: {percent(chances_found.go)} for a go where "
        f"{percent(_TRUE)} of the translations truly are acceptable or better. This counts the difficulties of this corpus "
        "and how often each occurs; `rosetta review plan` takes five that are alike"
    )


def no_verdict(draft: ReviewDraft, policy: GatePolicy) -> Iterator[str]:
    """Return what the gate would find too little of, however people rate (rule 1 of the gate)."""
    enough, counts = policy.enough, Counter(map(stratum, draft.entries))
    yield from too_little(len(draft.entries), len(draft.orders), policy)
    few = [str(name) for name, count in sorted(counts.items()) if count < enough.per_stratum]
    if few:
        yield (
            f"the policy wants {enough.per_stratum} sentences of each difficulty, and there are fewer of "
            f"difficulty {', '.join(few)}"
        )


def too_little(sentences: int, reviewers: int, policy: GatePolicy) -> Iterator[str]:
    """Return which of these numbers are too small for any verdict."""
    enough = policy.enough
    if sentences < enough.items:
        yield f"the policy wants {enough.items} sentences rated, and these are {sentences}"
    if reviewers < enough.reviewers:
        yield f"the policy wants {enough.reviewers} reviewers, and these are {reviewers}"


def _warnings(draft: ReviewDraft, policy: GatePolicy) -> Iterator[str]:
    enough, reviewers = policy.enough, len(draft.orders)
    for reason in no_verdict(draft, policy):
        yield f"NO VERDICT: {reason}."
    if enough.reviewers <= reviewers < enough.community_reviewers:
        yield (
            f"NOTE: with {reviewers} reviewers the certificate says “panel of {reviewers}”; "
            f"community validated starts at {enough.community_reviewers}."
        )
    if below := draft.below_deployable:
        named = ", ".join(f"run {run[:8]} ({score:.3f})" for run, score in below.items())
        yield (
            f"NOTE: below the Deployable threshold: {named}; the specification's review begins at a composite of "
            f"{tier_line():.2f} (§7.3)."
        )
    if draft.longest > _LONG:
        yield f"NOTE: {draft.longest} items are long for one person. Lower --items, or use --core."


def people_lines(drawn: Drawn, letters: Letters) -> Iterator[str]:
    """Yield how much each person is asked of sentences to be written, and how often each sentence is asked."""
    low, high = (round(drawn.longest * seconds / 60) for seconds in SECONDS_TO_WRITE)
    core = len(drawn.core)
    common = "" if core in {0, len(drawn.items)} else f", {core} of them common to all"
    yield plan_line("each person", f"{drawn.longest} sentences{common}; about {low}–{high} minutes")
    times = sum(map(len, drawn.orders.values())) / len(drawn.items)
    yield plan_line("people", f"{len(drawn.orders)}; a sentence is asked of {times:.3g} on average")
    yield from letters_plan(letters)
    yield plan_line("seed", str(drawn.seed))
    if drawn.longest > _LONG_TO_WRITE:
        yield plan_line("", "that is long for one sitting; people can stop and continue another day")
