from __future__ import annotations

import json
from pathlib import Path

from corpora.files.problems import Severity
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.model.corpus import Form
from tests.corpora import making
from tests.corpora.making import LANGUAGES, PAIR, entry, envelope, file, only_problem, problems


def texts(path: Path) -> list[tuple[int | str, str, str]]:
    corpus = load(path, dataset=LANGUAGES)
    return [(each.id, each.source, each.reference) for each in corpus.entries]


def test_csv_with_quotes_comments_bom_and_line_breaks(tmp_path: Path) -> None:
    content = (
        "\ufeff# a remark, with a comma\r\n"
        "id,source,reference\r\n"
        '1,"Hello, ""you""",Saluton\r\n'
        "# another remark\r\n"
        '"2","# not a remark","two\r\n# lines"\r\n'
        "\r\n"
        "x3,plain # text,fin\r\n"
    )
    assert texts(file(tmp_path, content, "a.csv")) == [
        (1, 'Hello, "you"', "Saluton"),
        (2, "# not a remark", "two\r\n# lines"),
        ("x3", "plain # text", "fin"),
    ]


def test_what_a_spreadsheet_saves_as_unicode_is_read(tmp_path: Path) -> None:
    for encoding in ["utf-16", "utf-8-sig"]:
        data = "source\treference\r\nhund\tᐊᑎᒼ\r\n".encode(encoding)
        assert texts(file(tmp_path, data, "a.txt")) == [(1, "hund", "ᐊᑎᒼ")]


def test_common_headers_are_understood(tmp_path: Path) -> None:
    for header in ("source,reference", "src,ref", "Source,Target", "source_text,target_expected", "SRC , trg"):
        assert texts(file(tmp_path, f"{header}\na,b\n", "a.csv")) == [(1, "a", "b")]
    assert texts(file(tmp_path, "source;reference\na,b;c\n", "a.csv")) == [(1, "a,b", "c")]
    assert texts(file(tmp_path, "source\treference\na,b\tc\n", "a.txt")) == [(1, "a,b", "c")]


def test_other_columns_are_kept(tmp_path: Path) -> None:
    for content, extra in (
        ("source,reference,target,mood\na,b,c,glad\n", {"target": "c", "mood": "glad"}),
        ("Source,source,reference\nweb,a,b\n", {"Source": "web"}),
        (",source,reference,,\n0,a,b,,\n", {"column_1": "0"}),
        (",source,reference,,\n1,a,b,,x\n", {"column_1": "1", "column_5": "x"}),
    ):
        (only,) = load(file(tmp_path, content, "a.csv"), dataset=LANGUAGES).entries
        assert (only.source, only.reference, only.model_extra) == ("a", "b", extra)


def test_a_tsv_without_a_tab_is_read_by_what_parts_its_header(tmp_path: Path) -> None:
    for content, name in [('source,reference\n"a, b",c\n', "commas"), ("source;reference\na, b;c\n", "semicolons")]:
        path = file(tmp_path, content, "a.tsv")
        assert texts(path) == [(1, "a, b", "c")]
        assert f"separated at {name}" in load(path, dataset=LANGUAGES).warnings[0].message


def test_language_names_and_one_language_twice_are_noted(tmp_path: Path) -> None:
    path = file(tmp_path, "source,reference\na,b\n", "a.csv")
    for tag, meant in (("english", "en"), ("Māori", "mi"), ("zho_Hant", "zho-Hant"), ("xxq", "xxq")):
        corpus = load(path, dataset={"source_language": "fr_FR", "target_language": tag})
        assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("fr-FR", meant)
        assert any("No language has the tag" in each.message for each in corpus.warnings) is (tag == "xxq")
    commented = file(tmp_path, "# source_language: eng\nsource,reference\na,b\n", "b.csv")
    for tag in ("English", "en"):
        assert load(commented, dataset={"source_language": tag, "target_language": "crk"})
    other = {"source_language": "en-GB", "target_language": "crk"}
    assert only_problem(commented, dataset=other).field == "dataset.source_language"
    for task, target, noted in ((None, "en", True), ("translation", "EN", True), ("qa", "en", False), (None, "en-GB", False)):  # fmt: skip
        told = {"source_language": "en", "target_language": target, "task": task}
        warned = load(path, dataset=told).warnings
        assert any("in one language" in each.message for each in warned) is noted


def test_envelope_comment_that_is_no_json_is_text(tmp_path: Path) -> None:
    for value in ("NaN", "1e999", "[NaN]", "[" * 9999, "given orally"):
        content = f"# dataset.consent: {value}\nsource,reference\na,b\n"
        dataset = load(file(tmp_path, content, "a.csv"), dataset=LANGUAGES).dataset
        assert dataset.model_extra == {"consent": value}


def test_variants_are_a_list_or_separated_by_bars(tmp_path: Path) -> None:
    for cell, variants in [
        ("x|y z", ("x", "y z")), ('"[""x|y"", ""z""]"', ("x|y", "z")),
        ("[sic] x|y", ("[sic] x", "y")), ("", ()), (" | ", ()),
    ]:  # fmt: skip
        path = file(tmp_path, f"source,reference,variants\na,b,{cell}\n", "a.csv")
        assert load(path, dataset=LANGUAGES).entries[0].variants == variants


def test_tiers_are_read_as_spreadsheets_write_them(tmp_path: Path) -> None:
    content = "source,reference,difficulty\na,b,3\nc,d,4.0\ne,f,Easy\ng,h,\n"
    corpus = load(file(tmp_path, content, "a.csv"), dataset=LANGUAGES)
    assert [each.difficulty for each in corpus.entries] == [3, 4, 2, None]
    problem = only_problem(file(tmp_path, "source,reference,difficulty\na,b,9\n", "b.csv"), dataset=LANGUAGES)
    assert (problem.line, problem.field) == (2, "difficulty")


def test_the_envelope_may_stand_in_comments(tmp_path: Path) -> None:
    content = (
        "# id: eo-demo\n# version: 1.0\n# source_language: en\n# target_language: eo\n"
        "# provenance: textbook, elicited\n# Remark: of a person\n"
        '# dataset.consent: {"by": "council"}\n'
        "source,reference\na,b\n"
    )
    dataset = load(file(tmp_path, content, "a.csv")).dataset
    assert (dataset.id, dataset.version, dataset.language_pair) == ("eo-demo", "1.0", "EN→EO")
    assert dataset.provenance == ("textbook", "elicited")
    assert dataset.model_extra == {"consent": {"by": "council"}}


def test_quotes_of_a_tsv_are_kept_taken_off_or_pointed_at(tmp_path: Path) -> None:
    content = 'source\treference\n"Hello\tb\nc\t"d" she said\ne"\tf\n'
    path = file(tmp_path, content, "a.tsv")
    assert texts(path) == [(1, '"Hello', "b"), (2, "c", '"d" she said'), (3, 'e"', "f")]
    messages = [problem.message for problem in load(path, dataset=LANGUAGES).warnings]
    assert any("quotation marks" in message for message in messages)
    path = file(tmp_path, 'source\treference\n"a\tb"\t"c ""d"""\n', "a.tsv")
    assert texts(path) == [(1, "a\tb", 'c "d"')]
    content = 'source\treference\n"a\tb\nc"\td\n'
    warnings = load(file(tmp_path, content, "a.tsv"), dataset=LANGUAGES).warnings
    assert any(problem.line == 2 and "swallowed" in problem.message for problem in warnings)


def test_a_broken_record_is_named_by_its_first_line(tmp_path: Path) -> None:
    for content, line in [
        ('source,reference\na,b\n"c,d\ne,f\n', 3), ('source,reference\n"a" b,c\n', 2),
        ("source,reference\na,b\nc\n", 3), ("source,reference\na,b\nc,d,e\n", 3),
        ("source,reference,mood,mood\na,b,c,d\n", 1),
        ("source,reference\n" + "x" * 200_000 + ",b\n", 2),
    ]:  # fmt: skip
        assert only_problem(file(tmp_path, content, "a.csv"), dataset=LANGUAGES).line == line


def test_headerless_table_is_refused_without_its_text(tmp_path: Path) -> None:
    for text in ("a secret\tanother secret\tx\n", "A secret, you\nYes, we\n"):
        found = problems(file(tmp_path, text, "a.tsv"), dataset=LANGUAGES)
        errors = {problem.field for problem in found if problem.severity is Severity.ERROR}
        assert errors == {"source", "reference"}
        assert not any("secret" in str(problem) for problem in found)


def test_jsonl_with_and_without_envelope(tmp_path: Path) -> None:
    rows = [json.dumps(row) for row in (entry(1), entry("b"))]
    bare = load(file(tmp_path, "\n".join(rows), "my.jsonl"), dataset=LANGUAGES)
    assert (bare.form, bare.dataset.id, len(bare.entries)) == (Form.JSONL, "my", 2)
    head = json.dumps({"dataset": envelope(license="CC0-1.0")})
    whole = load(file(tmp_path, "\n\n".join([head, *rows]) + "\n", "unknown"))
    assert (whole.form, whole.dataset.id, whole.dataset.license) == (Form.JSONL, "made", "CC0-1.0")
    assert [each.id for each in whole.entries] == [1, "b"]


def test_every_broken_line_of_a_jsonl_is_named(tmp_path: Path) -> None:
    rows = [
        json.dumps(entry(1)), '{"id": 2,', "[1]", '{"id": 3, "source": NaN, "reference": "x"}', "",
    ]  # fmt: skip
    found = problems(file(tmp_path, "\n".join(rows), "a.jsonl"), dataset=LANGUAGES)
    assert [problem.line for problem in found] == [2, 3, 4]


def two(folder: Path, source: str, reference: str) -> tuple[Path, Path]:
    return file(folder, source, "t.en.txt"), file(folder, reference, "t.crk-Cans.txt")


def test_two_text_files_are_paired_by_line(tmp_path: Path) -> None:
    source, reference = two(tmp_path, "dog\r\n\r\ncat\u2028line\n", "ᐊᑎᒼ\n\nᒥᓄᐢ\n")
    corpus = load(source, reference)
    assert corpus.form is Form.PARALLEL
    assert [(each.id, each.source) for each in corpus.entries] == [(1, "dog"), (3, "cat\u2028line")]
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("en", "crk-Cans")
    assert corpus.dataset.id == "t"
    assert any("blank in both" in problem.message for problem in corpus.warnings)


def test_two_text_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    message = only_problem(*two(tmp_path, "a\nb\nc\n", "a\nb")).message
    assert "3 lines" in message
    assert "2 lines in" in message
    problem = only_problem(*two(tmp_path, "a\nb\n", "a\n \n"))
    assert (problem.line, problem.field) == (2, "reference")
    problem = only_problem(file(tmp_path, "Hello, world; this is a letter.\n", "letter.txt"))
    assert "reference file" in problem.mend


def test_carriage_returns_are_reported_once_and_read(tmp_path: Path) -> None:
    for source, said in [
        ("a\r\r\nb\r\r\nc\r\r\n", "3 lines of t.en.txt end in more than one carriage return"),
        ("a\nb\r\r\r\nc", "One line of t.en.txt ends in more than one carriage return"),
        ("a\rb\rc\r", "2 carriage returns (\\r) stand within lines of t.en.txt, read as a line end"),
        ("a\rb\r\nc\n", "One carriage return (\\r) stands within lines of t.en.txt"),
        ("a\r\nb\r\nc\r\n", ""),
    ]:  # fmt: skip
        corpus = load(*two(tmp_path, source, "x\ny\nz\n"))
        assert [each.source for each in corpus.entries] == ["a", "b", "c"]
        assert [each.message[: len(said)] for each in corpus.warnings] == ([said] if said else [])
    corpus = load(*two(tmp_path, "a\nb\rc\n", "x\ny\n"))
    assert [each.source for each in corpus.entries] == ["a", "b\rc"]
    (warning,) = corpus.warnings
    assert "kept as part of the text" in warning.message
    assert warning.line == 2


def test_columns_of_a_reference_file_are_several_references(tmp_path: Path) -> None:
    corpus = load(*two(tmp_path, "a\nb\n\nc\n", "x\tX\tX\ny\t\tY\n\n\tz\t\n"))
    assert [(each.reference, each.variants) for each in corpus.entries] == [("x", ("X",)), ("y", ("Y",)), ("z", ())]
    assert any("3 columns of t.crk-Cans.txt" in each.message for each in corpus.warnings)
    problem = only_problem(*two(tmp_path, "a\nb\nc\n", "x\tX\ny\nz\tZ\n"))
    assert (problem.line, problem.field) == (2, "reference")
    assert "2 columns on other lines, and 1 here" in problem.message
    for source, reference in [("a\nb\n", "x\ty\nz\n"), ("1\ta\n2\tb\n", "1\tx\n2\tz\n")]:
        corpus = load(*two(tmp_path, source, reference))
        assert [each.reference for each in corpus.entries] == reference.split("\n")[:-1]
        assert not any(each.variants for each in corpus.entries)


def test_languages_come_from_options_before_file_names(tmp_path: Path) -> None:
    source, reference = two(tmp_path, "a\n", "b\n")
    corpus = load(source, reference, dataset={"source_language": "fr"})
    assert corpus.dataset.source_language == "fr"
    source, reference = file(tmp_path, "a\n", "x.src"), file(tmp_path, "b\n", "x.ref.txt")
    fields = {problem.field for problem in problems(source, reference)}
    assert fields == {"dataset.source_language", "dataset.target_language"}


THREE = [
    ("Hello", "Kia ora", ("Tēnā koe", "Mōrena")), ("Bye", "Haere rā", ()), ("Yes", "Āe", ("Ae",)),
]  # fmt: skip
"""Sources, references and variants of the tables below: repeated texts and blank cells are no further variants."""


def test_several_columns_hold_references() -> None:
    rows = "Hello\tKia ora\tTēnā koe\tMōrena\nBye\t\tHaere rā\tHaere rā\nYes\tĀe\t\tAe\n"
    for header, reference, warned in [
        ("source\tref1\tref2\tref3", None, "Of the columns ref1, ref2, ref3 the first was read"),
        ("en\tmi_1\tmi_2\tMāori 3", None, "Of the columns mi_1, mi_2, Māori 3 the first"),
        ("English\tMāori\tMāori\tMāori", None, "Of the columns Māori, Māori, Māori the first"),
        ("src\ta\tb\tc", "a,b,c", ""),
        ("src\ta\tb\tc", "2, 3, c", ""),
        ("en\tmi\tmi\tmi", "2,3,4", ""),
        ("one\ttwo\tthree\tfour", "2,3,4", "column 2 as the reference, 3, 4 as variants"),
    ]:
        table = rows if header.startswith("one") else f"{header}\n{rows}"
        said = {} if reference is None else {"reference": reference, "source": "1"}
        for text, name in ((table, "a.tsv"), (table.replace("\t", ","), "a.csv")):
            read = making.read_text(text, name, **said)
            assert [(each.source, each.reference, each.variants) for each in read.entries] == THREE
            assert not any(each.model_extra for each in read.entries)
            found = [each.message for each in read.warnings if "read as" in each.message]
            assert [warned in each for each in found] == ([True] if warned else [])
            assert read.dataset.columns_read == (said or None)


def test_a_numbered_column_beside_the_reference_is_kept_and_said() -> None:
    corpus = making.read_text("source\treference\treference 2\nHello\tKia ora\tTēnā koe\n")
    assert corpus.entries[0].model_extra == {"reference 2": "Tēnā koe"}
    (mend,) = [each.mend for each in corpus.warnings if "is no reference" in each.message]
    assert "--reference-column" in mend


def test_wrong_name_among_several_columns_is_an_error(tmp_path: Path) -> None:
    path = file(tmp_path, "source\tmi\ta\tb\nx\ty\tz\tw\n", "a.tsv")
    for reference in ("a,nowhere", "a,a", "a,,b", "nowhere", "9,2"):
        problem = only_problem(path, dataset=PAIR, columns=Columns("source", reference))
        assert "separated by commas" in problem.mend


def _tmx(units: list[dict[str, str]], srclang: str = "en") -> str:
    tus = ("".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in unit.items()) for unit in units)
    return (
        f'<tmx version="1.4"><header srclang="{srclang}"/><body>{"".join(f"<tu>{tu}</tu>" for tu in tus)}</body></tmx>'
    )


def test_tags_of_one_language_are_one_side_of_a_memory(tmp_path: Path) -> None:
    for units, pairs in [
        ([{"en-US": "dog", "crk": "atim"}, {"en": "cat", "crk": "minôs"}], [("dog", "atim"), ("cat", "minôs")]),
        ([{"en": "dog", "crk-CA": "atim"}, {"eng": "cat", "CRK_latn": "minôs"}], [("dog", "atim"), ("cat", "minôs")]),
        ([{"en-GB": "dog", "en": "hound", "crk": "atim"}], [("hound", "atim")]),
    ]:
        corpus = load(file(tmp_path, _tmx(units), "a.tmx"), dataset=LANGUAGES)
        assert [(each.source, each.reference) for each in corpus.entries] == pairs
        assert any("read as one language" in each.message for each in corpus.warnings)
    own = load(file(tmp_path, _tmx([{"en-US": "a", "crk": "b"}, {"en-GB": "c", "crk": "d"}], "en-US"), "a.tmx"))
    assert len(own.entries) == 2
    third = _tmx([{"en": "a", "crk": "b"}, {"en": "c", "fr": "d"}])
    (left_out,) = [w for w in load(file(tmp_path, third, "a.tmx"), dataset=LANGUAGES).warnings if "left out" in w.message]  # fmt: skip
    assert "texts in fr" in left_out.message
    assert "--target-language" in left_out.mend


def test_files_of_one_pair_are_one_corpus(tmp_path: Path) -> None:
    unit = '<body><trans-unit id="{0}"><source>{0}</source><target>x</target></trans-unit></body></file>'
    for tags, fits in [((("en", "crk"), ("en-US", "")), True), ((("en", "crk"), ("eng", "crk-CA")), True), ((("en", "crk"), ("en", "fr")), False)]:  # fmt: skip
        files = (f'<file source-language="{s}" target-language="{t}">{unit.format(n)}' for n, (s, t) in enumerate(tags))
        path = file(tmp_path, f'<xliff version="1.2">{"".join(files)}</xliff>', "a.xlf")
        if fits:
            assert len(load(path).entries) == 2
        else:
            assert "en–crk, en–fr" in only_problem(path).message
