"""All checks of one run, in the order in which they are shown."""

from __future__ import annotations

from harness.lint.canary import lint_canaries
from harness.lint.copies import lint_copies
from harness.lint.finding import LintFinding, LintReport, NotLookedAt
from harness.lint.rates import lint_generalization, lint_variants
from harness.lint.stated import lint_declaration, lint_prompt
from harness.lint.subject import LintSubject

CHECKS = (
    lint_canaries,
    lint_prompt,
    lint_declaration,
    lint_copies,
    lint_variants,
    lint_generalization,
)


def lint(subject: LintSubject) -> LintReport:
    """Return what was found in a run, what ought to be looked at first."""
    if not subject.rows:
        why = "no outputs are known: the card has no rows"
        return LintReport(
            run=subject.name, findings=(), not_looked_at=(NotLookedAt(check="all", why=why),)
        )
    told = [each for check in CHECKS for each in check(subject)]
    found = [each for each in told if isinstance(each, LintFinding)]
    return LintReport(
        run=subject.name,
        findings=tuple(sorted(found, key=lambda each: each.severity)),
        not_looked_at=tuple(each for each in told if isinstance(each, NotLookedAt)),
    )
