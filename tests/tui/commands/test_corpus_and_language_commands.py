"""``rosetta corpus``: check, show, convert; and ``rosetta language``: list, show, check."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpora.languages import cards
from corpora.languages.cards import LanguageCard, find_card
from corpora.languages.shipped.epo.build import ANALYSER
from corpora.languages.tags import SHIPPED, list_cards
from corpora.languages.writing import Forbidden, WritingSystem
from corpora.model.corpus import Form
from harness.core.failures import UsageError
from harness.doctor import examination
from harness.doctor.finding import Health
from harness.method.option_table import FORMS, WRITTEN
from harness.setup import language_check
from rosetta_tui.commands.corpus import corpus
from rosetta_tui.commands.language import language
from scoring.core.specification import specification
from tests.corpora.making import LEAST, entry, json_file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(corpus, [str(argument) for argument in arguments])


def test_corpus_forms_are_those_of_the_library() -> None:
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
    needed = {"name": "development entries", "needed": 30, "found": 0, "short_by": 30}
    assert told["requirements"][1] == needed | {"note": "", "met": False}
    assert [problem["field"] for problem in told["problems"]] == ["register"]
    bad = run("check", json_file(tmp_path, [entry(1, difficulty=9)]), "--json")
    assert bad.exit_code == 2
    assert json.loads(bad.stdout)["problems"][0]["entry"] == 1


def test_corpus_show_prints_no_entry_and_nothing_hostile(tmp_path: Path) -> None:
    acting = "\x1b]0;x\x07\u202e"
    rows = [entry("\x1b[2J", source="KONFIDENCA", segment="held_out", register=acting)]
    path = json_file(tmp_path, rows, language_pair="\x1b[31mEN→CRK")
    for command in ("show", "check"):
        for extra in ((), ("--json",)):
            result = run(command, path, *extra)
            assert result.exit_code == 0
            told = result.stdout + result.stderr
            assert "KONFIDENCA" not in told
            assert told.replace("\n", "").isprintable()


def test_corpus_check_and_show_say_where_texts_may_go(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry()], license="CC-BY-ND-4.0")
    for command in ("check", "show"):
        told = json.loads(run(command, path, "--json").stdout)["terms"]
        assert (told["transmission"], told["because"]) == ("local-only", "license: CC-BY-ND-4.0")
        line = "terms: no text leaves this machine (license: CC-BY-ND-4.0)"
        assert line in run(command, path).stdout


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


ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "languages.md"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "languages"
    folder.mkdir(parents=True)
    return folder


def on_languages(*arguments: object) -> Result:
    return CliRunner().invoke(language, [str(argument) for argument in arguments])


def metrics(result: Result) -> dict[str, tuple[str, str]]:
    told = json.loads(result.stdout)["metrics"]
    return {row["id"]: (row["readiness"], row["note"]) for row in told}


def test_language_list_has_a_row_for_each_card(home: Path) -> None:
    result = on_languages("show")
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == len(list(list_cards())) + 2
    assert re.search(r"^crk +Plains Cree +Latn Cans +- +shipped$", result.stdout, re.MULTILINE)
    (home / "se").mkdir()
    (home / "se" / "analyser-gt-norm.hfstol").write_bytes(b"x")
    rows = {row["tag"]: row for row in json.loads(on_languages("show", "--json").stdout)}
    assert (rows["crk"]["scripts"], rows["crk"]["analyser"]) == (["Latn", "Cans"], None)
    assert rows["se"]["analyser"] == str(home / "se" / "analyser-gt-norm.hfstol")
    assert rows["se"]["aliases"] == ["sme"]


def test_language_show_says_every_fact() -> None:
    result = on_languages("show", "cr")
    assert result.exit_code == 0
    for words in ("nêhiyawêwin", "written in Cans", "ā as â", "two vowels never meet", "sources"):
        assert words in result.stdout
    told = json.loads(on_languages("show", "iku", "--json").stdout)
    found = find_card("iu")
    assert found is not None
    assert LanguageCard.model_validate(told["card"]) == found.card
    assert told["sha256"] == found.sha256


def test_language_show_answers_an_unknown_tag_with_near_ones() -> None:
    failed = on_languages("show", "cree").exception
    assert isinstance(failed, UsageError)
    assert "crk (Plains Cree), csw (Swampy Cree)" in str(failed)
    failed = on_languages("check", "qqqqqqq\x1b[2J").exception
    assert isinstance(failed, UsageError)
    assert str(failed).isprintable()
    result = on_languages("check", "tlh")
    assert (result.exit_code, "no language card for 'tlh'" in result.stderr) == (0, True)


def test_language_check_without_an_analyser(home: Path) -> None:
    result = on_languages("check", "crk", "--json")
    told = metrics(result)
    assert list(told) == list(specification().metrics)
    assert told["chrf_plus_plus"] == ("ready", "")
    assert told["orthographic_accuracy"] == ("ready", "")
    assert told["fst_acceptance_rate"] == ("off", "there is no analyser file")
    assert told["terminology_adherence"] == ("needs data", "a coaching dictionary")
    steps = json.loads(result.stdout)["steps"]
    commands = [command for step in steps for command in step["commands"]]
    assert f'cp crk-strict-analyzer.hfstol "{home / "crk"}"' in commands


def test_language_check_names_all_that_is_wrong_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "draft.toml"
    path.write_text(LEAST.replace('"Mine"', '""').replace('"a b"', '"z-a"'), "utf-8")
    result = on_languages("check", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 2
    assert f"{path}, line 6, field 'writings.Latn.letters'" in result.stderr
    told = json.loads(on_languages("check", path, "--json").stdout)
    assert [problem["line"] for problem in told["problems"]] == [2, 6]
    assert not told["usable"]


def test_language_shows_a_hostile_card_harmless(home: Path) -> None:
    text = LEAST.replace("Mine", r"\u001b[2JMine\u202e").replace("[sources]", '[sources]\nname = "\\u001b]0;x\\u0007"')
    (home / "crk.toml").write_text(text, "utf-8")
    for line in ("show", "show crk", "check crk", "show --json", "show crk --json"):
        result = on_languages(*line.split())
        assert result.exit_code == 0
        assert result.output.replace("\n", "").isprintable()


def test_docs_language_card_is_right(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    path = tmp_path / "rm.toml"
    path.write_text(example, "utf-8")
    result = on_languages("check", path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("rm  Romansh, script Latn\n")
    found = find_card("roh", [tmp_path])
    assert found is not None
    assert found.card.writing("Latn").forbidden[0].stands_in("wär")


def test_docs_name_every_field_of_a_language_card() -> None:
    page = PAGE.read_text("utf-8")
    first = (line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    rows = set(re.findall(r"`(\w+)`", "\n".join(first)))
    assert LanguageCard.model_fields.keys() | WritingSystem.model_fields.keys() <= rows
    example = tomllib.loads(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    [forbidden, *_] = example["writings"]["Latn"]["forbidden"]
    assert Forbidden.model_fields.keys() <= forbidden.keys()


def test_language_check_says_which_scripts_there_are(home: Path) -> None:
    assert isinstance(on_languages("check", "eo", "--source-language", "No Such Tongue").exception, UsageError)
    assert "the card has no script Cans; it has Latn" in on_languages("check", "eo-Cans").stdout
    assert json.loads(on_languages("check", "eo-Cans", "--json").stdout)["no_script"]
    assert json.loads(on_languages("check", "eo-Latn", "--json").stdout)["no_script"] is None
    (home / "crk").mkdir()
    shutil.copy(ANALYSER, home / "crk" / "crk.hfstol")  # Esperanto's: roman letters, no syllabics
    told = metrics(on_languages("check", "crk-Cans", "--json"))
    assert told["fst_acceptance_rate"] == ("off", "crk.hfstol reads Latn, not Cans")
    assert metrics(on_languages("check", "crk", "--json"))["fst_acceptance_rate"] == ("ready", "")


def test_language_card_that_breaks_its_reader_costs_a_row(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    whole = cards.read_card

    def breaking(path: Path) -> cards.FoundCard:
        if path.stem == "crk":
            raise TypeError("a text that nobody should see")
        return whole(path)

    monkeypatch.setattr(cards, "read_card", breaking)
    listed = on_languages("show")
    assert listed.exit_code == 2
    assert "Esperanto" in listed.stdout
    assert "crk.toml: The card cannot be read (TypeError)." in listed.stderr
    assert "nobody should see" not in listed.output
    monkeypatch.setattr(language_check, "read_card", breaking)
    (home / "languages").mkdir(parents=True, exist_ok=True)
    shutil.copy(SHIPPED / "crk.toml", home / "languages")
    found = {each.name: each for each in examination.languages(home)}
    assert found["crk"].health is Health.BROKEN
    assert len(found) > 1
