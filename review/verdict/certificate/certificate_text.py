"""A certificate as one page: text, or one self-contained HTML file with no script, in which texts from outside are harmless."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final, NamedTuple

from corpora.text.messages import minus, percent
from corpora.text.visible import readable
from review.verdict.certificate.certificate import (
    COMMUNITY_VALIDATED,
    WORDS,
    Certificate,
    CertifiedDecision,
    CertifiedLaptops,
    CertifiedLooks,
    CertifiedMeasure,
    CertifiedRelations,
    why_not_community,
)
from review.verdict.gate.agreement import MEASURES, SHARES
from review.verdict.gate.panel import Harm
from review.verdict.gate.verdict import OUTCOMES, Code, GateFinding, finding_words, findings_words

WIDTH = 88
PACKAGE: Final = "review.verdict.certificate"
# Whose templates are the pages of a certificate, for itself and for the speakers
# Findings about people, said without whose they are
_PERSON = {
    Code.LOW_REVIEWER: "One reviewer finds only {share} of the translations acceptable or better; below {needed} "
    "people must talk.",
    Code.REVIEWER_LEFT_OUT: "One reviewer rated {rated} of the {core} translations that all were asked, too few "
    "to count.",
}


class CertificatePage(NamedTuple):
    """What a certificate says to people, exact or coarse; texts from outside can do nothing in it."""

    review: str
    outcome: str
    facts: list[tuple[str, str]]  # Name and value of what a reader wants to know first
    rests: list[tuple[str, list[str]]]  # On what that rests, each with what it lists
    seals: list[tuple[str, str]]  # Name and value of hashes and keys
    check: str  # How it can be checked

    def text(self) -> str:
        lines = [
            "CERTIFICATE OF A COMMUNITY REVIEW",
            "",
            *_wrapped(self.outcome),
            "",
            *(_row(name, value) for name, value in self.facts),
            "",
            "What it rests on",
        ]
        for words, controls in self.rests:
            lines += _wrapped(words, "  - ")
            for control in controls:
                lines += _wrapped(control, "      · ")
        lines += ["", *(_row(name, value) for name, value in self.seals)]
        return "\n".join([*lines, "", *_wrapped(self.check)]) + "\n"

    def html(self) -> str:
        """Return the page as one file: no script, nothing fetched."""
        from harness.core.html_pages import filled  # it loads Jinja, which only this page needs

        return filled(
            PACKAGE, "certificate.html.j2", readable,
            language="en", direction="ltr", title=f"Certificate: {self.review}", page=self,
        )  # fmt: skip


def certificate_page(certificate: Certificate) -> CertificatePage:
    return CertificatePage(
        certificate.review,
        OUTCOMES[certificate.outcome],
        list(facts(certificate)),
        findings(certificate),
        list(seals(certificate)),
        HOW_TO_CHECK,
    )


HOW_TO_CHECK = (
    "Anybody who has the evidence file can compute this verdict again: with `rosetta review verify`, or with the short "
    "program rosetta_verify.py. Take that from its makers and compare its SHA-256: a copy in the file is as "
    "trustworthy as the file. Both also check that each answer was signed by a laptop and that policy and answer key "
    "are those of the batch that went out; whether behind each laptop sat a speaker, no program can see. Who kept the "
    "batch or the six words of a hand-over can compare them with it: --batch, --words. The statement is about the run "
    "named above and about no other."
)


def facts(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield what a reader wants to know first, as name and value."""
    run, panel, verdict = certificate.run, certificate.panel, certificate.verdict
    numbers = verdict.numbers
    segments = ", ".join(f"{count} of {name}" for name, count in sorted(run.segments.items()))
    yield "run", run.run_id
    yield "corpus", f"{run.dataset_id}, {run.language_pair}, {segments}"
    yield "review", certificate.review
    yield "organisation", certificate.organisation.name
    yield "issued", certificate.issued
    yield "panel", f"{panel.words}, of {panel.invited} who were asked"
    if panel.asked:
        yield "asked", ", ".join(WORDS[b].format(n) for b, n in panel.asked.items() if n)
    yield "how chosen", panel.chosen or "not stated by the organisation"
    yield "items", f"{numbers.items} rated"
    share, lower, upper = map(share_words, (numbers.share, numbers.lower, numbers.upper))
    yield "share", f"{share} acceptable or better ({lower} to {upper})"
    look = f"{verdict.look}, {run.looks} before this review" if run.looks else f"{verdict.look}"
    level, sure = share_words(verdict.level), share_words(verdict.confidence)
    yield "needed", f"a lower bound of {level}, {sure} sure; look {look}"
    if certificate.looks is not None:
        yield "looks", looks_words(certificate.looks)
    for stratum, part in sorted(numbers.strata.items()):
        yield f"difficulty {stratum}", f"{share_words(part.share)} of {part.items} items"
    yield "each reviewer", ", ".join(map(share_words, numbers.reviewers))
    for name, measured in certificate.agreement.measures().items():
        yield MEASURES[name], measure(measured, share=name in SHARES)
    if certificate.relations is not None:
        yield "their own word", relations_words(certificate.relations)
    reason = why_not_community(certificate)
    yield "standing", f"not {COMMUNITY_VALIDATED}: {reason}" if reason else COMMUNITY_VALIDATED
    if taken := certificate.log.withdrawals:
        yield "withdrawn", f"ratings of {_people(taken)}, by themselves or in their names"
    yield from _laptops(certificate.laptops)
    if seen := certificate.witnesses:
        by = f", by {_people(seen.witnesses)}" if seen.witnesses else ""
        rest = "that a laptop is a speaker's is else the organisation's word alone"
        yield "witnessed", f"{seen.witnessed} of the {seen.laptops} laptops{by}; {rest}"
    yield from _harm(certificate)


def _harm(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield what became of the items that were called harmful, with each reason."""
    for name in (Harm.UPHELD, Harm.CLEARED):
        count = certificate.verdict.harm[name]
        decisions = [decision_words(d) for d in certificate.harm if d.harmful is (name is Harm.UPHELD)]
        decisions += [NO_REASON] * (count - len(decisions))
        for number, words in enumerate(decisions, 1):
            yield f"harm {name}", f"{number} of {count}: {words}"


def relations_words(found: CertifiedRelations) -> str:
    """Return how many stand how near to the method, by their own word."""
    counts = (
        (found.made, "took part in making the method"),
        (found.knows, "know who made it"),
        (found.neither, "neither"),
        (found.not_asked, "not asked"),
    )
    return "; ".join(f"{count} {words}" for count, words in counts if count) or "nobody counts"


NO_REASON = "no reason was recorded"


def decision_words(decision: CertifiedDecision) -> str:
    reason = decision.reason or NO_REASON
    return f"{reason} (decided by {decision.by})" if decision.by else reason


def looks_words(looks: CertifiedLooks) -> str:
    """Return where a run was examined, and what nobody here can know."""
    here = f"{looks.here} at this review, {looks.early} of them before everybody had rated"
    batches = (f"{count} at batch {batch}" for batch, count in looks.others.items())
    others = ", ".join(batches) or "no other batch of this run is known"
    return f"{here}; {others}. Reviews made on another computer are not known here"


def _laptops(laptops: CertifiedLaptops | None) -> Iterator[tuple[str, str]]:
    """Return what the organisation decided about laptops; certificates of version 1 do not tell."""
    if laptops is None:
        return
    if removed := laptops.removed:
        reasons = "; ".join(reason or "no reason given" for reason in removed)
        yield "laptops out", f"{len(removed)} taken out by the organisation: {reasons}"
    if laptops.replaced:
        count = "1 laptop" if laptops.replaced == 1 else f"{laptops.replaced} laptops"
        yield ("replaced", f"{count} came instead of another one, by the organisation's word: both count as one")
    if laptops.decided:
        yield (
            "who speaks",
            f"for {_people(laptops.decided)} the organisation named the laptops that count, not all that spoke",
        )
    if laptops.waiting:
        words = "several laptops spoke for them, and the organisation has not said which of them counts"
        yield "not counted", f"{_people(laptops.waiting)}: {words}"


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def findings(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """Return every finding in a sentence, each with the test translations that it lists."""

    def sentence(finding: GateFinding) -> str:
        """Word a finding; of one about a person it is not told whose it is."""
        if finding.code not in _PERSON:
            return finding_words(finding)
        facts = {name: share_words(fact) if isinstance(fact, str) else fact for name, fact in finding.facts.items()}
        return _PERSON[finding.code].format_map(facts)

    stated = [
        GateFinding(Code(str(f["code"])), {name: fact for name, fact in f.items() if name != "code"})
        for f in certificate.verdict.findings
    ]
    return findings_words(stated, sentence)


def seals(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield the hashes and keys, as name and value."""
    yield "certificate", certificate.sha256
    yield "signed with", certificate.organisation.signing_key
    yield "run card", certificate.run.run_card_hash
    yield "policy", certificate.policy.sha256
    yield "policy status", certificate.policy.status
    yield "answer key", certificate.key_sha256
    if certificate.verifier_sha256:
        yield "second verifier", certificate.verifier_sha256
    yield "events", f"{certificate.log.sha256} ({certificate.log.events:,} events)"
    for batch, manifest in sorted(certificate.batches.items()):
        yield f"batch {batch}", manifest
    if certificate.supersedes:
        yield "supersedes", certificate.supersedes


def share_words(share: str | None) -> str:
    """Show a share with one decimal, a dash for none."""
    return "–" if share is None else percent(float(share), 1)


def measure(stated: CertifiedMeasure, *, share: bool) -> str:
    """Show a measure of agreement with its interval, or why it has none."""

    def show(number: str) -> str:
        return share_words(number) if share else minus(f"{float(number):.2f}")

    if stated.value is None:
        return str(stated.why)
    if stated.interval is None:
        return show(stated.value)
    return f"{show(stated.value)} ({show(stated.interval.lower)} to {show(stated.interval.upper)})"


def _row(name: str, value: str) -> str:
    first, *rest = _wrapped(value, width=WIDTH - 17) or [""]
    return "\n".join([f"{name:<16} {first}".rstrip(), *(" " * 17 + line for line in rest)])


def _wrapped(text: str, begin: str = "", width: int = WIDTH) -> list[str]:
    return textwrap.wrap(readable(text), width, initial_indent=begin, subsequent_indent=" " * len(begin))
