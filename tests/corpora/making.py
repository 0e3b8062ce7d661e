"""Makes corpus files and reads back what is said about them."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import CorpusError, Problem, Severity
from corpora.formats.columns import Columns
from corpora.formats.load import File, load, read
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry

LANGUAGES = {"source_language": "en", "target_language": "crk"}
PAIR = {"source_language": "en", "target_language": "mi"}


def envelope(**more: Any) -> dict[str, Any]:
    return {"id": "made", "version": "1.0", "language_pair": "EN→CRK", **LANGUAGES, **more}


def entry(number: Any = 1, **more: Any) -> dict[str, Any]:
    return {"id": number, "source": f"source {number}", "reference": f"reference {number}", **more}


def json_file(folder: Path, entries: list[Any], name: str = "corpus.json", **more: Any) -> Path:
    path = folder / name
    text = json.dumps({"dataset": envelope(**more), "entries": entries}, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def file(folder: Path, content: str | bytes, name: str = "corpus.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_text(text: str | bytes, name: str = "a.tsv", pair: Any = PAIR, **named: Any) -> Corpus:
    data = text if isinstance(text, bytes) else text.encode()
    return read([File(name, data)], dataset=pair, columns=Columns(**named))


def corpus_of(*rows: dict[str, Any], **more: Any) -> Corpus:
    entries = tuple(Entry.model_validate(row) for row in rows)
    return Corpus(Dataset.model_validate(envelope(**more)), entries, "", Form.SPECIFICATION)


def problems(path: Path, *others: Path, **options: Any) -> list[Problem]:
    """Return the problems of a file that cannot be used."""
    with pytest.raises(CorpusError) as caught:
        load(path, *others, **options)
    assert any(problem.severity is Severity.ERROR for problem in caught.value.problems)
    assert all(problem.message and problem.mend for problem in caught.value.problems)
    return list(caught.value.problems)


def only_problem(path: Path, *others: Path, **options: Any) -> Problem:
    found = [p for p in problems(path, *others, **options) if p.severity is Severity.ERROR]
    assert len(found) == 1, found
    return found[0]


LEAST = """tag = "crk"
name = "Mine"
default_script = "Latn"

[writings.Latn]
letters = "a b"
cased = false

[sources]
"""
