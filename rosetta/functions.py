"""The functions of the package, each over the same door that the program itself uses (``harness.api``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from corpora.files.json_types import JsonObject
from corpora.model.corpus import Corpus, Dataset, Selection
from corpora.model.entry import Entry, EntryId, Segment
from corpora.model.task_records import complete
from harness import api
from harness.annotators.annotator import NoMemo
from harness.card.checking.verdict import CardVerdict
from harness.core.failures import UsageError
from harness.endpoint.budget import Spending
from harness.inputs.outputs import given_outputs
from harness.privacy import NO_CORPUS
from harness.run.asking import Asking
from harness.run.vault_opening import terms_again
from harness.setup.plan import RunOptions
from harness.setup.preparing import prepare
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import filled
from harness.shipped_methods.baselines import replay_of
from harness.store.run_list import list_runs
from harness.store.sqlite.database import default_path, home, opened
from harness.vault.request import VaultRequest
from review.office.results.certifying import presented
from review.verdict.certificate.verifying import Verification
from review.verdict.certificate.verifying import verify as verify_certificate
from rosetta.options import Choosing, File, Options, Scoring
from rosetta.stored_run import RunComparison, RunHandle, RunUnderWay, compared
from rosetta_tui.html.page import notebook_table
from rosetta_tui.show.figures import scale
from rosetta_tui.show.run_columns import runs_where
from rosetta_tui.show.run_facts import listed_runs
from scoring.core.inventory import known_row, metric_named, metric_task, title, unknown_metric
from scoring.core.setup import Translation
from scoring.core.specification import COMPOSITE, MetricInfo

# ---- One metric, asked about texts that are available ----

References = Sequence[str] | Sequence[Sequence[str]]
"""One reference for each output, or several: the first is the reference, the others are its variants."""


class RecordFields(TypedDict, total=False):
    """What a record has beside source and reference where the task is no translation (docs/corpora.md)."""

    evidence: Sequence[JsonObject]
    """qa: texts that were found, ``{"text": …, "token_count": 12}`` each."""
    baseline: str
    """qa: another system's output for the same question."""
    turns: Sequence[Mapping[str, str]]
    """chat: ``{"user": …, "reference": …}`` each."""
    category: str
    tools: Sequence[JsonObject]
    """function_call: ``{"name": …, "parameters": …}`` with a JSON schema each."""
    reference_calls: Sequence[Mapping[str, Mapping[str, Sequence[Any]]]]
    """function_call: ``{NAME: {PARAMETER: [permitted values]}}`` each."""
    database: str
    """text2sql: path of the SQLite file, seen from ``folder`` and inside of it."""
    database_schema: str
    instructions: Sequence[JsonObject]
    """ifeval: ``{"id": "detectable_format:title", "kwargs": {…}}`` each."""
    choices: Sequence[str]
    """multiple_choice: their letters are A, B, C …"""
    reference_state: Mapping[str, JsonObject]
    """dialogue_state: ``{DOMAIN: {SLOT: value}}``."""
    language: str
    """Language of this output, where it is not the metric's ``target``."""
    judge_semantic: Any
    """What a judge gave elsewhere, a number or an object with ``score`` and ``explanation``; so the fields below."""
    judge_binary: Any
    judge_detailed: Any
    judge_redteaming: Any
    judge_big_bench_audio: Any
    judge_mt_bench: Any
    """A list, one rating a turn."""


class TextMetric:
    """A metric of the inventory (docs/metrics.md), set up as a run would set it up."""

    def __init__(
        self, info: MetricInfo, options: ScoringOptions, languages: tuple[str, str], folder: Path | None = None
    ) -> None:
        self.info = info
        """Its id, title, range and direction."""
        self.task = metric_task(info.id)
        """The task whose records it reads, such as ``qa``; ``translation`` for metrics of texts."""
        self._options = options
        self._languages = languages
        self._folder = folder

    def _repr_html_(self) -> str:
        """Show the metric in a notebook."""
        better = {"higher": "higher is better", "lower": "lower is better"}.get(
            self.info.better, "neither end is better"
        )
        return notebook_table(title(self.info.id), [known_row(self.info.id).what, f"{scale(self.info.id)}; {better}."])

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
        rows = enumerate(_together(len(outputs), sources, references, records), 1)
        entries = [self._entry(number, *row) for number, row in rows]
        source, target = self._languages
        dataset = Dataset(
            id="texts",
            language_pair=f"{source}→{target}",
            source_language=source,
            target_language=target,
            task=self.task,
        )
        options, folder = self._options, self._folder
        tools = prepare(dataset, entries, entries, options, NoMemo(), folder=folder)
        try:
            if why := tools.setup.off.get(self.info.id):
                raise UsageError(f"No {self.info.id}: {why}")
            pairs = zip(entries, outputs, strict=True)
            translations = [Translation(*pair) for pair in pairs]
            for annotator in tools.annotators:
                translations = filled(annotator, translations, Asking(RunOptions(), Spending(None), NO_CORPUS))
            whole = tools.corpus_values(translations)
            if self.info.id in whole:
                return whole[self.info.id]
            table = tools.scorer.table(tools.scorer.statistics(translations))
            return table.corpus_values()[self.info.id]
        finally:
            tools.close()

    def sentence(
        self,
        output: str,
        reference: str | Sequence[str] | None = None,
        source: str | None = None,
        *,
        record: RecordFields | None = None,
    ) -> float | None:
        """Return the value of one output, as ``corpus`` does."""
        references = [[reference] if isinstance(reference, str) else reference or ()]
        return self.corpus(
            [output],
            None if reference is None else references,
            None if source is None else [source],
            records=None if record is None else [record],
        )

    def _entry(
        self, number: int, source: str | None, reference: str | Sequence[str] | None, record: RecordFields | None
    ) -> Entry:
        try:  # as a corpus file would have them
            fields = {} if record is None else dict(json.loads(json.dumps(record, allow_nan=False)))
        except (TypeError, ValueError, RecursionError):
            raise UsageError(f"Record {number} is no JSON object. Give texts, numbers, lists and dicts.") from None
        if source is not None:
            fields["source"] = source
        if reference is not None:
            first, *others = [reference] if isinstance(reference, str) else reference
            fields |= {"reference": first, "variants": others}
        if record is not None:
            fields, wrong = complete(self.task, fields)
            if wrong:
                field, message, mend = wrong[0]
                raise UsageError(f"Record {number}, field {field!r}: {message} {mend}")
        return Entry.model_validate({"source": "", "reference": "", **fields, "id": number})


def _together(
    count: int, sources: Sequence[str] | None, references: References | None, records: Sequence[RecordFields] | None
) -> Iterator[tuple[str | None, str | Sequence[str] | None, RecordFields | None]]:
    """Yield what belongs to each output; UsageError unless there is exactly one for each."""
    columns = {"sources": sources, "references": references, "records": records}
    lengths = {name: len(given) for name, given in columns.items() if given is not None}
    wrong = [f"{length} {name}" for name, length in lengths.items() if length != count]
    if wrong or (references is None and records is None):
        counts = ", ".join([f"{count} outputs", *(wrong or ["neither references nor records"])])
        raise UsageError(f"{counts}: give as many of each.")
    nothing = [None] * count
    yield from zip(sources or nothing, references or nothing, records or nothing, strict=True)


Outputs = Sequence[str | None] | Mapping["EntryId", str | None] | File
"""One text for each entry of the whole corpus in its order, texts by entry id, or a file."""


def load(
    file: File,
    *references: File,
    source: str | None = None,
    target: str | None = None,
    form: str | None = None,
    id: str | None = None,  # noqa: A002  the name of the option
    source_column: str | None = None,
    reference_column: str | None = None,
    task: str | None = None,
    vault: File | None = None,
    purpose: str = "",
    segment: Sequence[str] = (),
    despite_network: str = "",
    vault_with: Sequence[File] = (),
) -> Corpus:
    """Read a corpus: a file in any form of docs/corpora.md, or a file of sources and files of references.

    With ``vault``, a folder, ``file`` is the name of a corpus in that vault: its texts are opened in memory, only those of
    ``segment`` where it is given, and the vault's log has that first, with ``purpose`` (docs/vault.md).
    ``despite_network``: why it is opened although this computer has a way to other machines; without it, it is not.
    ``vault_with``: files of the keys of keepers who are here, such as the recovery key. A grant is
    for one run with all its options, so runs by grants are those of ``rosetta run``.

    ``source`` and ``target`` are language tags (``en``, ``crk``), and ``task`` is one of docs/corpora.md, where the
    file does not say them itself. Raises
    CorpusError with every problem of the file, each with its line and fix.

    >>> from corpora.samples import DEMO_CORPUS, sample_path
    >>> demo = load(sample_path(DEMO_CORPUS))
    >>> demo.dataset.source_language, demo.dataset.target_language
    ('en', 'eo')
    """
    sealed = None
    if vault is not None:
        chosen = tuple(map(_segment, segment))
        sealed = VaultRequest(
            Path(vault), purpose, chosen, work="script", despite_network=despite_network,
            others=tuple(map(Path, vault_with)),
        )  # fmt: skip
    elif purpose or segment or despite_network or vault_with:
        raise UsageError("purpose, segment, despite_network and vault_with go with vault, the folder of one.")
    languages, columns = (source, target), (source_column, reference_column)
    again = None if sealed is None else terms_again(sealed.work)
    request = api.CorpusRequest(file, references, form, id, *languages, *columns, task, sealed, again)
    return api.open_corpus(request)


def start(corpus: Corpus, method: str, **options: Unpack[Options]) -> RunUnderWay:
    """Start a run and return at once; iterate over what comes back for its events.

    ``method`` and ``options`` are those of ``rosetta run``. The run has its own thread and is stored entry by
    entry, as one that was begun on the command line. Raises HarnessError with what is wrong; nothing is stored
    then. A run with secret entries, or ``offline=True``, shuts the connections of this process to other
    machines, until it ends.

    >>> under_way = start(demo, method="copy-source", limit=3, tags=["pilot"])
    >>> [type(event).__name__ for event in under_way][-1]
    'Finished'
    >>> under_way.result().state
    'complete'
    """
    return RunUnderWay(api.start(default_path(), _asked(corpus, method, options)))


def run(corpus: Corpus, method: str, **options: Unpack[Options]) -> RunHandle:
    """Translate a corpus with a method, score every entry, and wait for the end.

    As ``start``, which says more. A run that stopped on its own, such as where the budget was reached, comes back
    too: its ``state`` is ``stopped``, its ``reason`` says why, and ``rosetta resume`` continues with it.

    >>> done = run(demo, method="constant", text="Ĉu?", limit=3)
    >>> len(done.entries()), done.card.scores.exact_match_rate
    (3, 0.0)
    """
    return start(corpus, method, **options).result()


def score(corpus: Corpus, outputs: Outputs | None = None, **options: Unpack[Scoring]) -> RunHandle:
    """Score outputs that were made elsewhere; the result is kept as a run.

    Without outputs, those that the records of the corpus bring with them are scored (docs/corpora.md).
    Outputs that are texts are in the store alone: such a run cannot be begun again from its plan. One text alone is the
    path of a file.

    >>> done = score(demo, outputs=[entry.reference for entry in demo.entries])
    >>> done.card.scores.chrf_plus_plus
    100.0
    """
    if outputs is None or isinstance(outputs, str | Path):
        file = {} if outputs is None else {"outputs": Path(outputs)}
        return RunUnderWay(api.start(default_path(), _asked(corpus, "replay", options, **file))).result()
    asked = _asked(corpus, "replay", options)
    method = replay_of(asked.plan.options, given_outputs(outputs, corpus.entries))
    return RunUnderWay(api.start(default_path(), asked, asked.clear(make=lambda _: method))).result()


def compare(first: RunHandle, second: RunHandle) -> RunComparison:
    """Compare two complete runs on the entries that both have, metric by metric (docs/comparing.md).

    Every difference is ``second - first``. Raises HarnessError with the reasons where the two do not compare.

    >>> right = score(demo, [entry.reference for entry in demo.entries], limit=20)
    >>> copied = run(demo, method="copy-source", limit=20)
    >>> found = compare(right, copied)["chrf++"]
    >>> found.better, found.difference < 0
    ('first', True)
    """
    return compared(first.store, first.run_id, second.run_id)


def metric(
    name: str, *, source: str = "und", target: str = "und", folder: File | None = None, **options: Unpack[Scoring]
) -> TextMetric:
    """Return one metric by any of its names, to be asked about texts that are available.

    It is set up as in a run: ``source`` and ``target`` are language tags, by which cards and analysers are found,
    ``folder`` is where files that records name lie (the databases of text2sql), and ``options`` name what else it
    needs. Raises HarnessError for an unknown metric.

    >>> metric("chrf++").corpus(["la kato dormas"], ["la kato dormas"])
    100.0
    >>> found = {"evidence": [{"text": "La kato dormas.", "token_count": 4}], "baseline": "hundo"}
    >>> metric("lbrag.cnbe").sentence("la kato", "la kato", record=found)
    0.25
    """
    id_ = metric_named(name)
    if id_ is None:
        raise UsageError(f"Metric: {unknown_metric(name)}.")
    if id_ == COMPOSITE:
        raise UsageError("The composite is made of other metrics: score a corpus to get it.")
    scoring_options = api.scoring_of({**options, "metrics": (id_,)})
    place = None if folder is None else Path(folder)
    return TextMetric(known_row(id_).info, scoring_options, (source, target), place)


def verify(card: File) -> CardVerdict:
    """Check the seal of a card, and compute every number again from its outputs (docs/run-card.md).

    ``card`` is a file, or a run by its id. ``ok`` says whether all that could be checked holds, ``checks`` what was
    examined, ``differences`` which values are wrong.

    >>> verify(run(demo, method="copy-source", limit=3).run_id).ok
    True
    """
    return api.verify(default_path(), card)


def verdict(certificate: File) -> Verification:
    """Compute the verdict of a review again from its certificate or evidence file (docs/certificate.md).

    ``certificate.outcome`` is the verdict, ``ok`` says whether all of it holds. Where several evidences are available,
    the one that holds least counts. Whether you trust its signer is yours to find out.
    """
    evidence_files = presented(Path(certificate), None, home())
    done = [
        verify_certificate(one.certificate, one.signature, one.evidence, one.program) for one in evidence_files.values()
    ]
    return max(done, key=lambda verification: (verification.broken, not verification.ok))


def runs(where: str = "") -> list[RunHandle]:
    """Return the runs of the store, newest first; with ``where`` those that fit a filter (docs/filters.md).

    Of runs with secret entries no score is asked for. Raises HarnessError where the filter cannot be read.

    >>> _ = run(demo, method="copy-source", limit=3, tags=["pilot"])
    >>> [handle.state for handle in runs("tag:pilot chrf<50")]
    ['complete']
    """
    with opened(default_path()) as connection:
        listed = runs_where(connection, listed_runs(connection) if where else list_runs(connection, brief=True), where)
    return [RunHandle(run.run_id, default_path()) for run in listed]


def _segment(name: str) -> Segment:
    try:
        return Segment(name)
    except ValueError as error:
        raise UsageError(f"segment: {error}. There are {', '.join(Segment)}.") from None


def _asked(corpus: Corpus, method: str, given: Scoring, **file: Path) -> api.RunRequest:
    selection = Selection(
        segments=tuple(map(_segment, given.get("segment", ()))),
        difficulties=tuple(given.get("difficulty", ())),
        entry_ids=tuple(given.get("entries", ())),
        limit=given.get("limit"),
        sample=given.get("sample"),
        seed=given.get("seed", 0),
    )
    apart = {*Choosing.__annotations__, "note", "tags"}
    options = {name: value for name, value in given.items() if name not in apart}
    note, tags = given.get("note", ""), given.get("tags", ())
    return api.ask(corpus, method, options | file, selection, note=note, tags=tags)
