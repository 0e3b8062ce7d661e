"""``rosetta language``: list, show, check."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpora.languages.cards import find_card, list_cards
from corpora.languages.language import LanguageCard
from corpora.languages.shipped.epo.build import ANALYSER
from corpora.languages.writing import Forbidden, WritingSystem
from harness.core.failures import UsageError
from rosetta_tui.commands.language import language
from scoring.core.specification import specification
from tests.corpora.languages.least_card import LEAST
from tests.outside import FST, skip_without

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "languages.md"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "languages"
    folder.mkdir(parents=True)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(language, [str(argument) for argument in arguments])


def metrics(result: Result) -> dict[str, tuple[str, str]]:
    told = json.loads(result.stdout)["metrics"]
    return {row["id"]: (row["readiness"], row["note"]) for row in told}


def test_language_list_has_a_row_for_each_card(home: Path) -> None:
    result = run("list")
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == len(list(list_cards())) + 2
    assert re.search(r"^crk +Plains Cree +Latn Cans +- +shipped$", result.stdout, re.MULTILINE)
    (home / "se").mkdir()
    (home / "se" / "analyser-gt-norm.hfstol").write_bytes(b"x")
    rows = {row["tag"]: row for row in json.loads(run("list", "--json").stdout)}
    assert (rows["crk"]["scripts"], rows["crk"]["analyser"]) == (["Latn", "Cans"], None)
    assert rows["se"]["analyser"] == str(home / "se" / "analyser-gt-norm.hfstol")
    assert rows["se"]["aliases"] == ["sme"]


def test_language_list_goes_on_after_a_broken_card(home: Path) -> None:
    (home / "qaa.toml").write_text("tag = 1", "utf-8")
    (home / "crk.toml").write_text(LEAST, "utf-8")
    result = run("list")
    assert result.exit_code == 2
    assert "qaa.toml" in result.stderr
    assert re.search(r"^crk +Mine .* yours$", result.stdout, re.MULTILINE)


def test_language_show_says_every_fact() -> None:
    result = run("show", "cr")
    assert result.exit_code == 0
    for words in ("nêhiyawêwin", "written in Cans", "ā as â", "two vowels never meet", "sources"):
        assert words in result.stdout
    told = json.loads(run("show", "iku", "--json").stdout)
    found = find_card("iu")
    assert found is not None
    assert LanguageCard.model_validate(told["card"]) == found.card
    assert told["sha256"] == found.sha256


NEAR = {
    "cree": "crk (Plains Cree), csw (Swampy Cree)",
    "sámi": "se (Northern Sámi)",
    "spn": "es (Spanish)",
}


def test_language_show_answers_an_unknown_tag_with_near_ones() -> None:
    for tag, near in NEAR.items():
        failed = run("show", tag).exception
        assert isinstance(failed, UsageError)
        assert near in str(failed)
    failed = run("check", "qqqqqqq\x1b[2J").exception
    assert isinstance(failed, UsageError)
    assert str(failed).isprintable()


def test_language_check_without_an_analyser(home: Path) -> None:
    result = run("check", "crk", "--json")
    told = metrics(result)
    assert list(told) == list(specification().metrics)
    assert told["chrf_plus_plus"] == ("ready", "")
    assert told["orthographic_accuracy"] == ("ready", "")
    assert told["fst_acceptance_rate"] == ("off", "there is no analyser file")
    assert told["terminology_adherence"] == ("needs data", "a coaching dictionary")
    steps = json.loads(result.stdout)["steps"]
    commands = [command for step in steps for command in step["commands"]]
    assert f'cp crk-strict-analyzer.hfstol "{home / "crk"}"' in commands


def test_language_check_opens_its_analyser(home: Path) -> None:

    real = FST / "crk-strict-analyzer.hfstol"
    skip_without(real)
    (home / "crk").mkdir()
    shutil.copy(real, home / "crk")
    result = run("check", "crk", "--json")
    told = json.loads(result.stdout)
    assert told["analyser"]["status"] == "ok"
    assert told["analyser"]["engine"] in told["engines"]
    assert not told["analyser"]["acceptor"]
    assert metrics(result)["fst_acceptance_rate"][0] == "ready"
    assert metrics(result)["morphological_accuracy"][0] == "needs data"
    assert "with analyses" in run("check", "crk").stdout


def test_language_check_names_what_is_wrong_with_an_analyser(home: Path) -> None:
    for content in (b"", b"version https://git-lfs.github.com/spec/v1\n", b"\x00" * 99):
        (home / "sma.hfstol").write_bytes(content)
        result = run("check", "sma")
        assert result.exit_code == 0
        assert "(status model_invalid)" in result.stdout
        assert "put a sound analyser in place of the broken one" in result.stdout
    result = run("check", "tlh")
    assert (result.exit_code, str(home / "tlh.toml") in result.stdout) == (0, True)
    assert "There is no language card for 'tlh'" in result.stderr


def test_language_check_names_all_that_is_wrong_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "draft.toml"
    path.write_text(LEAST.replace('"Mine"', '""').replace('"a b"', '"z-a"'), "utf-8")
    result = run("check", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 2
    assert f"{path}, line 6, field 'writings.Latn.letters'" in result.stderr
    told = json.loads(run("check", path, "--json").stdout)
    assert [problem["line"] for problem in told["problems"]] == [2, 6]
    assert not told["usable"]


def test_language_shows_a_hostile_card_harmless(home: Path) -> None:
    text = LEAST.replace("Mine", r"\u001b[2JMine\u202e").replace(
        "[sources]", '[sources]\nname = "\\u001b]0;x\\u0007"'
    )
    (home / "crk.toml").write_text(text, "utf-8")
    for line in ("list", "show crk", "check crk", "list --json", "show crk --json"):
        result = run(*line.split())
        assert result.exit_code == 0
        assert result.output.replace("\n", "").isprintable()


def test_docs_language_card_is_right(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    path = tmp_path / "rm.toml"
    path.write_text(example, "utf-8")
    result = run("check", path)
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


def test_language_check_says_which_scripts_a_card_has() -> None:
    shown = run("check", "eo", "--source-language", "haw").stdout
    assert "no list; only each source's own words" in shown
    refused = run("check", "eo", "--source-language", "English")
    assert isinstance(refused.exception, UsageError)
    for script in ("Cans", "Cyrl", "Xyz"):
        assert (
            f"the card has no script {script}; it has Latn" in run("check", f"eo-{script}").stdout
        )
    assert json.loads(run("check", "eo-Cans", "--json").stdout)["no_script"]
    assert json.loads(run("check", "eo-Latn", "--json").stdout)["no_script"] is None


def test_language_check_says_which_script_an_analyser_reads(home: Path) -> None:
    (home / "crk").mkdir()
    shutil.copy(ANALYSER, home / "crk" / "crk.hfstol")  # Esperanto's: roman letters, no syllabics
    result = run("check", "crk-Cans")
    assert "crk.hfstol reads Latn, not Cans" in result.stdout
    told = metrics(run("check", "crk-Cans", "--json"))
    assert told["fst_acceptance_rate"] == ("off", "crk.hfstol reads Latn, not Cans")
    assert metrics(run("check", "crk", "--json"))["fst_acceptance_rate"] == ("ready", "")


def test_language_check_names_what_lies_in_its_place(home: Path) -> None:
    folder = home / "crk"
    folder.mkdir()
    (folder / "whatever.hfstol").write_bytes(b"x")
    said = "whatever.hfstol lies there: rename it to crk.hfstol, or name it with --analyser"
    assert said in run("check", "crk").stdout
    (folder / "whatever.hfstol").unlink()
    (folder / "crk.hfstol").mkdir()
    assert "crk.hfstol is a folder" in run("check", "crk").stdout
    (folder / "crk.hfstol").rmdir()
    (folder / "crk.hfstol").symlink_to(folder / "gone")
    assert "crk.hfstol is a link to a file that is not there" in run("check", "crk").stdout
    assert re.search(r"It may also be named .* or crk\.hfstol\.", run("check", "crk").stdout)


def test_language_card_that_breaks_its_reader_costs_a_row(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:  # fmt: skip
    from corpora.languages import cards
    from harness.doctor import examination
    from harness.doctor.finding import Health

    whole = cards.read_card

    def breaking(path: Path) -> cards.FoundCard:
        if path.stem == "crk":
            raise TypeError("a text that nobody should see")
        return whole(path)

    monkeypatch.setattr("corpora.languages.cards.read_card", breaking)
    listed = CliRunner().invoke(language, ["list"])
    assert listed.exit_code == 2
    assert "Esperanto" in listed.stdout
    assert "crk.toml: The card cannot be read (TypeError)." in listed.stderr
    assert "nobody should see" not in listed.output
    monkeypatch.setattr(examination, "read_card", breaking)
    found = {each.name: each for each in examination.languages(home)}
    assert found["crk"].health is Health.BROKEN
    assert len(found) > 1
