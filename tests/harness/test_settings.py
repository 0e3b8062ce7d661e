"""Settings: what a person's file may hold, what is said of one that is wrong, and that theirs stays theirs."""

from __future__ import annotations

import stat
import subprocess
import sys
import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import UsageError
from harness.method.shipped import TAKES
from harness.settings import (
    Changes,
    Settings,
    change_settings,
    changed,
    parse_settings,
    read_settings,
    taking_back,
)
from tests.review.thorough import examples

ROOT = Path(__file__).parents[2]

FULL = Settings(
    theme="rosetta-light",
    endpoint="ours",
    model="example/translator-7b",
    prices=Path("/data/prices.toml"),
    exports=Path("/data/out"),
    publish="postgresql://ann@db.example.org/cards",
    language_folders=(Path("/data/fst"), Path("/data/cards")),
    endpoints={"ours": "https://llm.example.org/v1", "lab": "http://10.0.0.7:8000/v1"},
    keys={"home.compare": "C", "table.down": "j,ctrl+n"},
)
AS_CHANGES = asdict(FULL)

printable = st.text(
    st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1, max_size=30
).filter(lambda text: bool(text.strip()))
paths = printable.map(lambda name: Path("/", name))
names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,9}", fullmatch=True)
urls = names.map(lambda name: f"https://{name}.org/v1")
fields = {
    "theme": st.just("") | printable,
    "endpoint": st.just("") | printable,
    "model": st.just("") | printable,
    "prices": st.none() | paths,
    "exports": st.none() | paths,
    "language_folders": st.lists(paths, max_size=3, unique=True).map(tuple),
}
every = st.builds(
    Settings,
    **fields,
    endpoints=st.dictionaries(names, urls, max_size=3),
    keys=st.dictionaries(printable, names, max_size=3),
)


def test_everything_comes_back_as_it_was_written(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "nowhere") == Settings()
    assert not (tmp_path / "nowhere").exists()
    change_settings(tmp_path / "new", AS_CHANGES)
    path = tmp_path / "new" / "settings.toml"
    assert read_settings(tmp_path / "new") == FULL
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert tomllib.loads(path.read_text("utf-8"))["keys"]["home.compare"] == "C"


tables = {
    "endpoints": st.dictionaries(names, st.none() | urls, max_size=3),
    "keys": st.dictionaries(printable, st.none() | names, max_size=3),
}
changes = st.fixed_dictionaries({}, optional=fields | tables)


@examples(8, 100)
@given(st.lists(changes, max_size=4))
def test_any_changes_one_by_one_or_at_once_come_back(
    tmp_path_factory: pytest.TempPathFactory, one_after_another: list[Changes]
) -> None:
    home, other = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("other")
    for each in one_after_another:
        assert change_settings(home, each) == read_settings(home)
    assert change_settings(other, *one_after_another) == read_settings(home)
    assert read_settings(other) == read_settings(home)


@examples(15, 100)
@given(every, changes)
def test_what_is_taken_back_is_as_before(before: Settings, each: Changes) -> None:
    assert changed(changed(before, each), taking_back(each, before)) == before


def test_only_what_is_named_changes_whoever_wrote_before(tmp_path: Path) -> None:
    change_settings(tmp_path, AS_CHANGES)
    assert change_settings(tmp_path, {"theme": "contrast"}) == replace(FULL, theme="contrast")
    other = {"other": "https://x.example"}
    change_settings(tmp_path, {"endpoints": other})
    assert read_settings(tmp_path).endpoints == {**FULL.endpoints, **other}
    change_settings(tmp_path, {"endpoints": {"other": None}}, {"theme": FULL.theme})
    assert read_settings(tmp_path) == FULL


@pytest.mark.thorough
def test_writers_side_by_side_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from harness.settings import change_settings\n"
        "for n in range(20): change_settings(Path(sys.argv[1]), {'keys': {f'{sys.argv[2]}{n}': 'x'}})"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], cwd=ROOT)
        for name in "ab"
    ]
    assert [each.wait() for each in writers] == [0, 0]
    assert len(read_settings(tmp_path).keys) == 40


def test_comments_and_order_of_the_person_stay(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        "# mine\n[keys]\n'home.mark' = 'm'  # my thumb is lame\n\n[endpoints]\n"
        'lab = "http://10.0.0.7:8000/v1" # down the hall\n'
    )
    before = read_settings(tmp_path)
    change_settings(tmp_path, {"theme": "rosetta-light", "keys": {"a": "b"}})
    text = path.read_text()
    assert "# mine" in text
    assert "'home.mark' = 'm'  # my thumb is lame" in text
    assert 'lab = "http://10.0.0.7:8000/v1" # down the hall' in text
    assert text.index("[keys]") < text.index("[endpoints]")
    assert read_settings(tmp_path).theme == "rosetta-light"
    change_settings(tmp_path, {"theme": "", "keys": {"a": None}})
    assert read_settings(tmp_path) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("theme = 3", "line 1: field 'theme' wants text in quotation marks."),
        ("\n\ntheme = ' '", "line 3: field 'theme' is blank"),
        ('model = "a\\u001bb"', "line 1: field 'model' is blank, or holds a character"),
        ('colour = "red"', "line 1: field 'colour' is not known here. There are: theme, endpoint"),
        ('prices = "prices.toml"', "line 1: field 'prices' must begin at the root or with ~"),
        ('language_folders = "/x"', "line 1: field 'language_folders' wants a list of folders"),
        ("endpoints = 1", "line 1: field 'endpoints' wants a table"),
        ('theme = "x"\n[endpoints]\nLab = "http://x"', "line 3: field 'endpoints.Lab' has a name"),
        ('[endpoints]\nlab = "ftp://x/"', "line 2: field 'endpoints.lab' wants a URL such as"),
        ('[endpoints]\nlab = "https://me:pass@x/"', "line 2: field 'endpoints.lab' wants a URL"),
        ('[endpoints]\nlab = "https://x/?key=1"', "line 2: field 'endpoints.lab' wants a URL"),
        ('[keys]\n"home.mark" = ","', "line 2: field 'keys.home.mark' wants names of keys"),
        ('[keys]\nhome.mark = "m"', "line 2: field 'keys.home' is a table. Put a name with a dot"),
        ("theme = ", "not valid TOML: Invalid value (at end of document). Correct it."),
        ("[[keys]]\n" * 2, "line 1: field 'keys' wants a table"),
        ("a = " + "[" * 5000, "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_file_line_field_and_mend(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings(text, "settings.toml")
    assert str(caught.value).startswith("settings.toml: ")
    assert words in str(caught.value)
    assert "pass" not in str(caught.value).replace("password", "")


@examples(40, 500)
@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    assert refusal(text).startswith("f: ")


def refusal(text: str) -> str:
    try:
        parse_settings(text, "f")
    except UsageError as error:
        return str(error)
    return "f: taken"


def test_unreadable_settings_are_kept_aside(tmp_path: Path) -> None:
    for text in ("theme = ", "\n[unknown]\n"):
        (tmp_path / "settings.toml").write_text(text)
        change_settings(tmp_path, AS_CHANGES)
        assert read_settings(tmp_path) == FULL
    assert (tmp_path / "settings.broken-1.toml").read_text() == "theme = "
    assert (tmp_path / "settings.broken-2.toml").read_text() == "\n[unknown]\n"


def test_path_that_no_text_can_hold_is_refused(tmp_path: Path) -> None:
    change_settings(tmp_path, AS_CHANGES)
    with pytest.raises(UsageError, match="no text file can hold"):
        change_settings(tmp_path, {"exports": Path("/\udc80")})
    assert read_settings(tmp_path) == FULL


def test_own_names_become_urls() -> None:
    full = FULL.completed("chat", {"temperature": 0})
    assert full["endpoint"] == "https://llm.example.org/v1"
    assert (full["model"], full["prices"]) == ("example/translator-7b", Path("/data/prices.toml"))
    other = FULL.completed("chat", {"endpoint": "openai"})
    assert other["endpoint"] == "openai"
    assert "model" not in other
    assert FULL.completed("chat", {"endpoint": "lab", "model": "m"})["endpoint"].endswith(
        ":8000/v1"
    )
    assert FULL.completed("api:deepl", {}) == {"prices": Path("/data/prices.toml")}
    assert FULL.completed("plug-in.py:Mine", {"endpoint": "lab"})["endpoint"].startswith("http:")


def test_methods_are_told_only_what_they_take() -> None:
    for method, spec in TAKES.items():
        assert set(FULL.completed(method, {})) <= {*spec.needs, *spec.takes}, method
        assert Settings().completed(method, {}) == {}


def test_reading_loads_nothing_heavy(tmp_path: Path) -> None:
    change_settings(tmp_path, AS_CHANGES)
    code = "import sys; from pathlib import Path; from harness.settings import read_settings\n"
    code += "assert read_settings(Path(sys.argv[1])).theme\nprint(*sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert {"pydantic", "tomlkit", "httpx", "sqlite3", "keyring"}.isdisjoint(done.stdout.split())
