"""One metric, asked about texts that are at hand."""

from __future__ import annotations

from collections.abc import Sequence

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from harness.annotators.annotator import NoMemo
from harness.core.failures import UsageError
from harness.endpoint.budget import Ledger
from harness.run.asking import Asking
from harness.setup.plan import RunOptions
from harness.setup.preparing import prepare
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import ScoringTools, filled
from scoring.core.specification import MetricInfo
from scoring.core.translation import Translation

References = Sequence[str] | Sequence[Sequence[str]]
"""One reference for each output, or several: the first is the reference, the others are its variants."""


class TextMetric:
    """A metric of the inventory (docs/metrics.md), set up as a run would set it up."""

    def __init__(
        self, info: MetricInfo, options: ScoringOptions, languages: tuple[str, str]
    ) -> None:
        self.info = info
        """Its id, title, range and direction."""
        self._options = options
        self._languages = languages

    def corpus(
        self,
        outputs: Sequence[str],
        references: References,
        sources: Sequence[str] | None = None,
    ) -> float | None:
        """Return the value over all outputs, on the metric's own scale; None where there is nothing to look at.

        ``outputs``, ``references`` and ``sources`` belong together by place. Raises HarnessError where they are not
        of one length, and with the reason where the metric cannot be had.
        """
        given = [""] * len(outputs) if sources is None else sources
        if not len(outputs) == len(references) == len(given):
            raise UsageError(
                f"{len(outputs)} outputs, {len(references)} references, {len(given)} sources: give as many of each."
            )
        entries = [
            _entry(number, source, reference)
            for number, (source, reference) in enumerate(zip(given, references, strict=True), 1)
        ]
        return self._value(entries, outputs)

    def sentence(
        self, output: str, reference: str | Sequence[str], source: str = ""
    ) -> float | None:
        """Return the value of one output, as ``corpus`` does."""
        several = [reference] if isinstance(reference, str) else list(reference)
        return self.corpus([output], [several], [source])

    def _value(self, entries: Sequence[Entry], outputs: Sequence[str]) -> float | None:
        tools = self._tools(entries)
        try:
            if why := tools.setup.off.get(self.info.id):
                raise UsageError(f"No {self.info.id}: {why}")
            translations = [
                Translation(entry, text) for entry, text in zip(entries, outputs, strict=True)
            ]
            return _measured(tools, self.info.id, translations)
        finally:
            tools.close()

    def _tools(self, entries: Sequence[Entry]) -> ScoringTools:
        source, target = self._languages
        dataset = Dataset(
            id="texts",
            language_pair=f"{source}→{target}",
            source_language=source,
            target_language=target,
        )
        return prepare(dataset, entries, entries, self._options, NoMemo())


def _entry(number: int, source: str, reference: str | Sequence[str]) -> Entry:
    first, *others = [reference] if isinstance(reference, str) else reference
    return Entry(id=number, source=source, reference=first, variants=tuple(others))


def _measured(
    tools: ScoringTools, metric: str, translations: Sequence[Translation]
) -> float | None:
    for annotator in tools.annotators:
        translations = filled(annotator, translations, Asking(RunOptions(), Ledger(None)))
    whole = tools.corpus_values(translations)
    if metric in whole:
        return whole[metric]
    return tools.scorer.table(tools.scorer.statistics(translations)).corpus_values()[metric]
