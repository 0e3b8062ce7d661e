"""Outputs made elsewhere, in every form, with and without mistakes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from corpora.samples import DEMO_CORPUS, DEMO_STRONG
from harness.card.fingerprint import fingerprint
from harness.core.calls import Usage
from harness.core.failures import ErrorClass, UsageError
from harness.inputs.outputs import read_outputs
from harness.method.method import MethodClass, Recorded
from harness.method.shipped import METHOD_CLASSES
from harness.methods.registry import build
from tests.harness.methods.conftest import HttpCalls, entry, options
from tests.review.thorough import examples

ENTRIES = (entry("one", 1), entry("two", "b"), entry("three", 3))


def file_of(folder: Path, name: str, content: str) -> Path:
    file = folder / name
    file.write_text(content, "utf-8")
    return file


def texts(file: Path) -> list[str | None]:
    outputs = read_outputs(file, ENTRIES)
    return [outputs.output(entry.id).text for entry in ENTRIES]


def test_every_form(tmp_path: Path) -> None:
    for name, content in [
        ("out.txt", "eins\nzwei\ndrei\n"),
        ("out.txt", "\ufeffeins\r\nzwei\r\ndrei"),
        ("out.crk", "eins\nzwei\ndrei"),
        ("out.jsonl", '{"id": 3, "output": "drei"}\n\n{"id":"1","predicted":"eins"}\n{"id":"b","hypothesis":"zwei"}'),
        ("out.tsv", "translation\tid\neins\t1\nzwei\tb\ndrei\t3\n"),
        ("out.csv", 'id,output\n1,eins\nb,"zwei"\n3,drei\n'),
        ("card.json", json.dumps({"results": [{"entry_id": n, "predicted": text} for n, text in ((1, "eins"), ("b", "zwei"), (3, "drei"))]})),
    ]:  # fmt: skip
        assert texts(file_of(tmp_path, name, content)) == ["eins", "zwei", "drei"]


@examples(15, 100)
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"])), min_size=1
    )
)
def test_lines_of_text_never_shift(lines: list[str]) -> None:
    """Only the line feed ends a line: U+2028, form feeds and the like belong to the text.

    Not NUL: a file that is half of NULs is taken for UTF-16, and refused.
    """
    import tempfile

    entries = [Entry(id=place, source="s", reference="r") for place in range(len(lines))]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.txt"
        file.write_bytes("".join(line + "\n" for line in lines).encode())
        outputs = read_outputs(file, entries)
    first = lines[0].removeprefix("\ufeff")
    for place, line in enumerate([first, *lines[1:]]):
        assert (outputs.output(place).text or "").strip() == line.strip()


async def test_recorded_numbers_reach_the_output(tmp_path: Path, calls: HttpCalls) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": 1,
            "output": "eins",
            "latency_seconds": 1.5,
            "cost_usd": 0.002,
            "model": "m-1",
            "usage": {"prompt_tokens": 9, "completion_tokens": 2},
        },
        {"id": "b", "output": "zwei", "prompt_tokens": 4, "completion_tokens": 1},
    ]
    file = file_of(tmp_path, "out.jsonl", "\n".join(map(json.dumps, rows)))
    method = build("replay", options(outputs=file), ENTRIES)
    first, second, third = await method.translate(ENTRIES, calls)
    assert first.recorded == Recorded(1.5, Usage(9, 2), 0.002, "m-1")
    assert second.recorded == Recorded(usage=Usage(4, 1))
    assert (third.text, third.error_class) == (None, ErrorClass.MISSING)
    assert third.recorded == Recorded(), "reading a file is no latency of a system"
    assert method.setup.outputs_sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert method.setup.model_slug == "m-1"
    assert str(tmp_path) not in method.setup.model_dump_json()
    table = "id\toutput\tlatency_seconds\tprompt_tokens\tcompletion_tokens\tcost_usd\n"
    file = file_of(tmp_path, "out.tsv", table + "1\teins\t0.5\t7\t3\t\n")
    [output] = await build("replay", options(outputs=file), ENTRIES).translate(ENTRIES[:1], calls)
    assert output.recorded == Recorded(0.5, Usage(7, 3), None, None)


def test_method_class_and_name_are_those_told(tmp_path: Path) -> None:
    file = file_of(tmp_path, "out.txt", "eins\nzwei\ndrei\n")
    told = {"outputs": file, "method_class": "coached-llm", "method_name": "Ours"}
    setup = build("replay", options(**told), ENTRIES).setup
    assert (setup.method_class, setup.method_name) == (MethodClass.COACHED_LLM, "Ours")
    plain = build("replay", options(outputs=file), ENTRIES).setup
    assert (plain.method_class, plain.method_name) == (MethodClass.CUSTOM_PLUGIN, None)
    hashes = [fingerprint(each, "ab", "1").setup_hash for each in (setup, plain)]
    assert hashes[0] != hashes[1]
    renamed = plain.model_copy(update={"method_name": "Other"})
    assert fingerprint(renamed, "ab", "1").setup_hash == hashes[1]
    with pytest.raises(UsageError, match="--method-class does not apply to method 'human'"):
        build("human", options(outputs=file, method_class="api"), ENTRIES)
    assert list(METHOD_CLASSES) == [each.value for each in MethodClass]


async def test_a_human_translator(tmp_path: Path, calls: HttpCalls) -> None:
    file = file_of(tmp_path, "out.txt", "eins\n\ndrei\n")
    method = build("human", options(outputs=file, translator="A. B."), ENTRIES)
    first, second, _ = await method.translate(ENTRIES, calls)
    assert first.recorded == Recorded()
    assert second.error_class is ErrorClass.EMPTY
    assert method.setup.method_class is MethodClass.HUMAN
    assert method.setup.model_slug == "A. B."
    assert method.endpoint is None


def test_outputs_may_fail_be_missing_or_have_several_lines(tmp_path: Path) -> None:
    content = '{"id": 1, "output": "", "error": "time-out"}\n{"id": "b", "output": null}'
    outputs = read_outputs(file_of(tmp_path, "out.jsonl", content), ENTRIES)
    kinds = [outputs.output(entry.id).error_class for entry in ENTRIES]
    assert kinds == [ErrorClass.METHOD, ErrorClass.MISSING, ErrorClass.MISSING]
    cell = "eins,\nzwei und drei\n9, vier"
    content = 'id,output\n1,"' + cell.replace('"', '""') + '"\nb,x\n3,y\n'
    assert texts(file_of(tmp_path, "out.csv", content)) == [cell, "x", "y"]


def test_mistakes_are_named_without_quoting_a_text(tmp_path: Path) -> None:
    for name, content, words in [
        ("o.txt", "SECRET\nx", "2 lines for 3 entries"),
        ("o.jsonl", '{"id": 1, "output": "SECRET"}\n{"id": 9, "output": "x"}', "line 2.*no entry"),
        ("o.jsonl", '{"id": 1, "output": "SECRET"}\n{"id": "1", "output": ""}', "line 2.*already"),
        ("o.jsonl", '{"id": 1, "output": "SECRET"', "line 1: not valid JSON"),
        ("o.jsonl", '["SECRET"]', "line 1: a JSON object"),
        ("o.jsonl", '{"output": "SECRET"}', "line 1: field 'id'"),
        ("o.jsonl", '{"id": true, "output": "SECRET"}', "line 1: field 'id'"),
        ("o.jsonl", '{"id": 1, "text": "SECRET"}', "line 1: exactly one of the fields output"),
        ("o.jsonl", '{"id": 1, "output": "a", "predicted": "SECRET"}', "exactly one"),
        ("o.jsonl", '{"id": 1, "output": ["SECRET"]}', "must be a text.*JSON inside"),
        ("o.jsonl", '{"id": 1, "output": "a", "latency_seconds": -1}', "'latency_seconds'"),
        ("o.jsonl", '{"id": 1, "output": "a", "cost_usd": "SECRET"}', "'cost_usd'"),
        ("o.jsonl", '{"id": 1, "output": "a", "cost_usd": NaN}', "'cost_usd'"),
        ("o.jsonl", "\n", "no output in it"),
        ("o.jsonl", "[" * 100_000, "line 1: the JSON is nested too deep"),
        ("o.json", '{"id": 1}', "a list of outputs"),
        ("o.json", "[\n1", "line 2: not valid JSON"),
        ("o.csv", "id,output\n1,a,SECRET", "line 2: the row does not have as many"),
        ("o.csv", "id,output\n1", "line 2: the row does not have as many"),
        ("o.tsv", "1\tSECRET\n", "no output in it"),
        ("o.csv", 'id,output\n1,"SECRET\n3,b\n', "line 2: .*Close every quote"),
        ("o.csv", 'id,output\nb,x\n1,"SECRET"y\n3,b\n', "line 3: .*Close every quote"),
        ("o.csv", 'id,output\n1,"SECRET\nb,x\n3,c"\n', "line 2: .*row of another entry"),
        ("o.csv", 'id,output\n1,"SECRET\n""b"",x"\n3,c\n', "line 2: .*row of another entry"),
        ("o.csv", "1,SECRET,SECRET\n", "line 1: two columns have the same name"),
        ("o.csv", f"id,output\n1,{'x' * 200_000}\n", r"line 2: .*JSON\."),
        ("o.tsv", f"id\toutput\tprompt_tokens\n1\tx\t{'9' * 5000}\n", "'prompt_tokens'"),
        ("o.tsv", "id\toutput\tprompt_tokens\n1\tx\tSECRET\n", "line 2: .*'prompt_tokens'"),
        ("o.tsv", "id\toutput\tcompletion_tokens\n1\tx\t-3\n", "'completion_tokens'"),
    ]:
        with pytest.raises(UsageError, match=words) as caught:
            texts(file_of(tmp_path, name, content))
        assert "SECRET" not in str(caught.value)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"SECRET \xe9")
    for name, words in (("nowhere.txt", "cannot be read"), ("latin.txt", "line 1: not UTF-8")):
        with pytest.raises(UsageError, match=words) as caught:
            texts(tmp_path / name)
        assert "SECRET" not in str(caught.value)


async def test_the_demo_is_replayed_whole(calls: HttpCalls) -> None:
    from importlib.resources import files

    folder = Path(str(files("corpora.samples")))
    corpus = json.loads((folder / DEMO_CORPUS).read_text("utf-8"))
    entries = [Entry.model_validate(row) for row in corpus["entries"]]
    method = build("replay", options(outputs=folder / DEMO_STRONG), entries)
    outputs = await method.translate(entries, calls)
    rows = map(json.loads, (folder / DEMO_STRONG).read_text("utf-8").splitlines())
    written = {row["id"]: row["output"] for row in rows}
    assert [output.text or "" for output in outputs] == [written[e.id] or "" for e in entries]
    assert all(output.recorded and output.recorded.usage for output in outputs)
    assert method.setup.model_slug == "verda-1"
