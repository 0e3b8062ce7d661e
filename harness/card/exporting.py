"""Runs written to files for other programs: the card, its rows as a table, sacreBLEU's JSON, folders of MT Metrics Eval."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any, Final

from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import PackedList
from corpora.model.entry import EntryId
from corpora.text.visible import guarded
from harness.card.model import EntryResult, EntryUsage, RunCard
from harness.card.reading import block, inside_words, must_be_released, number
from harness.card.rows import entry_scores, load_head, rows_of
from harness.core.failures import UsageError
from harness.sealed.archive import RESERVED
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import open_entries, read_dataset
from harness.store.results import shown_results
from harness.store.runs import read_imported, read_run
from scoring.core.inventory import row_of
from scoring.core.specification import COMPOSITE
from scoring.words.tokenizers import load_tokenizer


class ExportForm(StrEnum):
    """What is written of a run into one file."""

    CARD = "card"
    """The whole card as JSON; ``verify`` and ``import`` read it."""
    JSONL = "jsonl"
    """One JSON object a line for each entry."""
    CSV = "csv"
    """One line for each entry; lists as JSON, nothing for null, and an apostrophe before what a spreadsheet would run."""
    PARQUET = "parquet"
    """One row for each entry, in typed columns; needs pyarrow."""
    SACREBLEU = "sacrebleu"
    """What ``sacrebleu -m bleu chrf ter --chrf-word-order 2`` prints for these texts."""


MTME: Final = "mtme"
"""The form that is a folder, of one run or several."""

_OF_ENDINGS = {
    ".sacrebleu.json": ExportForm.SACREBLEU,
    ".csv": ExportForm.CSV,
    ".jsonl": ExportForm.JSONL,
    ".ndjson": ExportForm.JSONL,
    ".parquet": ExportForm.PARQUET,
    ".mtme": MTME,
    **dict.fromkeys((".tsv", ".xlsx", ".xls", ".ods", ".html", ".md"), None),
}
"""How the name of a file ends, in lower case → its form, None where no form goes with it; any other is a card's."""


def form_of(name: str) -> str:
    """Return the form that a file's ending asks for; raises UsageError where nothing is written in such files."""
    ending = next((ending for ending in _OF_ENDINGS if name.lower().endswith(ending)), "")
    form = _OF_ENDINGS.get(ending, ExportForm.CARD)
    if form is None:
        raise UsageError(
            f"A run is not written as {ending}. Choose a name that ends in .json (the card), .csv, .jsonl or .parquet "
            "(its rows), .sacrebleu.json or .mtme (a folder), or add --form."
        )
    return form


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A sealed run whose texts and numbers may leave this machine."""

    card: RunCard
    rows: Sequence[JsonObject]
    """The card's rows, each with the entry's own value of every metric, as ``RunHandle.entries`` has them."""


def export_run(connection: sqlite3.Connection, run: int, form: ExportForm) -> bytes:
    """Return a sealed run in one of the forms. Raises as ``exported_pieces``."""
    return b"".join(exported_pieces(connection, run, form))


def exported_pieces(connection: sqlite3.Connection, run: int, form: ExportForm) -> Iterable[bytes]:
    """Return the bytes of a sealed run in one of the forms, of large ones piece by piece; the store stays open meanwhile.

    An imported card comes out byte for byte as it came in. Raises HarnessError where the run is not sealed yet,
    UsageError where it has secret entries: what leaves of those is a released card (``harness.release``).
    """
    if form is ExportForm.CARD:
        card = load_head(connection, run)
        imported = read_imported(connection, run)
        if must_be_released(connection, read_run(connection, run)):
            raise UsageError(f"{inside_words(card.run_id)} For a copy of your own, copy the data folder.")
        return _card_pieces(connection, run, card) if imported is None else [imported]
    exported = read_exported(connection, run)
    match form:
        case ExportForm.JSONL:
            return (f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n".encode() for row in exported.rows)
        case ExportForm.CSV:
            return [_csv(exported.rows).encode()]
        case ExportForm.PARQUET:
            return [_parquet(exported.rows)]
        case ExportForm.SACREBLEU:
            return [sacrebleu_json(exported).encode()]


def card_bytes(card: RunCard) -> bytes:
    """Write a card for people and programs: indented, in the order of the specification."""
    text = json.dumps(card.as_json(), ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n".encode()


def _card_pieces(connection: sqlite3.Connection, run: int, head: RunCard) -> Iterator[bytes]:
    """Yield what ``card_bytes`` writes, with the rows of the card from the store one by one."""
    rows = rows_of(connection, read_run(connection, run), head.as_json())
    empty = b'\n  "results": []'
    before, _, after = card_bytes(head).partition(empty if len(rows) else b"\0")
    yield before
    if len(rows):
        yield empty[:-1]
        for place, row in enumerate(rows.as_json()):
            line = json.dumps(row, ensure_ascii=False, indent=2, allow_nan=False)
            yield f"{',' if place else ''}\n{line}".replace("\n", "\n    ").encode()
        yield b"\n  ]" + after


def read_exported(connection: sqlite3.Connection, run: int) -> ExportedRun:
    """Read a run with its rows. Raises HarnessError and UsageError as ``export_run`` does."""
    card = load_head(connection, run)
    imported = read_imported(connection, run) is not None
    if must_be_released(connection, read_run(connection, run)):
        raise UsageError(
            "This run has secret entries; so no row of it leaves this machine. Export its released card: it has the scores. "
            "For a copy of your own, copy the data folder."
        )
    stored = read_run(connection, run)
    entries = open_entries(connection, stored.corpus, stored.positions)
    target = read_dataset(connection, stored.corpus).target_language or "und"
    scorer = stored_scorer(stored, target, entries.in_order)
    listed = card.results if imported else rows_of(connection, stored, card.as_json())
    fields = (row.model_dump(mode="json", by_alias=True) for row in listed)
    rows = PackedList(  # the row's own fields first, and its own values
        row if row["withheld"] or result.position not in entries else {**row, **entry_scores(result, scorer), **row}
        for row, result in zip(fields, shown_results(connection, stored.id), strict=True)
    )
    return ExportedRun(card, rows)


# ---- One table: a row for each entry, a column for each field and metric ----


def _flat(rows: Iterable[JsonObject]) -> tuple[list[str], Sequence[dict[str, Json]]]:
    """Return the names of all columns, and the rows with a column for each number of tokens."""
    flat, names = PackedList[dict[str, Json]](), dict.fromkeys(_COLUMNS)
    for row in rows:
        usage = {f"usage.{part}": count for part, count in block(row, "usage").items()}
        flat.append({name: value for name, value in [*row.items(), *usage.items()] if name != "usage"})
        names |= dict.fromkeys(flat[-1])
    return list(names), flat


_COLUMNS = {
    column: str(field.annotation)
    for name, whole in EntryResult.model_fields.items()
    for column, field in (
        {f"usage.{part}": field for part, field in EntryUsage.model_fields.items()}
        if name == "usage"
        else {whole.alias or name: whole}
    ).items()
}
"""Name of a column that every table has → the type of its values."""


def _csv(rows: Iterable[JsonObject]) -> str:
    columns, flat = _flat(rows)
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, columns, restval="", lineterminator="\r\n")
    table.writerow({name: guarded(name) for name in columns})
    table.writerows({name: _cell(value) for name, value in row.items()} for row in flat)
    return file.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_TYPES = {
    "<class 'bool'>": "bool",
    "bool | None": "bool",
    "<class 'int'>": "int64",
    "int | None": "int64",
    "float | None": "double",
    "str | None": "string",
}
"""Type of a field → Arrow's name of it; lists and maps have none."""


def _parquet(rows: Sequence[JsonObject]) -> bytes:
    """Write a table whose columns have the same types in every run: metrics are numbers also where none has a value.

    Maps are JSON, as in a CSV; so is a column of a foreign card whose values are of several types.
    """
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError(
            "Parquet needs the package pyarrow, which is not installed. Install it: pip install 'rosetta-tui[parquet]'. "
            "Or choose a name that ends in .csv or .jsonl."
        ) from None
    names, flat = _flat(rows)
    columns = {name: _column(arrow, name, [row.get(name) for row in flat]) for name in names}
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns), file)
    return file.getvalue()


def _column(arrow: Any, name: str, values: Sequence[Json]) -> Any:
    annotation = _COLUMNS.get(name, "str | None" if name.endswith("_verdict") else "float | None")
    declared = arrow.type_for_alias(_TYPES.get(annotation, "string"))
    if name == "entry_id" and all(isinstance(value, int) for value in values):
        declared = arrow.int64()
    elif annotation == "list[str] | None":
        declared = arrow.list_(arrow.string())
    try:
        return arrow.array(values, declared)
    except (arrow.ArrowException, OverflowError):
        texts = [v if isinstance(v, str) or v is None else json.dumps(v, ensure_ascii=False) for v in values]
        return arrow.array(texts, arrow.string())


# ---- sacreBLEU: what it prints for the texts of a run ----

_WIDTH = 1
"""Digits after the point, which is sacreBLEU's own default."""


def sacrebleu_json(run: ExportedRun) -> str:
    """Return what sacreBLEU prints of the run's texts, computed by sacreBLEU itself; a failed entry has an empty output.

    The tokenizer of BLEU, and whether variants are references too, are those of the run. Raises UsageError for a
    run without any of its metrics, and for one that came without texts.
    """
    if any(row["withheld"] for row in run.rows):
        raise UsageError("This card came without the texts of its secret entries, so sacreBLEU cannot score them.")
    signed = {id_: str(text) for id_, text in block(block(run.card.as_json(), "scores"), "signatures").items()}
    wanted = [id_ for id_ in ("bleu", "chrf_plus_plus", "ter") if id_ in signed]
    if not wanted:
        raise UsageError("This run has neither BLEU, chrF++ nor TER, which sacreBLEU computes.")
    references = _references(run.rows, several=any("nrefs:var" in signed[id_] for id_ in wanted))
    outputs = [str(row["predicted"] or "") for row in run.rows]
    metrics = import_module("sacrebleu.metrics")
    texts = []
    for id_ in wanted:
        match id_:
            case "bleu":
                metric = metrics.BLEU(tokenize=_tokenizer(signed[id_]))
            case "chrf_plus_plus":
                metric = metrics.CHRF(word_order=2)
            case _:
                metric = metrics.TER()
        score = metric.corpus_score(outputs, references)
        texts.append(score.format(_WIDTH, signature=metric.get_signature().format(), is_json=True))
    return f"{texts[0]}\n" if len(texts) == 1 else "[\n" + ",\n".join(texts) + "\n]\n"


def _tokenizer(signature: str) -> str:
    """Return the tokenizer that a signature of BLEU names; UsageError where it cannot be used here."""
    match = re.search(r"\|tok:([a-z0-9]+(?:-mecab)?)", signature)
    name = match[1] if match else "13a"
    try:
        load_tokenizer(name)  # of a model it downloads nothing, as sacreBLEU would
    except ValueError as error:
        raise UsageError(f"BLEU of this run cannot be computed here: {error}.") from None
    return name


def _references(rows: Sequence[JsonObject], *, several: bool) -> list[list[str | None]]:
    """Return the references as sacreBLEU takes them: one list for each place, None where an entry has fewer."""
    given = []
    for row in rows:
        variants = row.get("variants") if several else None
        others = [str(text) for text in variants if str(text).strip()] if isinstance(variants, list) else []
        given.append([str(row["reference"] or ""), *others])
    most = max(map(len, given), default=1)
    return [[texts[place] if place < len(texts) else None for texts in given] for place in range(most)]


# ---- MT Metrics Eval: one folder of texts and scores, a line for each segment ----

REFERENCE: Final = "refA"


class MtmeSet:
    """Runs over the same entries, as a test set of MT Metrics Eval lays them out: path → lines."""

    def __init__(self, runs: Sequence[ExportedRun], asked: Collection[EntryId] | None = None) -> None:
        """Line up the entries of ``asked`` that all runs have, in the order of the first; UsageError where runs do not go together."""
        self.runs = runs
        self.names = system_names({run.card.run_id: run.card for run in runs})
        """Run id → name of its system."""
        self.rows: dict[str, dict[Any, JsonObject]] = {
            run.card.run_id: {row["entry_id"]: row for row in run.rows if not row["withheld"]} for run in runs
        }
        first, *others = self.rows.values()
        common = [id_ for id_ in first if asked is None or id_ in asked]
        self.entries: list[EntryId] = [id_ for id_ in common if all(id_ in rows for rows in others)]
        texts = {
            tuple((rows[id_]["source"], rows[id_]["reference"]) for id_ in self.entries) for rows in self.rows.values()
        }
        if not self.entries or len(texts) > 1:
            raise UsageError(
                "These runs have no common entries, or other sources or references. Choose runs over the same corpus."
            )
        dataset = runs[0].card.dataset
        sides = (dataset.source_language, dataset.target_language)
        self.pair = "-".join(re.sub(r"[^0-9A-Za-z]+", "_", side or "und") for side in sides)

    def files(self) -> dict[str, list[str]]:
        """Return texts and metric scores; a metric without a value for some segment has none for segments."""
        first = next(iter(self.rows.values()))
        files = {
            f"sources/{self.pair}.txt": [_one_line(first[id_]["source"]) for id_ in self.entries],
            f"references/{self.pair}.{REFERENCE}.txt": [_one_line(first[id_]["reference"]) for id_ in self.entries],
            f"documents/{self.pair}.docs": ["none corpus"] * len(self.entries),
        }
        for run_id, rows in self.rows.items():
            outputs = [_one_line(rows[id_]["predicted"]) for id_ in self.entries]
            files[f"system-outputs/{self.pair}/{self.names[run_id]}.txt"] = outputs
        return files | self._metric_scores()

    def _metric_scores(self) -> dict[str, list[str]]:
        whole = {run.card.run_id: block(run.card.as_json(), "scores") for run in self.runs}
        known = dict.fromkeys(id_ for scores in whole.values() for id_ in scores if id_ == COMPOSITE or row_of(id_))
        files: dict[str, list[str]] = {}
        for id_ in known:
            stem = f"metric-scores/{self.pair}/{id_}-{self._reference_of(id_)}"
            segments = {
                run_id: [number(rows[entry].get(id_)) for entry in self.entries] for run_id, rows in self.rows.items()
            }
            systems = {run_id: [number(scores.get(id_))] for run_id, scores in whole.items()}
            # of a part of the entries the value of the whole run would be another one
            partial = any(len(run.rows) != len(self.entries) for run in self.runs)
            for level, values in (("seg", segments), ("sys", {} if partial else systems)):
                if values and not any(score is None for scores in values.values() for score in scores):
                    files[f"{stem}.{level}.score"] = self.score_lines(values)
        return files

    def score_lines(self, values: Mapping[str, Sequence[float | None]]) -> list[str]:
        """Return the lines of a file of scores, run by run: the system's name and a number."""
        return [
            f"{self.names[run_id]}\t{'None' if score is None else f'{score:.6f}'}"
            for run_id, scores in values.items()
            for score in scores
        ]

    def _reference_of(self, id_: str) -> str:
        """Return which references a metric reads, as names of the layout say it: ``src`` for none, ``all`` with variants."""
        row = row_of(id_)
        if row is not None and "reference" not in row.needs:
            return "src"
        signatures = (block(block(run.card.as_json(), "scores"), "signatures").get(id_) for run in self.runs)
        return "all" if any("nrefs:var" in str(signature) for signature in signatures) else REFERENCE


def export_mtme(connection: sqlite3.Connection, runs: Iterable[int]) -> dict[str, bytes]:
    """Return path → bytes of every file of the folder. Raises HarnessError and UsageError as ``export_run`` does."""
    return encoded_files(MtmeSet([read_exported(connection, run) for run in runs]).files())


def encoded_files(files: Mapping[str, Iterable[str]]) -> dict[str, bytes]:
    """Return the files of a folder, each of whose lines ends."""
    return {path: "".join(f"{line}\n" for line in lines).encode() for path, lines in files.items()}


def system_names(cards: Mapping[str, RunCard]) -> dict[str, str]:
    """Name each run by its model and condition, as files of the layout may be called on every disk, each name once."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for run_id, card in cards.items():
        words = re.sub(r"[^0-9A-Za-z_+]+", "-", f"{card.model_slug} {card.condition}").strip("-")
        name = f"system-{words}"[:60] if RESERVED.fullmatch(words) else words[:60] or "system"
        names[run_id] = name if name.casefold() not in taken else f"{name}-{run_id[:8]}"
        taken.add(names[run_id].casefold())
    return names


def _one_line(text: Json) -> str:
    """Return a text as one line, for the layout counts lines."""
    return " ".join(str(text or "").split())
