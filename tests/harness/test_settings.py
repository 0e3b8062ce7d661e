"""Settings and other files of a person: what they may hold, what is said of a wrong one, and that theirs stay theirs."""

import hashlib
import os
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.decode import MARKS, wide_encoding
from corpora.model.entry import Entry
from harness import settings
from harness.annotators.comet import comet_annotator
from harness.core.failures import UsageError
from harness.core.storage import MOST_BYTES, read_text
from harness.core.version import VERSION
from harness.endpoint.budget import Prices
from harness.inputs.dictionary import (
    holds_coaching,
    read_coaching,
    read_dictionary,
    read_gloss_dictionary,
    read_word_list,
)
from harness.inputs.outputs import read_outputs
from harness.inputs.prompt import load_prompt
from harness.method.option_table import METHODS
from harness.settings import Changes, Settings, change_settings, parse_settings, read_settings
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

ROOT = Path(__file__).parents[2]

FULL = Settings(
    theme="rosetta-light", endpoint="ours", model="example/translator-7b",
    prices=Path("/data/prices.toml"), exports=Path("/data/out"),
    publish="postgresql://ann@db.example.org/cards",
    language_folders=(Path("/data/fst"), Path("/data/cards")),
    endpoints={"ours": "https://llm.example.org/v1", "lab": "http://10.0.0.7:8000/v1"},
    keys={"home.compare": "C", "table.down": "j,ctrl+n"},
)  # fmt: skip
AS_CHANGES = asdict(FULL)

printable = st.text(
    st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1, max_size=30
).filter(lambda text: bool(text.strip()))
paths = printable.map(lambda name: Path("/", name))
names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,9}", fullmatch=True)
urls = names.map(lambda name: f"https://{name}.org/v1")
fields = {
    "theme": st.just("") | printable, "endpoint": st.just("") | printable,
    "model": st.just("") | printable, "prices": st.none() | paths, "exports": st.none() | paths,
    "language_folders": st.lists(paths, max_size=3, unique=True).map(tuple),
}  # fmt: skip
every = st.builds(
    Settings, **fields, endpoints=st.dictionaries(names, urls, max_size=3),
    keys=st.dictionaries(printable, names, max_size=3),
)  # fmt: skip


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
def test_any_changes_come_back(tmp_path_factory: pytest.TempPathFactory, all_of: list[Changes]) -> None:
    home, other = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("other")
    for each in all_of:
        assert change_settings(home, each) == read_settings(home)
    assert change_settings(other, *all_of) == read_settings(home)
    assert read_settings(other) == read_settings(home)


@examples(15, 100)
@given(every, changes)
def test_what_is_taken_back_is_as_before(before: Settings, each: Changes) -> None:
    back = settings.taking_back(each, before)
    assert settings.changed(settings.changed(before, each), back) == before


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
    told = [sys.executable, "-c", code, str(tmp_path)]
    writers = [subprocess.Popen([*told, name], cwd=ROOT) for name in "ab"]
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


@pytest.mark.parametrize(("text", "words"), [
    ("theme = 3", "line 1: field 'theme' wants text in quotation marks."),
    ("\n\ntheme = ' '", "line 3: field 'theme' is blank"),
    ('model = "a\\u001bb"', "line 1: field 'model' is blank, or holds a character"),
    ('colour = "red"', "line 1: field 'colour' is not known here. There are: theme, pane, columns, notices, endpoint"),
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
])  # fmt: skip
def test_what_is_wrong_is_said_with_file_line_field_and_mend(text: str, words: str) -> None:
    caught = refuses(UsageError, "", parse_settings, text, "settings.toml")
    assert str(caught).startswith("settings.toml: ")
    assert words in str(caught)
    assert "pass" not in str(caught).replace("password", "")


@examples(40, 500)
@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    said = "f: "
    try:
        parse_settings(text, "f")
    except UsageError as error:
        said = str(error)
    assert said.startswith("f: ")


def test_unreadable_settings_are_kept_aside(tmp_path: Path) -> None:
    for text in ("theme = ", "\n[unknown]\n"):
        (tmp_path / "settings.toml").write_text(text)
        change_settings(tmp_path, AS_CHANGES)
        assert read_settings(tmp_path) == FULL
    assert (tmp_path / "settings.broken-1.toml").read_text() == "theme = "
    assert (tmp_path / "settings.broken-2.toml").read_text() == "\n[unknown]\n"
    refuses(UsageError, "no text file can hold", change_settings, tmp_path, {"exports": Path("/\udc80")})
    assert read_settings(tmp_path) == FULL


def test_methods_are_told_what_they_take_and_urls() -> None:
    full = FULL.completed("chat", {"temperature": 0})
    assert full["endpoint"] == "https://llm.example.org/v1"
    assert (full["model"], full["prices"]) == ("example/translator-7b", Path("/data/prices.toml"))
    other = FULL.completed("chat", {"endpoint": "openai"})
    assert other["endpoint"] == "openai"
    assert "model" not in other
    lab = FULL.completed("chat", {"endpoint": "lab", "model": "m"})
    assert lab["endpoint"].endswith(":8000/v1")
    assert FULL.completed("api:deepl", {}) == {"prices": Path("/data/prices.toml")}
    assert FULL.completed("plug-in.py:Mine", {"endpoint": "lab"})["endpoint"].startswith("http:")
    for method, spec in METHODS.items():
        assert set(FULL.completed(method, {})) <= {*spec.needs, *spec.takes}, method
        assert Settings().completed(method, {}) == {}


def test_reading_loads_nothing_heavy(tmp_path: Path) -> None:
    change_settings(tmp_path, AS_CHANGES)
    code = "import sys; from pathlib import Path; from harness.settings import read_settings\n"
    code += "assert read_settings(Path(sys.argv[1])).theme\nprint(*sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert {"pydantic", "tomlkit", "httpx", "sqlite3", "keyring"}.isdisjoint(done.stdout.split())


ENTRIES = [Entry(id=1, source="cat", reference="kato")]
ZEROES = Path("/dev/zero")

READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "dictionary": (read_dictionary, "dog\thundo\ncat\tkato\n"),
    "glosses": (read_gloss_dictionary, "hundo\tdog\nkato\tcat\n"),
    "words": (read_word_list, "hundo\nkato\n"),
    "coaching": (read_coaching, '{"notes":\n ["Ne forgesu."]}\n'),
    "scores": (comet_annotator, "0.5\n0.75\n"),
    "outputs": (lambda path: read_outputs(path, ENTRIES), "id\toutput\n1\tkato\n"),
    "prompt": (lambda path: load_prompt(str(path)), "Translate:\n{source}\n"),
    "prices": (Prices, 'source = "mine"\nprice = []\n'),
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[Path], object], Path]:
    read, sound = READERS[request.param]
    path = tmp_path / ("file.json" if request.param == "coaching" else "file.tsv")
    path.write_text(sound, "utf-8")
    return read, path


Reader = tuple[Callable[[Path], object], Path]


def refused(reader: Reader, said: str) -> None:
    read, path = reader
    caught = refuses(UsageError, said, read, path)
    assert str(path) in str(caught)


def test_sound_file_is_read_with_a_mark_or_without(reader: Reader) -> None:
    read, path = reader
    assert read(path)
    plain = read_text(path, "it")[0]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_text(path, "it")[0] == plain
    assert read(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_read_by_its_mark_alone(reader: Reader, encoding: str) -> None:
    read, path = reader
    plain = read_text(path, "it")[0]
    wide = plain.encode(encoding)
    path.write_bytes(wide)
    refused(reader, r"line 1: in UTF-16, and not .* Save the file as UTF-8\.")
    path.write_bytes("\ufeff".encode(encoding) + wide)
    assert read_text(path, "it")[0] == plain
    assert read(path)
    lone = "\ud800".encode(encoding, "surrogatepass") + wide[-2:]
    path.write_bytes("\ufeff".encode(encoding) + "a\n\n".encode(encoding) + lone)
    refused(reader, r"line 3: not UTF-16\. Save")


def test_what_is_no_text_of_fair_size_is_refused(reader: Reader) -> None:
    path = reader[1]
    first, second, *rest = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([first, b"\xe2" + second, *rest]))
    refused(reader, r"line 2: not UTF-8\. Save")
    with path.open("ab") as file:
        file.truncate(2**40)  # sparse: it takes no place, and reading it would take all memory
    refused(reader, "larger than 256 MiB")
    path.unlink()
    refused(reader, r"cannot be read \(No such file|there is no such file|neither a file nor")
    path.mkdir()
    refused(reader, r"cannot be read|0 checkpoints|neither a file nor")
    if hasattr(os, "mkfifo"):  # which nobody waits for
        path.rmdir()
        os.mkfifo(path)
        refused(reader, "a pipe or a device, not a file|no such file|neither a file")


def test_what_cannot_be_read_holds_no_coaching(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert not holds_coaching(path)
    path.write_bytes(b'{"dictionary": {"\xff": "x"}}')
    assert not holds_coaching(path)
    path.write_text('{"dictionary": {"dog": "hundo"}}', "utf-8")
    assert holds_coaching(path)


def test_bound_itself_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 10)
    assert read_text(path, "it", 10)[0] == "x" * 10
    refuses(UsageError, "larger than 9 bytes", read_text, path, "it", 9)
    assert MOST_BYTES == 2**28
    refuses(UsageError, "no file can have this name", read_text, Path("a\0b"), "it")
    if ZEROES.exists():
        refuses(UsageError, "a pipe or a device, not a file", read_text, ZEROES, "the word list", 100)


@given(content=st.binary(max_size=60))
def test_any_bytes_are_text(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    try:
        text, sha256 = read_text(path, "it")
    except UsageError as failure:
        if wide_encoding(content) is not None or "unpack archives" in str(failure):
            return  # text of another encoding, or no text by its first bytes
        line = int(str(failure).partition("line ")[2].partition(":")[0])
        lines = content.split(b"\n")
        b"\n".join(lines[: line - 1]).decode("utf-8")  # all before the line is sound
        refuses(UnicodeDecodeError, "", lines[line - 1].decode, "utf-8")
    else:
        encoding = "utf-16" if content.startswith(MARKS) else "utf-8-sig"
        assert text == content.decode(encoding)
        assert sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_no_other_reader_waits_for_a_named_pipe(tmp_path: Path) -> None:
    from corpora.files.problems import CardError
    from corpora.languages.cards import read_card
    from harness.card.reading import read_card_bytes
    from harness.fst.model import AnalyserError, read_model
    from harness.method.options import MethodOptions
    from harness.shipped_methods.registry import by_path

    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    options = MethodOptions(source_language="en", target_language="eo")
    said: list[str] = []
    for read, kind in (
        (lambda: read_card(pipe), CardError),
        (lambda: read_card_bytes(pipe), UsageError),
        (lambda: read_model(pipe), AnalyserError),
        (lambda: by_path(f"{pipe}:Method", options), UsageError),
    ):
        caught = refuses(kind, "", read)
        said.append(str(caught))
    assert all("a pipe or a device, not a file" in words for words in said), said


def test_the_distribution_reads_its_version_where_the_cards_do() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert "version" not in project["project"]
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^VERSION = "(.*)"$', source.read_text("utf-8"), re.MULTILINE) == [VERSION]
