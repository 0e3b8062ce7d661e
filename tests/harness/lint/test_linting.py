"""What linting sees in outputs, what it does not, and that no text is in what it says."""

from collections.abc import Sequence
from typing import Any

import pytest

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry, Segment
from harness.card.checking.lint_subject import LintedEntry, LintFinding, LintReport, LintSubject, NotLookedAt
from harness.card.checking.linting import lint
from rosetta_tui.report.paragraphs import lint_lines
from scoring.findings.finding import FindingCode
from tests.harness.lint.made import CANARY, sentence

DATASET = Dataset(id="d", language_pair="EN→EO", source_language="en", target_language="eo")


def entry(n: int, segment: Segment = Segment.DIAGNOSTIC, **more: Any) -> Entry:
    return Entry(id=n, source=f"source {n}", reference=sentence(n), segment=segment, **more)


def subject(entries: Sequence[Entry], outputs: Sequence[str], dataset: Dataset | None = DATASET, **card: Any) -> LintSubject:  # fmt: skip
    rows = tuple(LintedEntry(*each) for each in zip(entries, outputs, strict=True))
    development = tuple(each for each in entries if each.segment is Segment.DEVELOPMENT)
    return LintSubject("run", rows, development, dataset, card)


def only(report: LintReport, check: str) -> LintFinding | None:
    found = [each for each in report.findings if each.check == check]
    assert len(found) <= 1
    return found[0] if found else None


def skipped(report: LintReport) -> dict[str, str]:
    return {each.check: each.why for each in report.not_looked_at}


def classed(right: int, of: int, beside_right: int, beside: int) -> LintReport:
    entries = [entry(n, variant_class="order") for n in range(of)]
    entries += [entry(n) for n in range(of, of + beside)]
    hit = [n < right or of <= n < of + beside_right for n in range(of + beside)]
    outputs = [each.reference if ok else "io alia" for each, ok in zip(entries, hit, strict=True)]
    return lint(subject(entries, outputs))


class TestVariants:
    def test_all_hit_where_the_others_are_not(self) -> None:
        found = only(classed(10, 10, 5, 30), "variants")
        assert found is not None
        assert (found.severity, found.count, found.of) == ("look", 10, 10)
        assert found.entries == tuple(range(10))
        assert found.chance == pytest.approx(3.543e-6, rel=1e-3)  # C(15,10)/C(40,10), by hand
        assert "10 of 10" in found.seen
        assert "of the 30 without a class 5" in found.seen

        assert only(classed(10, 10, 29, 30), "variants") is None, "all are hit alike"
        assert only(classed(17, 20, 0, 30), "variants") is None, "below nine in ten"
        assert only(classed(18, 20, 0, 30), "variants") is not None
        found = only(classed(10, 10, 0, 4), "variants")
        assert found is not None
        assert (found.severity, found.chance) == ("note", None)
        assert "4 of the translated entries have a variant_class" in skipped(classed(4, 4, 0, 30))["variants"]

        # an accepted variant is not the reference
        entries = [entry(n, variant_class="order", variants=(f"alia {n}",)) for n in range(10)]
        assert only(lint(subject(entries, [f"alia {n}" for n in range(10)])), "variants") is None


def parted(right: int, others_right: int) -> LintReport:
    entries = [entry(n, Segment.DEVELOPMENT) for n in range(20)] + [entry(n) for n in range(20, 60)]
    hit = [n < right or 20 <= n < 20 + others_right for n in range(60)]
    return lint(subject(entries, [each.reference if ok else "" for each, ok in zip(entries, hit, strict=True)]))


class TestGeneralization:
    def test_development_entries_far_above_the_others(self) -> None:
        found = only(parted(18, 4), "generalization")
        assert found is not None
        assert (found.count, found.of, found.entries) == (18, 20, tuple(range(18)))
        assert found.chance is not None
        assert found.chance < 1e-6
        assert only(parted(18, 36), "generalization") is None
        assert only(parted(2, 36), "generalization") is None
        report = lint(subject([entry(n) for n in range(9)], ["x"] * 9))
        assert "0 development entries and 9 others" in skipped(report)["generalization"]


class TestCopies:
    def entries(self) -> list[Entry]:
        return [entry(n, Segment.DEVELOPMENT) for n in range(10)] + [entry(n) for n in range(10, 20)]

    def test_the_reference_of_another_development_entry(self) -> None:
        entries = self.entries()
        outputs = [sentence(1000 + n) for n in range(20)]
        outputs[12] = entries[3].reference.upper() + "!"
        outputs[15] = entries[4].reference[:-1]
        found = only(lint(subject(entries, outputs)), "copies")
        assert found is not None
        assert (found.count, found.entries) == (2, (12, 15))
        assert "12 of 3, 15 of 4" in found.seen
        entries = self.entries()
        twin = entries[11].model_copy(update={"reference": entries[2].reference + " jes"})
        entries[11] = twin
        outputs = [each.reference for each in entries]
        assert only(lint(subject(entries, outputs)), "copies") is None
        outputs[11] = entries[2].reference  # nearer to the other; but its own is a near copy, too
        assert only(lint(subject(entries, outputs)), "copies") is None
        entries = self.entries()
        outputs = ["io alia kaj longa"] * 20
        outputs[12] = entries[13].reference
        assert only(lint(subject(entries, outputs)), "copies") is None
        entries = [entry(1, Segment.DEVELOPMENT).model_copy(update={"reference": "Dankon!"}), entry(2)]
        report = lint(subject(entries, ["x", "Dankon!"]))
        assert only(report, "copies") is None
        assert "not known" in skipped(report)["copies"]
        letters = "abcdefghij" * 4
        given = entry(1, Segment.DEVELOPMENT).model_copy(update={"reference": letters})
        asked = entry(2).model_copy(update={"reference": "z" * 6 + letters[6:]})
        for changed, count in ((3, 0), (2, 1)):  # 0.925 alike to both; 0.95 to the other
            outputs = ["", "z" * changed + letters[changed:]]
            found = only(lint(subject([given, asked], outputs)), "copies")
            assert (0 if found is None else found.count) == count

    @pytest.mark.parametrize(("changed", "count"), [(4, 1), (5, 0)])
    def test_nine_letters_in_ten_are_near(self, changed: int, count: int) -> None:
        letters = "abcdefghij" * 4
        given = entry(1, Segment.DEVELOPMENT).model_copy(update={"reference": letters})
        outputs = ["", "z" * changed + letters[changed:]]
        found = only(lint(subject([given, entry(2)], outputs)), "copies")
        assert (0 if found is None else found.count) == count


class TestPrompt:
    entries = [entry(n, Segment.DEVELOPMENT) for n in range(3)] + [entry(n) for n in range(3, 6)]

    def report(self, prompt: str, **card: Any) -> LintReport:
        return lint(subject(self.entries, ["x"] * 6, system_prompt_used=prompt, **card))

    def test_examples_of_the_development_set_have_to_be_declared(self) -> None:
        prompt = f"Examples: {self.entries[1].reference.title()}. {self.entries[0].reference}"
        found = only(self.report(prompt), "prompt")
        assert found is not None
        assert (found.severity, found.entries, found.of) == ("look", (0, 1), 3)
        report = self.report(self.entries[1].reference, development_data=False)
        assert only(report, "prompt") is not None
        assert only(report, "declaration") is None
        found = only(self.report(self.entries[4].reference), "prompt")
        assert found is not None
        assert (found.entries, found.of) == ((4,), 3)
        assert only(self.report("Translate into Esperanto."), "prompt") is None

    @pytest.mark.parametrize(
        "card",
        [{"development_data": "entries 1 and 2"}, {"method_card": {"development_data": True}}, {"method": {"development_data": [1]}}],
    )  # fmt: skip
    def test_declared_it_is_a_note(self, card: dict[str, Any]) -> None:
        report = self.report(self.entries[1].reference, **card)
        assert only(report, "prompt") is None
        found = only(report, "declaration")
        assert found is not None
        assert found.severity == "note"


class TestCanaries:
    dataset = DATASET.model_copy(update={"canary": (CANARY,)})

    def test_one_in_an_output(self) -> None:
        entries = [entry(n) for n in range(4)]
        report = lint(subject(entries, ["x", f"ho, {CANARY} ho", "", "y"], self.dataset))
        found = only(report, "canary")
        assert found is not None
        assert (found.severity, found.entries, found.of) == ("look", (1,), 4)
        own = entry(1).model_copy(update={"source": f"say {CANARY}"})
        assert only(lint(subject([own], [CANARY], self.dataset)), "canary") is None

    @pytest.mark.parametrize(
        ("dataset", "why"),
        [(None, "not known here"), (DATASET, "names no canary"), (DATASET.model_copy(update={"canary": ("", "short")}), "too short")],
    )  # fmt: skip
    def test_why_none_was_looked_for(self, dataset: Dataset | None, why: str) -> None:
        assert why in skipped(lint(subject([entry(1)], ["short"], dataset)))["canary"]


def test_no_text_is_quoted_and_nobody_is_accused() -> None:
    entries = [entry(n, Segment.DEVELOPMENT, variant_class="a") for n in range(12)] + [entry(n) for n in range(12, 40)]
    outputs = [each.reference for each in entries[:12]] + [f"{entries[n % 12].reference} {CANARY}" for n in range(28)]
    outputs[20] = entries[2].reference
    report = lint(subject(entries, outputs, TestCanaries.dataset, system_prompt_used=entries[0].reference + entries[30].reference))  # fmt: skip
    rules = {"canary", "prompt", "copies", "variants", "generalization"}
    assert {each.check for each in report.findings} > rules
    in_outputs = {each.check for each in report.findings} - rules
    assert in_outputs <= set(FindingCode)
    assert {each.check for each in report.findings[: len(in_outputs)]} == in_outputs, "they stand first"
    assert CANARY not in report.model_dump_json() + "\n".join(lint_lines([report]))
    quoted = {"findings": {"__all__": {"examples"}}}
    lines = [each for each in lint_lines([report]) if "such as" not in each]
    told = report.model_dump_json(exclude=quoted) + "\n".join(lines)
    assert not any(each.reference in told or each.source in told for each in entries)
    assert "cheat" not in told.lower()
    assert all(each.rests_on and each.proves_not for each in report.findings if each.check in rules)
    report = lint(subject([], []))
    assert report.not_looked_at == (NotLookedAt(check="all", why="no outputs are known: the card has no rows"),)
