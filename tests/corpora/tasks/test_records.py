"""Records of every task: read, checked, shown without their answers, written and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.problems import CorpusError
from corpora.formats.load import File, load, read
from corpora.formats.write import write
from corpora.model.corpus import Dataset, Form
from corpora.model.entry import Entry
from corpora.model.task import TASKS
from corpora.model.task_records import CHECKABLE, own_answer
from corpora.model.task_records import RECORDS as MODELS
from tests.corpora.making import LANGUAGES, envelope
from tests.corpora.tasks.records import RECORDS, SECRET, corpus_of
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples


def only_problem(name: str, *records: dict[str, Any]) -> str:
    caught = refuses(CorpusError, "", corpus_of, name, *records)
    assert len(caught.problems) == 1, caught
    return str(caught)


def test_sound_record_is_read_and_no_answer_reaches_a_method() -> None:
    assert TASKS.keys() == MODELS.keys() == RECORDS.keys()
    for name in TASKS:
        corpus = corpus_of(name, RECORDS[name])
        [entry] = corpus.entries
        assert not corpus.warnings
        assert corpus.dataset.task == entry.task.name == name
        asked = entry.question()
        assert SECRET not in repr(asked)
        assert (asked.reference, asked.variants) == ("", ())
        assert set(asked.model_extra or {}) == set(RECORDS[name]) & set(TASKS[name].shown)


def test_reference_of_speech_may_be_empty(tmp_path: Path) -> None:
    for name in ("asr", "diarization"):
        spoken, silent = RECORDS[name], {**RECORDS[name], "id": 99, "reference": ""}
        corpus = corpus_of(name, spoken, silent)
        assert [bool(each.reference) for each in corpus.entries] == [True, False]
        [warning] = corpus.warnings
        assert "One entry has an empty reference: 99" in str(warning)
    table = tmp_path / "asr.csv"
    table.write_text(
        "# task: asr\n# source_language: en\n# target_language: crk\nid,source,reference\n1,a.wav,Saluton\n2,b.wav,\n",
        "utf-8",
    )
    assert [each.reference for each in load(table).entries] == ["Saluton", ""]
    assert "It is blank" in only_problem("math", {**RECORDS["math"], "reference": ""})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from("ab"), each),
    max_leaves=8,
)
FIELDS = sorted({name for model in MODELS.values() for name in model.model_fields} - {"source"})
KEYS = ("assistant", "reference", "answer", "is_correct", "user", "text", "name", "title")


@examples(15, 200)
@given(
    st.sampled_from(sorted(TASKS)),
    st.dictionaries(
        st.sampled_from(FIELDS),
        JSON | st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), max_size=3),
        max_size=8,
    ),
)
def test_method_sees_only_what_its_task_names(name: str, fields: dict[str, Any]) -> None:
    fields = {key: value for key, value in fields.items() if key != "reference"}
    entry = Entry.model_validate({"id": 1, "source": "s", "reference": SECRET, **fields, "of_task": name})
    seen = entry.question().model_extra or {}
    assert seen.keys() <= TASKS[name].shown.keys()
    for field, value in seen.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                assert part.keys() <= set(TASKS[name].shown[field])
                assert all(isinstance(part[key], str | int) for key in part if key != "parameters")
            else:
                assert isinstance(part, str)


def test_task_survives_every_form_but_two_text_files(tmp_path: Path) -> None:
    for name in TASKS:
        for form in [Form.SPECIFICATION, Form.JSONL, Form.CSV, Form.TSV]:
            corpus = corpus_of(name, RECORDS[name])
            path = tmp_path / f"c.{form if form is not Form.SPECIFICATION else 'json'}"
            write(corpus, path, form)
            back = load(path)
            assert (back.dataset.task, back.entries) == (name, corpus.entries)
    corpus = corpus_of("qa", {"source": "Who?", "reference": "Anna"})
    with pytest.raises(CorpusError, match=r"lose: .*dataset\.task"):
        write(corpus, tmp_path / "a", Form.PARALLEL, reference=tmp_path / "b")


def test_task_comes_from_the_caller_and_must_agree_with_the_file() -> None:
    text = json.dumps({"id": 1, "source": "s", "reference_state": {}})
    told = {"id": "c", **LANGUAGES, "task": "dialogue_state"}
    [entry] = read([File("c.jsonl", text.encode())], dataset=told).entries
    assert (entry.task.name, entry.reference) == ("dialogue_state", "{}")
    table = '# task: multiple_choice\nid,source,reference,choices:json\n1,s,A,"[""x"", ""y""]"\n'
    [entry] = read([File("c.csv", table.encode())], dataset={"id": "c", **LANGUAGES}).entries
    assert entry.question().model_extra == {"choices": ["x", "y"]}
    rows = [{"dataset": envelope(task="qa")}, {"id": 1, **RECORDS["qa"]}]
    text = "\n".join(map(json.dumps, rows))
    with pytest.raises(CorpusError, match=r"dataset\.task.*something else than the option"):
        read([File("c.jsonl", text.encode())], dataset={"task": "math"})


def test_fault_names_line_entry_and_field_without_a_text() -> None:
    fields: Any
    for name, fields, said in [
        ("function_call", {"tools": [{"name": 3}]}, "'tools[1].name': It must be text. Write [{"),
        ("function_call", {"tools": "all"}, "'tools': It must be a list."),
        ("function_call", {"reference_calls": [{"f": {SECRET: 1}}]}, "'reference_calls[1]': It must be a list."),
        ("function_call", {"reference_calls": [{"f": {}, "g": {}}]}, "'reference_calls[1]': It holds too many."),
        ("function_call", {"predicted_calls": {}}, "'predicted_calls': It must be a list."),
        ("chat", {"turns": []}, "'turns': It holds too few."),
        ("chat", {"turns": [{"user": "a"}, {"assistant": "b"}]}, "'turns[2].user': It is missing."),
        ("chat", {"judge_mt_bench": [11]}, "'judge_mt_bench[1]': The number is too large."),
        ("diarization", {"reference": f"A: a\n{SECRET}"}, "'reference': Its line 2 names no speaker before a colon."),
        ("diarization", {"reference": [{"speaker": "A"}]}, "'reference[1].text': It is missing."),
        ("qa", {"evidence": [{"token_count": 10**400}]}, "'evidence[1].token_count': "),
        ("qa", {"evidence": [{"token_count": 2.5}]}, "'evidence[1].token_count': It must be a whole number."),
        ("qa", {"judge_semantic": True}, "'judge_semantic': It must be a number."),
        ("qa", {"reference": None}, "'reference': It is missing. Give every entry a reference."),
        ("qa", {"source": None}, "'source': It is missing. Give every entry a source."),
        ("text2sql", {"database": "../secret.db"}, "'database': It leaves the folder of the corpus."),
        ("text2sql", {"database": "C:\\x.db"}, "'database': It leaves the folder of the corpus."),
        ("text2sql", {"database": None}, "'database': It must be text."),
        ("multiple_choice", {"reference": f"{SECRET}"}, "'reference': It is not one letter."),
        ("multiple_choice", {"choices": ["one"]}, "'choices': It holds too few."),
        ("ifeval", {"instructions": [{"kwargs": {}}]}, "'instructions[1].id': It is missing."),
        ("dialogue_state", {"reference_state": {SECRET: 1}}, "'reference_state': It must be an object."),
        ("judged", {"judge_binary": {"score": 2}}, "'judge_binary.score': The number is too large."),
        ("judged", {"judge_binary": {"explanation": "x"}}, "'judge_binary.score': It is missing."),
        ("judged", {"judge_detailed": 6}, "'judge_detailed': The number is too large."),
        ("math", {"reference": " "}, "'reference': It is blank."),
    ]:  # fmt: skip
        told = only_problem(name, RECORDS[name] | fields)
        assert f"c.jsonl, line 2, entry 1, field {said}" in told
        assert SECRET not in told


def test_unknown_task_is_refused_with_those_there_are() -> None:
    for name in (7, "QA", "question", ["qa"]):
        told = only_problem(name, {"anything": 1})  # type: ignore[arg-type]
        assert "field 'dataset.task': There is no such task. Permitted: translation, qa," in told
    for kept in ('"mt"', "7", "null", '["qa"]'):  # what earlier versions kept under the name
        stored = (
            f'{{"id": "c", "language_pair": "EN→X", "source_language": "en", "target_language": "x", "task": {kept}}}'
        )
        assert Dataset.model_validate_json(stored).task == "translation"


def test_depth_and_size_are_refused_in_words() -> None:
    deep = "[" * 2_000 + "]" * 2_000
    for name in sorted(set(TASKS) - {"translation"}):
        record = json.dumps({"id": 1, **RECORDS[name]})
        head = json.dumps({"dataset": envelope(task=name)})
        for value in (deep, "[" * 40 + "]" * 40, "9" * 5000, "1e999", "NaN", '"\\ud800"'):
            text = f'{head}\n{record[:-1]}, "tools": {value}, "turns": {value}}}'
            caught = refuses(CorpusError, "", read, [File("c.jsonl", text.encode())])
            assert all(each.line == 2 and each.mend for each in caught.problems)


def test_the_answer_that_a_record_brings_is_text() -> None:
    record: Any
    for name, record, answer in [
        ("qa", {"predicted": "Anna"}, "Anna"),
        ("qa", {}, None),
        ("chat", {"turns": [{"user": "a", "assistant": "ĉ"}, {"user": "b"}]}, '["ĉ", ""]'),
        ("chat", {"turns": [{"user": "a", "assistant": "x"}], "predicted": ["y"]}, '["y"]'),
        ("chat", {"turns": [{"user": "a"}]}, None),
        ("function_call", {**RECORDS["function_call"], "predicted_calls": []}, "[]"),
        ("dialogue_state", {"reference_state": {}, "predicted_state": {"b": {"y": 1, "x": "2"}}},
         '{"b": {"x": "2", "y": 1}}'),
        ("diarization", {"predicted": [{"speaker": "A", "text": "a\nb"}, {"speaker": "B", "text": ""}]},
         "A: a b\nB: "),
    ]:  # fmt: skip
        assert own_answer(name, record) == answer


def test_every_record_has_a_source_and_a_reference() -> None:
    for name, source, reference in [
        ("chat", "Hi\n\nBye", json.dumps([SECRET, ""], ensure_ascii=False)),
        ("function_call", "Weather in Riga?", f'[{{"weather": {{"city": ["{SECRET}"]}}}}]'),
        ("dialogue_state", "A cheap hotel.", f'{{"hotel": {{"price": "{SECRET}"}}}}'),
        ("diarization", "a.wav", f"A: {SECRET}"),
        ("ifeval", "Write a title.", ""),
    ]:
        [entry] = corpus_of(name, RECORDS[name]).entries
        assert (entry.source, entry.reference) == (source, reference)
        own = {"source": "own", "reference": "A: own"}
        [entry] = corpus_of(name, RECORDS[name] | own).entries
        assert (entry.source, entry.reference) == ("own", "A: own")


def test_names_of_functions_and_slots_are_no_marks_but_other_fields_are() -> None:
    tool = {"name": "held_out", "parameters": {"split": 1}}
    assert corpus_of("function_call", RECORDS["function_call"] | {"tools": [tool]}).entries
    assert "may say which entries are secret" in only_problem("qa", RECORDS["qa"] | {"split": "x"})
    inside = RECORDS["qa"] | {"evidence": [{"text": "x", "segment": "held_out"}]}
    assert "may say which entries are secret" in only_problem("qa", inside)


def test_the_page_has_a_record_of_every_task_and_says_what_a_method_sees() -> None:
    page = (Path(__file__).parents[3] / "docs" / "corpora.md").read_text("utf-8")
    section = page.split("\n## Tasks\n")[1].split("\n## ")[0]
    lines = section.split("```ndjson\n")[1].split("```")[0].splitlines()
    records = {line.pop("task"): line for line in map(json.loads, lines)}
    assert {"translation", *records} == TASKS.keys()
    for name, record in records.items():
        assert not corpus_of(name, record).warnings
    rows = dict(line[2:].split(" |", 1) for line in section.splitlines() if line.startswith("| `"))
    assert list(rows) == [f"`{name}`" for name in TASKS]
    for name, each in TASKS.items():
        seen = rows[f"`{name}`"].split(" | ")[1]
        assert all(f"`{field}`" in seen for field in each.shown)
        assert all(key in seen for keys in each.shown.values() for key in keys)


def test_an_instruction_that_nothing_can_check_is_told_of_before_any_run() -> None:
    for segment in [None, "held_out"]:
        known, unknown = ({"id": id_} for id_ in ("detectable_format:title", "nobody:knows"))
        records = [
            {"id": place, "source": f"Write {place}.", "segment": segment, "instructions": asked}
            for place, asked in enumerate(([known], [known, unknown], [unknown]))
        ]
        made = corpus_of("ifeval", *records)
        (warning,) = made.warnings
        assert warning.message == "2 entries have an instruction that nothing can check: 1, 2."
        assert all(id_ in warning.mend for id_ in CHECKABLE)
        assert "nobody" not in f"{warning.message} {warning.mend}"
