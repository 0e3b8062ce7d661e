"""The verdict on one run and its certificate in words: the same for commands, files and screens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from corpora.text.messages import counted
from review.files.manifests import BatchItem
from review.session.words.keys import REASONS
from review.verdict.certificate import certificate_text
from review.verdict.certificate.certificate import Certificate, ReviewStatus
from review.verdict.certificate.certificate_text import decision_words, measure
from review.verdict.certificate.certify import EvidenceReading, agreement_record
from review.verdict.certificate.coarse import CoarseCertificate, at_least
from review.verdict.gate.agreement import MEASURES, SHARES
from review.verdict.gate.careless import AlikePair, carelessness
from review.verdict.gate.planner import settling
from review.verdict.gate.verdict import OUTCOMES, GateFinding, GateOutcome, alike_words, care_words, findings_words
from rosetta_tui.show.text import CHECK_SIGNS

if TYPE_CHECKING:
    from review.office.store.store import Review
    from review.verdict.certificate.signed import CertificateCheck
    from review.verdict.certificate.verifying import Verification
    from review.verdict.gate.adjudication import Case, ItemComment


_MOST_SPLIT = 12  # entries that are named; of more only how many


class LabelledLine(NamedTuple):
    """One line: label (empty where it continues) and text."""

    about: str
    words: str


def verdict_name(outcome: GateOutcome | str) -> str:
    """Return an outcome as it is called: ``NO-GO``."""
    return str(outcome).upper().replace("_", "-")


def has_numbers(reading: EvidenceReading) -> bool:
    """Return whether numbers may be shown: with too few ratings none are, so that it is no look."""
    return reading.verdict.outcome is not GateOutcome.INSUFFICIENT


def verdict_lines(review: Review, reading: EvidenceReading) -> Iterator[LabelledLine]:
    """Yield the verdict, what it rests on, and what to do about it; no numbers where too little was rated."""
    outcome = reading.verdict.outcome
    found_share = f"needed: {needed_words(reading)}   found: {share_words(reading)}" if has_numbers(reading) else ""
    yield LabelledLine("Verdict", f"{verdict_name(outcome):<12} {found_share}".rstrip())
    yield LabelledLine("", OUTCOMES[outcome])
    yield from why(review, reading)
    yield from harm_words(reading)
    if has_numbers(reading):
        if words := settling_words(reading):
            yield LabelledLine("", words)
        if split := split_words(review, reading):
            yield LabelledLine("Split", f"{split} (to decide: rosetta review adjudicate {review.name})")
        yield from beside_lines(review, reading)
    yield from (LabelledLine("For you", words) for words in advice(review, reading))


def look_notes(new: Mapping[str, int]) -> list[str]:
    """Return for runs, each with the number of the look, that reading their ratings was one."""
    return [
        f"Written down: look {number} at the ratings of run {run[:8]}. From the second on the gate asks to be surer."
        for run, number in new.items()
    ]


def needed_words(reading: EvidenceReading) -> str:
    """Return what the policy asks for."""
    return f"lower bound ≥ {certificate_text.share_words(str(reading.verdict.level))}"


def share_words(reading: EvidenceReading) -> str:
    """Return the bounds, the share, and how many people and items they rest on."""
    verdict, numbers = reading.verdict, reading.verdict.numbers
    lower, upper, share = (
        certificate_text.share_words(None if number is None else str(number))
        for number in (numbers.lower, numbers.upper, numbers.share)
    )
    return (
        f"{lower} to {upper} (share {share}, {len(numbers.reviewers)} reviewers, "
        f"{numbers.items} items; look {verdict.look})"
    )


def why(review: Review, reading: EvidenceReading) -> Iterator[LabelledLine]:
    """Yield every finding in a sentence; test translations that one lists have a line each."""
    findings = findings_words([_named(review, finding) for finding in reading.verdict.findings])
    for place, (words, listed) in enumerate(findings):
        yield LabelledLine("" if place else "Why", words)
        yield from (LabelledLine("", f"  · {control.removeprefix('of ')}") for control in listed)


def harm_words(reading: EvidenceReading) -> Iterator[LabelledLine]:
    """Yield each decision about what was called harmful, with its reason and who decided."""
    for place, decision in enumerate(reading.harm):
        name = "upheld" if decision.harmful else "cleared"
        yield LabelledLine("" if place else "Harm", f"{name}: {decision_words(decision)}")


def _named(review: Review, finding: GateFinding) -> GateFinding:
    """Name a person by their code, and a test translation by its entry and how it was made."""
    fact_values = dict(finding.facts)
    if isinstance(control := fact_values.get("control"), str):
        fact_values["control"] = control_words(review, control)
    if isinstance(person := fact_values.get("reviewer"), str):
        fact_values["reviewer"] = review.code(person)
    return GateFinding(finding.code, fact_values)


def control_words(review: Review, control: str) -> str:
    """Return of which entry a test translation is, and what it is: ``of entry 17 (spoilt: phrase swap)``."""
    about = review.key.items[control]
    kinds = {"bad": "spoilt", "repeat": "shown a second time", "anchor": "a reference"}
    kind = "" if about.control is None else kinds[about.control]
    made = f"{kind}: {about.made_by}" if about.made_by else kind
    return f"of entry {about.entry} ({made})"


def settling_words(reading: EvidenceReading) -> str:
    """Return what would settle an open verdict; empty where more ratings are not what it needs."""
    settle = settling(reading.verdict, reading.policy)
    return "" if settle is None else settle.words()


def split_words(review: Review, reading: EvidenceReading) -> str:
    """Name the entries that split the panel; empty where none does."""
    split = [str(review.key.items[item].entry) for item in reading.verdict.numbers.split]
    more = len(split) - _MOST_SPLIT
    shown = ", ".join(split[:_MOST_SPLIT]) + (f" and {more} more" if more > 0 else "")
    return f"{'entry' if len(split) == 1 else 'entries'} {shown}" if split else ""


def measured(reading: EvidenceReading, name: str) -> str:
    """Return one measure of agreement with its interval."""
    return measure(agreement_record(reading.agreement).measures()[name], share=name in SHARES)


def dots(share: float) -> str:
    full = round(5 * share)
    return "●" * full + "○" * (5 - full)


def beside_lines(review: Review, reading: EvidenceReading) -> Iterator[LabelledLine]:
    """Yield what is next to a verdict with numbers: agreement, strata, who judged, looks, and by which rule."""
    agreement = " · ".join(f"{title} {measured(reading, name)}" for name, title in MEASURES.items())
    yield LabelledLine("Agreement", agreement)
    strata = (
        f"{name or '?'} {'not rated' if part.share is None else dots(float(part.share))} ({part.items})"
        for name, part in reading.verdict.numbers.strata.items()
    )
    yield LabelledLine("Strata", "   ".join(strata))
    # how near they stand to the method is their own word, and changes no number
    yield LabelledLine("Near the method", certificate_text.relations_words(reading.relations))
    yield LabelledLine("Looks", certificate_text.looks_words(reading.looks))
    yield LabelledLine("Policy", f"{reading.policy.status} · {review.policy_sha256[:16]}…")


def advice(review: Review, reading: EvidenceReading) -> Iterator[str]:
    """Yield private advice, which no file and no certificate holds; none from numbers where too little was rated."""
    # Which test translations were called harmful: no method made them, so the verdict is silent
    # on them.
    for control in sorted(reading.panel.flagged_controls):
        yield (
            f"Called harmful or culturally wrong: the test translation {control_words(review, control)}. It is not "
            "the method's, so it does not touch the verdict; somebody should look at it all the same."
        )
    if has_numbers(reading):
        care = carelessness(reading.panel, reading.policy.careless)
        words = (care_words(review.code(who), care.reviewers[who]) for who in care.advised)
        yield from (word for word in words if word)
        yield from map(alike_words, alike(review, reading))


def alike(review: Review, reading: EvidenceReading) -> list[AlikePair]:
    """Return the pairs whose ratings agree far beyond the panel, people by the codes on their cards."""
    return [pair.named(review.code) for pair in reading.alike]


_MOST_DIFFERENCES = 10


def verification_lines(done: Verification) -> Iterator[str]:
    """Return what was examined, what differs, and the result in one sentence."""
    stated = done.certificate
    yield (
        f"{stated.review} · run {stated.run.run_id} · {stated.outcome} · {stated.panel.words} · "
        f"issued {stated.issued} by {stated.organisation.name}"
    )
    yield from check_lines(done)
    if done.not_shown:
        yield not_shown_words(done)
    yield done.words


def outside_lines(told: CoarseCertificate, checks: Iterable[CertificateCheck], *, ok: bool) -> Iterator[str]:
    """Return what could be examined of a coarse certificate where its evidence is not."""
    yield (
        f"{told.review} · run {told.run.run_id} · {told.outcome} · {at_least(told.panel.reviewers)} people · "
        f"issued {told.issued} by {told.organisation.name}"
    )
    yield from (_check_line(check) for check in checks)
    yield (
        "Form and signature hold. Whether its numbers follow from the ratings, only who keeps the evidence can compute."
        if ok
        else "This certificate does not hold."
    )


def not_shown_words(done: Verification) -> str:
    """Return how many items a laptop could not show, and how many of these nobody rated."""
    unseen, unrated = len(done.not_shown), list(done.not_shown.values()).count(False)
    return (
        f"! not shown: {counted(unseen, 'item')} could not be shown on a laptop, so its person was not asked; {unrated} of "
        "them nobody rated, and these are in no share and no veto. A method whose worst outputs are in letters that "
        "laptops lack is spared by this."
    )


def check_lines(done: Verification) -> Iterator[str]:
    """Yield each thing that was examined, and what differs."""
    yield from map(_check_line, done.every)
    yield from (f"  {difference}" for difference in done.differences[:_MOST_DIFFERENCES])


def _check_line(check: CertificateCheck) -> str:
    return f"{CHECK_SIGNS[check.ok]} {check.name}: {check.words}"


def together_words(done: Mapping[str, Verification]) -> str:
    """Return what several evidences of one certificate come to together, each by the place where it was found."""
    if broken := [place for place, verification in done.items() if verification.broken]:
        return f"Together: this does not hold with {' and '.join(broken)}."
    if not (missing := [place for place, verification in done.items() if not verification.ok]):
        return "Together: all evidence that was found agrees, and each gives the verdict again."
    again = " and ".join(place for place in done if place not in missing)
    shown = f"the verdict was computed again with {again}" if again else "nothing was changed"
    return (
        f"Together: {shown}, and cannot be with {' and '.join(missing)}: ratings were taken back since. "
        "The certificate is to be issued again."
    )


def standing_lines(now: ReviewStatus) -> list[str]:
    """Return what may be claimed of a run now."""
    certificate: Certificate = now.certificate
    run = certificate.run.run_id[:8]
    if now.suspended:
        return [f"Run {run}: somebody took ratings back since, so nothing is lifted. Issue the certificate again."]
    if not now.passed:
        return [f"Run {run}: the newest certificate says {certificate.outcome}, so nothing is lifted any more."]
    tier = now.verification_tier
    standing = f"It is {tier}." if tier else f"Not community-validated: {now.why_not_community}."
    return [
        f"Run {run}: go. What may be claimed is no longer capped at functional.",
        standing,
        f"`rosetta runs show {run}` shows it; `rosetta review attach --remove {run}` takes it back.",
    ]


# ---- An item that waits for a decision, in words without system and without names ----

_RATINGS = ("reject", "gist", "acceptable", "excellent")


def ratings_words(case: Case) -> str:
    """Return how many gave each rating, and how many none."""
    return _counts_words(case.counts, case.cannot_judge)


def second_words(case: Case) -> str:
    """Return what people gave in a second look, and that it is advice; empty where there was none."""
    second = case.second
    if second is None:
        return ""
    counts = _counts_words(second.counts, second.cannot_judge)
    flags = f" · {second.flags} called it harmful or culturally wrong" if second.flags else ""
    return (
        f"Second look: {counts}{flags} · {second.changed} of {second.both} changed their rating. "
        "It is advice for you: the gate counts the first round alone."
    )


def _counts_words(counts: Sequence[int], cannot_judge: int) -> str:
    ratings = ", ".join(f"{count} {name}" for name, count in zip(_RATINGS, counts, strict=True))
    return f"{ratings} · {cannot_judge} could not judge"


def voice_words(voices: Sequence[ItemComment]) -> Iterator[tuple[str, str]]:
    """Yield name and text of what people wrote, each person's together; texts are theirs, names are ours."""
    for voice in voices:
        rating = "could not judge" if voice.rating is None else _RATINGS[voice.rating.rank]
        reasons = "; ".join(REASONS[reason].lower() for reason in voice.reasons)
        yield f"Somebody, {rating}{': ' if reasons else ''}{reasons}", ""
        if voice.comment:
            yield "  comment:", voice.comment
        if voice.suggestion:
            yield "  better:", voice.suggestion


def around_words(text: BatchItem) -> Iterator[tuple[str, str]]:
    """Yield name and text of where a sentence stands, as far as its batch told reviewers."""
    around = text.around
    if around is not None:
        named = {
            "before it:": around.before,
            "after it:": around.after,
            "context:": around.context,
            "register:": around.formality,
        }
        yield from ((name, label) for name, label in named.items() if label)


def flags_words(case: Case) -> str:
    """Return how many called it harmful."""
    return f"{case.flags} called it harmful or culturally wrong" if case.flags else "no flag"


def so_far(case: Case, *, why: bool = False) -> str:
    """Return what was decided last, with reason and name where ``why``; empty where nothing was."""
    decision = {True: "upheld", False: "cleared", None: ""}[case.harmful]
    return f"{decision}: {why_words(case)}" if decision and why else decision


def why_words(case: Case) -> str:
    """Return why it was decided so, and who decided."""
    decided = case.decided
    if decided is None or not decided.reason:
        return "no reason was recorded"
    return f"{decided.reason} (decided by {decided.by})"
