"""One metric, asked about texts that are available."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.tasks.records import complete
from harness.annotators.annotator import NoMemo
from harness.core.failures import UsageError
from harness.endpoint.budget import Ledger
from harness.run.asking import Asking
from harness.setup.plan import RunOptions
from harness.setup.preparing import prepare
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import ScoringTools, filled
from scoring.core.inventory import metric_task
from scoring.core.specification import MetricInfo
from scoring.core.translation import Translation

if TYPE_CHECKING:
    from rosetta.options import RecordFields

References = Sequence[str] | Sequence[Sequence[str]]
"""One reference for each output, or several: the first is the reference, the others are its variants."""


class TextMetric:
    """A metric of the inventory (docs/metrics.md), set up as a run would set it up."""

    def __init__(
        self,
        info: MetricInfo,
        options: ScoringOptions,
        languages: tuple[str, str],
        folder: Path | None = None,
    ) -> None:
        self.info = info
        """Its id, title, range and direction."""
        self.task = metric_task(info.id)
        """The task whose records it reads, such as ``qa``; ``translation`` for metrics of texts."""
        self._options = options
        self._languages = languages
        self._folder = folder

    def corpus(
        self,
        outputs: Sequence[str],
        references: References | None = None,
        sources: Sequence[str] | None = None,
        *,
        records: Sequence[RecordFields] | None = None,
    ) -> float | None:
        """Return the value over all outputs, on the metric's own scale; None where there is nothing to look at.

        ``outputs``, ``references``, ``sources`` and ``records`` belong together by place. ``records`` have what a
        record of the metric's ``task`` has beside its texts, and are checked as those of a corpus file. Structured
        outputs (calls, states, the answers of a chat) are their JSON text. Raises HarnessError where they are not of
        one length or a record is wrong, and with the reason where the metric cannot be had.
        """
        entries = [
            self._entry(number, source, reference, record)
            for number, (source, reference, record) in enumerate(
                _together(len(outputs), sources, references, records), 1
            )
        ]
        return self._value(entries, outputs)

    def sentence(
        self,
        output: str,
        reference: str | Sequence[str] | None = None,
        source: str | None = None,
        *,
        record: RecordFields | None = None,
    ) -> float | None:
        """Return the value of one output, as ``corpus`` does."""
        return self.corpus(
            [output],
            None
            if reference is None
            else [[reference] if isinstance(reference, str) else reference],
            None if source is None else [source],
            records=None if record is None else [record],
        )

    def _entry(
        self,
        number: int,
        source: str | None,
        reference: str | Sequence[str] | None,
        record: RecordFields | None,
    ) -> Entry:
        fields = {} if record is None else _json_values(number, record)
        if source is not None:
            fields["source"] = source
        if reference is not None:
            first, *others = [reference] if isinstance(reference, str) else reference
            fields |= {"reference": first, "variants": others}
        if record is not None:
            fields, wrong = complete(self.task, fields)
            if wrong:
                first_wrong = wrong[0]
                raise UsageError(
                    f"Record {number}, field {first_wrong.field!r}: {first_wrong.message} {first_wrong.mend}"
                )
        return Entry.model_validate({"source": "", "reference": "", **fields, "id": number})

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
            task=self.task,
        )
        options, folder = self._options, self._folder
        return prepare(dataset, entries, entries, options, NoMemo(), folder=folder)


def _together(
    count: int,
    sources: Sequence[str] | None,
    references: References | None,
    records: Sequence[RecordFields] | None,
) -> Iterator[tuple[str | None, str | Sequence[str] | None, RecordFields | None]]:
    """Yield what belongs to each output; UsageError unless there is exactly one for each."""
    columns = {"sources": sources, "references": references, "records": records}
    wrong = [
        f"{len(given)} {name}"
        for name, given in columns.items()
        if given is not None and len(given) != count
    ]
    if wrong or not any(given is not None for given in (references, records)):
        counts = ", ".join([f"{count} outputs", *(wrong or ["neither references nor records"])])
        raise UsageError(f"{counts}: give as many of each.")
    nothing = [None] * count
    yield from zip(sources or nothing, references or nothing, records or nothing, strict=True)


def _json_values(number: int, record: RecordFields) -> dict[str, Any]:
    """Return the fields of a record as a corpus file would have them; UsageError where they are no JSON."""
    try:
        return dict(json.loads(json.dumps(record, allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        raise UsageError(
            f"Record {number} is no JSON object. Give texts, numbers, lists and dicts."
        ) from None


def _measured(
    tools: ScoringTools, metric: str, translations: Sequence[Translation]
) -> float | None:
    for annotator in tools.annotators:
        translations = filled(annotator, translations, Asking(RunOptions(), Ledger(None)))
    whole = tools.corpus_values(translations)
    if metric in whole:
        return whole[metric]
    return tools.scorer.table(tools.scorer.statistics(translations)).corpus_values()[metric]
