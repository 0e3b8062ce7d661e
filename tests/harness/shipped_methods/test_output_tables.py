"""Corpora and outputs are read by one reader: delimiters, headers, ids and workbooks."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import CorpusError
from corpora.formats.load import load
from corpora.model.entry import Entry
from harness.core.failures import UsageError
from harness.inputs.outputs import read_outputs
from tests.harness.sealed.refusals import refuses

PAIR = {"source_language": "en", "target_language": "crk"}
ENTRIES = [Entry(id=1, source="dog", reference="atim"), Entry(id="007", source="cat", reference="minôs")]
TEXTS = ["atim", "minôs; wâpos"]
ROWS = [("1", TEXTS[0]), ("007", TEXTS[1])]


def _table(delimiter: str, header: tuple[str, str], rows: list[tuple[str, str]], end: str = "\n") -> str:
    lines = [delimiter.join(header), *(f'{id_}{delimiter}"{text}"' for id_, text in rows)]
    return end.join(lines) + end


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("o.csv", _table(",", ("id", "output"), ROWS)),
        ("o.csv", _table(";", ("ID", "Output"), ROWS, "\r\n")),
        ("o.csv", "sep=;\r\n" + _table(";", ("id", "output"), ROWS)),
        ("o.csv", '"sep=|"\n' + _table("|", ("Sentence ID", "Prediction"), ROWS)),
        ("o.tsv", "\ufeffSEP=\t\n" + _table("\t", ("entry_id", "Translation"), ROWS, "\r")),
        ("o.tsv", _table(",", ("id", "output"), ROWS)),
        ("o.csv", _table("\t", (" id ", "OUTPUT"), [("1.0", TEXTS[0]), ("7,0", TEXTS[1])])),
        ("o.out", _table(";", ("index", "hypothesis"), [("1", TEXTS[0]), ("7", TEXTS[1])])),
        ("o.csv", _table(",", ("id", "Machine Translation"), [("'1", TEXTS[0]), ("７.", TEXTS[1])])),
        ("o.csv", _table(",", ("id", "output"), ROWS).replace("\n", ",,,\n")),
        ("o.csv", _table("\t", ("segment id", "target"), ROWS)),
        ("o.jsonl", '{"Id": 1.0, "Output": "atim"}\n{"id": "7.0", "output": "minôs; wâpos"}\n'),
    ],
)  # fmt: skip
def test_outputs_of_any_program_are_matched(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8", newline="")
    found = read_outputs(path, ENTRIES)
    assert [found.output(entry.id).text for entry in ENTRIES] == TEXTS


def test_cells_that_an_export_guards_come_back_as_they_were(tmp_path: Path) -> None:
    entries = [Entry(id=id_, source="s", reference="r") for id_ in ("=1+1", "@a", "b")]
    path = tmp_path / "run.csv"
    path.write_text(
        "entry_id,predicted,entry_chrf\n'=1+1,'- Tânisi.,50.0\n'@a,'=cmd|x,0.0\nb,'atim',9.0\n", encoding="utf-8"
    )
    found = read_outputs(path, entries)
    assert [found.output(entry.id).text for entry in entries] == ["- Tânisi.", "=cmd|x", "'atim'"]
    path.write_text("id,output\n'=1+1,'- Tânisi.\n@a,x\nb,y\n", encoding="utf-8")
    assert read_outputs(path, entries).output("=1+1").text == "'- Tânisi."  # of another program


def test_an_unknown_id_is_named_and_text_ids_stay(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("id,output\n9,x\n")
    refuses(UsageError, "id '9'", read_outputs, path, ENTRIES)
    sections = [Entry(id=id_, source="s", reference="r") for id_ in ("1.0", "1.1", "1")]
    path.write_text("id,output\n1.0,a\n1,b\n1.1,c\n")
    found = read_outputs(path, sections)
    assert [found.output(each.id).text for each in sections] == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("cells", "ids"),
    [(("1.0", "2.0"), [1, 2]), (("1,0", "2"), [1, 2]), (("1.0", "1.1"), ["1.0", "1.1"]), (("a", "2"), ["a", 2])],
)  # fmt: skip
def test_ids_of_a_corpus_are_whole_numbers_where_all_are(
    cells: tuple[str, str], ids: list[int | str], tmp_path: Path
) -> None:
    path = tmp_path / "c.csv"
    path.write_text("sep=;\nID;Source;Reference\n" + "".join(f"{id_};s{id_};r\n" for id_ in cells))
    assert [each.id for each in load(path, dataset=PAIR).entries] == ids


@pytest.mark.parametrize(
    "row",
    [
        {"reference": ["atim", "acimosis", None]}, {"references": ["atim", "acimosis"]}, {"refs": ["atim", " ", "acimosis"]},
        {"reference": "atim", "references": ["atim", "acimosis"]}, {"target": ["atim", "acimosis"]},
        {"reference": ["atim"], "variants": ["acimosis"]},
    ],
)  # fmt: skip
def test_a_list_of_references_is_reference_and_variants(row: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"id": 1, "source": "dog", **row}))
    (entry,) = load(path, dataset=PAIR).entries
    assert (entry.reference, entry.variants) == ("atim", ("acimosis",))


def test_a_column_of_references_is_a_list_too(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text('id,source,References\n1,dog,atim|acimosis\n2,cat,"[""minôs""]"\n')
    entries = load(path, dataset=PAIR).entries
    assert [(each.reference, each.variants) for each in entries] == [
        ("atim", ("acimosis",)), ("minôs", ()),
    ]  # fmt: skip


def test_workbook_is_a_corpus_and_outputs(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for name, header, texts in [
        ("c", ["ID", "Source", "Reference"], ["dog", "atim"]),
        ("o", ["id", "Output"], ["atim"]),
    ]:
        book = openpyxl.Workbook()
        book.active.append(header)
        book.active.append([])
        book.active.append([1.0, *texts])
        book.create_sheet("notes")
        book.save(tmp_path / f"{name}.xlsx")
    corpus = load(tmp_path / "c.xlsx", dataset=PAIR)
    assert [(each.id, each.source, each.reference) for each in corpus.entries] == [(1, "dog", "atim")]
    assert any("first of 2 sheets" in each.message for each in corpus.warnings)
    (tmp_path / "o.xlsx").rename(tmp_path / "o")  # known by its bytes
    assert read_outputs(tmp_path / "o", corpus.reveal_here()).output(1).text == "atim"


def test_messages_of_gettext_are_a_corpus_and_outputs(tmp_path: Path) -> None:
    pytest.importorskip("polib")
    head = 'msgid ""\nmsgstr ""\n"Language: crk\\n"\n\n'
    body = 'msgid "dog"\nmsgstr "atim"\n\nmsgid "new"\nmsgstr ""\n\n#, fuzzy\nmsgid "cat"\nmsgstr "minôs"\n\nmsgid "%d dog"\nmsgid_plural "%d dogs"\nmsgstr[0] "atim"\nmsgstr[1] "atimwak"\n'
    (tmp_path / "c.po").write_text(head + body)
    corpus = load(tmp_path / "c.po", dataset={"source_language": "en"})
    assert [(each.id, each.source, each.reference) for each in corpus.entries] == [
        (1, "dog", "atim"), (4, "%d dog", "atim"), ("4 plural", "%d dogs", "atimwak"),
    ]  # fmt: skip
    assert sum("left out" in each.message for each in corpus.warnings) == 2
    found = read_outputs(tmp_path / "c.po", corpus.reveal_here())
    assert [found.output(each.id).text for each in corpus.entries] == ["atim", "atim", "atimwak"]


def test_arb_files_are_joined_by_their_keys(tmp_path: Path) -> None:
    source, reference = tmp_path / "app_en.arb", tmp_path / "app_crk.arb"
    source.write_text('{"@@locale": "en", "dog": "dog", "@dog": {"description": "an animal"}, "cat": "cat"}')
    reference.write_text('{"@@locale": "crk", "dog": "atim"}')
    corpus = load(source, reference)
    assert [(each.id, each.source, each.reference, each.notes) for each in corpus.entries] == [
        ("dog", "dog", "atim", "an animal")
    ]
    assert read_outputs(reference, corpus.reveal_here()).output("dog").text == "atim"
    refuses(CorpusError, "one language", load, source, dataset=PAIR)


def test_what_holds_no_text_is_named_with_what_to_do(tmp_path: Path) -> None:
    for name, data, kind in (
        ("c.jsonl", b"PAR1xx", "Parquet"), ("c.jsonl", b"ARROW1xx", "Arrow"), ("c.jsonl", b"PK\x03\x04xx", "zip"),
        ("c.jsonl", b"\xff\xff\xff\xff\x10", "Arrow"), ("state.json", b"", "Hugging Face.*load_from_disk"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        path = tmp_path if name == "state.json" else tmp_path / name
        refuses(CorpusError, kind, load, path, dataset=PAIR)
        refuses(UsageError, kind, read_outputs, path, ENTRIES)
