"""``rosetta corpus``: check, show, convert."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from rosetta_tui.commands.corpus import corpus
from rosetta_tui.request.reading import FORMS, WRITTEN
from tests.corpora.making import entry, file, json_file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(corpus, [str(argument) for argument in arguments])


def test_corpus_forms_are_those_of_the_library() -> None:
    from corpora.model.corpus import Form

    assert tuple(Form) == FORMS
    assert tuple(form for form in Form if form.written) == WRITTEN


def test_corpus_check_prints_the_requirements(tmp_path: Path) -> None:
    result = run("check", json_file(tmp_path, [entry(1, segment="development")]))
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "development entries             30       1  short by 29" in result.stdout
    assert "0 of 7 minimum requirements met" in result.stdout


def test_corpus_check_prints_problems_and_ends_with_two(tmp_path: Path) -> None:
    result = run("check", json_file(tmp_path, [entry(1, source=""), entry(1, segment="no")]))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 3
    assert all(str(tmp_path / "corpus.json") in line for line in result.stderr.splitlines())


def test_corpus_check_prints_json_in_both_cases(tmp_path: Path) -> None:
    good = run("check", json_file(tmp_path, [entry(1, register="fromal")]), "--json")
    told = json.loads(good.stdout)
    assert told["usable"]
    assert told["dataset"]["id"] == "made"
    assert told["requirements"][1] == {
        "name": "development entries",
        "needed": 30,
        "found": 0,
        "note": "",
        "met": False,
        "short_by": 30,
    }
    assert [problem["field"] for problem in told["problems"]] == ["register"]
    bad = run("check", json_file(tmp_path, [entry(1, difficulty=9)]), "--json")
    assert bad.exit_code == 2
    assert json.loads(bad.stdout)["problems"][0]["entry"] == 1


def test_corpus_check_takes_languages_and_id(tmp_path: Path) -> None:
    path = file(tmp_path, "source,reference\na,b\n", "a.csv")
    assert "--target-language" in run("check", path).stderr
    options = ("--source-language", "en", "--target-language", "eo", "--id", "mine")
    result = run("check", path, *options)
    assert result.exit_code == 0
    assert result.stdout.startswith("mine · EN→EO · en to eo · 1 entry · csv\n")


def test_corpus_show_reads_two_files_together(tmp_path: Path) -> None:
    source = file(tmp_path, "dog\n", "a.en.txt")
    reference = file(tmp_path, "ᐊᑎᒼ\n", "a.crk.txt")
    told = json.loads(run("show", source, reference, "--json").stdout)
    assert told["statistics"]["reference"]["scripts"] == {"Canadian_Aboriginal": 1.0}


def test_corpus_show_prints_no_entry_and_nothing_hostile(tmp_path: Path) -> None:
    rows = [
        entry("\x1b[2J", source="KONFIDENCA", segment="held_out", register="\x1b]0;x\x07\u202e"),
    ]
    path = json_file(tmp_path, rows, language_pair="\x1b[31mEN→CRK")
    for command in ("show", "check"):
        for extra in ((), ("--json",)):
            result = run(command, path, *extra)
            assert result.exit_code == 0
            told = result.stdout + result.stderr
            assert "KONFIDENCA" not in told
            assert told.replace("\n", "").isprintable()


TERMS: list[tuple[dict[str, str], str, str | None, str]] = [
    ({"transmission": "local-only"}, "local-only", "transmission: local-only", "no text leaves this machine"),
    ({"license": "CC-BY-ND-4.0"}, "local-only", "license: CC-BY-ND-4.0", "no text leaves this machine"),
    ({"license": "CC0-1.0"}, "open", "license: CC0-1.0", "open texts may be sent"),
    ({"license": "CC-BY-NC-4.0"}, "ask", "license: CC-BY-NC-4.0", "a person says of each run whether open texts may be sent"),
    ({}, "ask", None, ""),
]  # fmt: skip


def test_corpus_check_and_show_say_where_texts_may_go(tmp_path: Path) -> None:
    for more, led_to, because, words in TERMS:
        path = json_file(tmp_path, [entry()], **more)
        for command in ("check", "show"):
            told = json.loads(run(command, path, "--json").stdout)["terms"]
            assert (told["transmission"], told["because"]) == (led_to, because)
            line = f"terms: {words} ({because})"
            assert (line in run(command, path).stdout) is (because is not None)


def test_corpus_convert_writes_what_check_reads(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry(1, notes="n"), entry(2, source="b")])
    for form in (form for form in WRITTEN if form != "parallel"):
        result = run("convert", path, "--to", form, "-o", out := tmp_path / f"out-{form}")
        assert (result.exit_code, result.stdout) == (0, "")
        assert json.loads(run("check", out, "--json").stdout)["dataset"]["form"] == form


def test_corpus_convert_refuses_loss_and_secrets(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry(1, notes="n", segment="gold_standard")])
    out = ("--to", "parallel", "-o", tmp_path / "a.en.txt")
    both = (*out, "--reference-output", tmp_path / "a.crk.txt")
    refused = run("convert", path, *both)
    assert refused.exit_code == 2
    assert "secret" in refused.stderr
    assert "notes" in run("convert", path, *both, "--allow-secret").stderr
    assert run("convert", path, *both, "--allow-secret", "--allow-loss").exit_code == 0
    again = run("convert", path, *both, "--allow-secret", "--allow-loss")
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr
    wanted = ("--allow-secret", "--allow-loss", "--overwrite")
    assert run("convert", path, *both, *wanted).exit_code == 0
    result = run("convert", path, *out, *wanted)
    assert (result.exit_code, "two files" in result.stderr) == (2, True)


def test_corpus_convert_can_leave_secrets_out(tmp_path: Path) -> None:
    entries = [entry(1, segment="gold_standard"), entry(2, segment="development")]
    path = json_file(tmp_path, entries)
    out = tmp_path / "public.json"
    refused = run("convert", path, "--to", "specification", "-o", out)
    assert refused.exit_code == 2
    assert "--segment development" in refused.stderr
    done = run("convert", path, "--to", "specification", "-o", out, "--segment", "development")
    assert (done.exit_code, done.stderr) == (0, "Written: 1 entry.\n")
    assert [row["id"] for row in json.loads(out.read_text("utf-8"))["entries"]] == [2]
    nothing = run("convert", path, "--to", "jsonl", "-o", tmp_path / "x", "--segment", "diagnostic")
    assert nothing.exit_code == 2
    assert "No entry is left" in nothing.stderr


def test_corpus_show_takes_columns_and_references(tmp_path: Path) -> None:
    languages = ("--source-language", "en", "--target-language", "mi")
    table = file(tmp_path, "english;plain;formal\nHello;Kia ora;Tēnā koe\n", "a.csv")
    named = ("--source-column", "1", "--reference-column", "formal")
    shown = run("show", table, *languages, *named, "--json")
    assert json.loads(shown.stdout)["statistics"]["reference"]["longest"] == len("Tēnā koe")
    parts = [file(tmp_path, f"{text}\n", f"{text}.txt") for text in ("Hello", "Kia ora", "Hei")]
    shown = run("show", *parts[:2], "--other-reference", parts[2], *languages)
    assert "1 in 1 entries" in shown.stdout
    alone = run("show", parts[0], "--other-reference", parts[2], *languages)
    assert "first file of references" in alone.stderr
    refused = run("show", *parts[:2], *languages, "--source-column", "1")
    assert "does not apply" in refused.stderr
