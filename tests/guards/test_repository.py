"""Rules of the whole: small files and functions, one name for a class, imports as the contracts say, no foreign bytes,
no machine's paths, a wheel that holds our packages and nothing else, and tests that reach no other machine; words
that a native engineer would not write are counted, and no count may rise.

A rule that one line shows is looked for in the text: parsing the whole tree takes longer than all these tests.
"""

from __future__ import annotations

import ast
import email
import re
import runpy
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from harness.core.version import VERSION
from tests import without_network
from tests.guards.tree import PACKAGES, ROOT, lines_with, sources
from tests.wheels import build_wheel

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SHIPPED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
ALONE = "review/verdict/stand_alone/rosetta_verify.py"
"""Runs on its own with nothing of the program beside it."""


def tracked(*folders: str) -> set[str]:
    done = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()}


@pytest.mark.parametrize(("folders", "most"), [(PACKAGES, 470), (("tests",), 600)])
def test_no_file_is_too_long_to_be_read_at_once(folders: tuple[str, ...], most: int) -> None:
    lengths = {path: text.count("\n") for path, text in sources(*folders).items() if path != ALONE}
    assert {path: count for path, count in lengths.items() if count > most} == {}


def function_lengths(text: str) -> Iterator[int]:
    """Yield the lines of each function, from ``def`` to the last line that is indented deeper."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if begin := re.match(r"( *)(?:async )?def ", line):
            deeper = begin.group(1) + " "
            last = number
            for place in range(number + 1, len(lines)):
                after = lines[place]
                if after.startswith((deeper, begin.group(1) + ")")):
                    last = place
                elif after:
                    break
            yield last - number + 1


def test_functions_fit_a_screen() -> None:
    lengths = sorted(length for text in sources(*PACKAGES).values() for length in function_lengths(text))
    assert len(lengths) > 4_000
    assert lengths[len(lengths) * 98 // 100] <= 40


def test_docstrings_use_the_imperative() -> None:
    """ "Give" stays for what is handed to somebody else."""
    folders = (*PACKAGES, "tests", "benchmarks", "packaging", "docs")
    third_person = r'^ *(?:(?:async )?def .*|\).*):\n +"""(?:Gives|Returns|Yields)\b'
    give = r'-> (?!None:)[^\n]+:\n +"""Give\b'
    assert lines_with(third_person, *folders) + lines_with(give, *folders) == []


RUNS_FOREIGN_BYTES = (
    r"^ *(?:import|from) (?:pickle|marshal|shelve|dill|cloudpickle|joblib|yaml)\b"
    r"|(?<![\w.`\"'])(?:eval|exec|compile)\("
)


@pytest.mark.parametrize(("line", "found"), [
    ("import pickle", True), ("    from marshal import loads", True), ("x = eval(text)", True),
    ("re.compile(text)", False), ("from pickled import x", False),
])  # fmt: skip
def test_a_line_that_would_run_foreign_bytes_is_found(line: str, found: bool) -> None:
    assert bool(re.search(RUNS_FOREIGN_BYTES, line)) == found


FORBIDDEN = {
    "runs foreign bytes": RUNS_FOREIGN_BYTES,
    # what one system alone can lock is locked by filelock, so that Windows keeps the same promises
    "locks on one system alone": r"\.(?:flock|lockf|locking|F_SETLK|F_OFD_SETLK|O_EXLOCK)\b",
    # templates escape and show in one place (harness/core/html_pages.py)
    "joins HTML by hand": r"</(?:p|td|th|tr|li|ul|div|body|html|table|h\d)>|^ *from html import escape",
    "silences a rule without its name": r"#\s*noqa(?!: [A-Z]+\d+).*|type: ignore$",
}


@pytest.mark.parametrize("why", FORBIDDEN)
def test_no_line_of_the_packages(why: str) -> None:
    assert lines_with(FORBIDDEN[why], *PACKAGES) == []


def test_no_vague_module_names() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "managers", "base", "common", "misc"}
    assert [path for path in sources(*PACKAGES) if Path(path).stem in vague] == []


MACHINE = r"(?<![\w.])/(?:wo" r"rk|ro" r"ot|home/\w+|Users/\w+)/|/tmp/ve" r"nv|C:\\Users"
REGISTRY = r"https?://[\w.-]*(?:pypi|pythonhosted|art" r"ifactory|nex" r"us|devpi)[\w.-]*/"
SIGNS = [
    each.replace("_", "").encode()
    for each in (
        *("/wo_rk/", "/ro_ot/", "/home/", "/Users/", "/tmp/ve_nv", "C:\\Users"),
        *("pypi", "pythonhosted", "art_ifactory", "nex_us", "devpi"),
    )
]
"""What every place has that the patterns find; looked for first, because it takes a tenth of the time."""


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    forbidden = re.compile(f"{MACHINE}|{REGISTRY}".encode())
    found = {
        name: match.group()[:100]
        for name, data in ((name, (ROOT / name).read_bytes()) for name in tracked())
        if any(each in data for each in SIGNS) and (match := forbidden.search(data))
    }
    assert found == {}


def test_test_modules_lie_in_packages_and_share_by_others() -> None:
    """A test file can have any name, and be moved, split or deleted without breaking another one."""
    tests = [Path(path) for path in sources("tests")]
    folders = {path.parent for path in tests if path.name.startswith("test_")}
    assert [folder for folder in folders if folder / "__init__.py" not in tests] == []
    assert lines_with(r"^\s*from tests\.(?:\w+\.)*test_\w+ import", "tests") == []


MOST_INDENTED = 224
"""Imports that are not at the top of a module: for the start of a command or a screen, or an optional library."""

_AT_THE_TOP = r"^(?:if TYPE_CHECKING|with when_used\(\)).*:\n(?:(?: .*)?\n)+"
_INDENTED = r"^ +(?:import \w[\w.]*(?: as \w+)?$|from [\w.]+ import )"


def test_imports_stand_at_the_top_of_their_modules() -> None:
    texts = (re.sub(_AT_THE_TOP, "", text, flags=re.MULTILINE) for text in sources(*PACKAGES).values())
    assert sum(len(re.findall(_INDENTED, text, re.MULTILINE)) for text in texts) <= MOST_INDENTED


def test_modules_of_commands_wait_in_one_way() -> None:
    """What waits in a block of ``when_used`` is not imported inside a function as well, and only commands have one."""
    waiting = {path: text for path, text in sources("rosetta_tui").items() if "\nwith when_used():" in text}
    ours = "|".join(PACKAGES)
    inside = rf"^ +from (?:{ours})[\w.]* import "
    apart = {path: re.sub(_AT_THE_TOP, "", text, flags=re.MULTILINE) for path, text in waiting.items()}
    assert [path for path, text in apart.items() if re.search(inside, text, re.MULTILINE)] == []
    assert [path for path in waiting if not str(path).startswith("rosetta_tui/commands/")] == []


def test_one_way_leads_from_a_thread_to_a_screen() -> None:
    """``bring`` checks that the screen is still there; nothing else may bring an answer from a thread."""
    places = lines_with(r"call_from_thread|run_coroutine_threadsafe", "rosetta_tui")
    assert {place.partition(":")[0] for place in places} == {"rosetta_tui/toolkit/background.py"}


# one public class, one name in the whole program

WINDOW = "review/desktop/"
TERMINAL = "rosetta_tui/review/rating/"
TWINS = {
    "Choices": "several answers with their digits, drawn by Qt and by Textual",
    "LessonBox": "the lesson after an answer",
    "Page": "what all pages of a face share",
    "PausePage": "what all pages without an item share",
    "Writing": "the box for a corrected translation",
    **dict.fromkeys(
        [
            *("ChoosePage", "ConsentPage", "EndPage", "HandOverPage", "HelpPage", "ItemPage"),
            *("LaterPage", "OrganisationPage", "RelationPage", "RestPage", "SharingPage"),
            *("WithdrawPage", "WithdrawnPage"),
        ],
        "one page of a rating, with the same texts and keys in the window and in the terminal",
    ),
}
"""The window and the terminal may each have a class of this name, because it is the same thing."""


@cache
def classes() -> dict[str, list[str]]:
    """Return the modules of each public class, those inside another class or a function too."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, text in sources(*PACKAGES, "packaging").items():
        for kind in re.findall(r"^ *class ([A-Z]\w*)[(:]", text, re.MULTILINE) * (name != ALONE):
            found[kind].append(name)
    return found


def faulty(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the names that more than one thing has."""
    return {
        name: places for name, places in found.items() if len(places) > 1 and not (name in TWINS and _one_each(places))
    }


def _one_each(places: list[str]) -> bool:
    return len(places) == 2 and all(any(place.startswith(face) for place in places) for face in (WINDOW, TERMINAL))


def test_no_public_class_has_the_name_of_another() -> None:
    assert len(classes()) > 500
    assert faulty(classes()) == {}
    assert [name for name in TWINS if not _one_each(classes().get(name, []))] == []


@pytest.mark.parametrize(("places", "good"), [
    ({"Page": [WINDOW + "frame/page.py", TERMINAL + "parts/page.py"]}, True),
    ({"Page": [WINDOW + "frame/page.py", WINDOW + "pages/page.py"]}, False),
    ({"Page": [WINDOW + "a.py", TERMINAL + "b.py", "harness/c.py"]}, False),
    ({"Verdict": [WINDOW + "a.py", TERMINAL + "b.py"]}, False),
])  # fmt: skip
def test_a_second_name_is_seen(places: dict[str, list[str]], good: bool) -> None:
    assert (faulty(places) == {}) == good


# the page of the architecture and the contracts of imports, each against the tree

PAGE = (ROOT / "docs" / "internals" / "architecture.md").read_text("utf-8")
NAMED = re.findall(r"`([a-z_]+/[\w/]*(?:\.\w+)?)(?:: (\w+))?`", PAGE)


def rooms() -> list[Path]:
    """Return the folders that hold code."""
    found = (path.parent for name in PACKAGES for path in (ROOT / name).rglob("__init__.py"))
    return sorted(room for room in found if any(room.glob("[!_]*.py")))


def test_the_map_is_what_its_generator_draws_with_every_room() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_architecture.py"))
    assert made["page"]() == PAGE, "run: python -P docs/make_architecture.py"
    blocks = made["drawing"]().split("\n\n")
    for package in PACKAGES:
        [block] = [each for each in blocks if each.startswith(f"{package}: ")]
        there = {room.name for room in rooms() if room.parent == ROOT / package}
        assert there <= set(re.findall(r"^  . (\w+)", block, re.MULTILINE)), package


def test_every_file_and_name_of_the_page_exists() -> None:
    assert len(set(NAMED)) > 80
    wrong = []
    for path, name in sorted(set(NAMED)):
        # folders of features are named without their package
        file = ROOT / path if (ROOT / path).exists() else ROOT / "rosetta_tui" / path
        if not file.exists():
            wrong.append(path)
        elif name and not re.search(rf"\b(?:def|class) {name}\b", file.read_text("utf-8")):
            wrong.append(f"{path}: {name}")
    assert wrong == [], "docs/internals/architecture.md names what is not there"


def test_every_room_says_in_one_plain_sentence_what_it_is() -> None:
    told: dict[str, str] = {}
    for room in rooms():
        name = str(room.relative_to(ROOT))
        said = ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or ""
        first = said.partition("\n\n")[0]
        assert first.endswith("."), f"{name} does not say in a sentence what it is"
        assert len(re.findall(r"\.(?:\s|$)", first)) == 1, f"{name}: one sentence, a blank line"
        assert 20 <= len(first) <= 120, f"{name}: {len(first)} characters"
        assert first not in told, f"{name} says the same as {told[first]}"
        told[first] = name


def test_every_import_contract_is_kept_and_covers_what_is_shipped() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    ran = [sys.executable, "-c", code]
    done = subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
    lint = PROJECT["tool"]["importlinter"]
    layers = next(each["layers"] for each in lint["contracts"] if each["type"] == "layers")
    assert sorted(lint["root_packages"]) == sorted(SHIPPED) == sorted(layers) == sorted(PACKAGES)
    assert set(PROJECT["tool"]["mypy"]["packages"]) == {*SHIPPED, "tests", "benchmarks"}
    assert [name for name in SHIPPED if not (ROOT / name / "py.typed").is_file()] == []


# the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(build_wheel(tmp_path_factory.mktemp("wheel")))


def test_wheel_holds_our_packages_whole_and_is_what_it_says(wheel: zipfile.ZipFile) -> None:
    held = set(wheel.namelist())
    tops = {name.partition("/")[0] for name in held}
    assert tops == {*SHIPPED, f"rosetta_tui-{VERSION}.dist-info"}
    names = tracked(*SHIPPED)
    assert names <= held
    kinds = {Path(name).suffix for name in names}
    assert kinds >= {".json", ".jsonl", ".tsv", ".toml", ".txt", ".tcss", ".typed"}
    assert not [name for name in held if name.endswith((".pyc", ".sqlite", ".log"))]
    folder = f"rosetta_tui-{VERSION}.dist-info"
    about = email.message_from_bytes(wheel.read(f"{folder}/METADATA"))
    assert about["Version"] == VERSION
    assert about["License-Expression"] == "Apache-2.0"
    assert f"{folder}/licenses/LICENSE" in wheel.namelist()
    scripts = wheel.read(f"{folder}/entry_points.txt").decode()
    assert "rosetta = rosetta_tui.cli:main" in scripts


# tests reach this machine only, and so do programs that they start where the system has namespaces

UNKNOWN = "a.machine.elsewhere"

WAYS: dict[str, Callable[[], object]] = {
    "8.8.8.8": lambda: socket.create_connection(("8.8.8.8", 53), timeout=0.01),
    "2600::1": lambda: socket.socket(socket.AF_INET6).connect(("2600::1", 9)),
    "10.0.0.1": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", ("10.0.0.1", 9)),
    "9.9.9.9": lambda: socket.socket(socket.AF_INET6).connect(("::ffff:9.9.9.9", 9)),
    UNKNOWN: lambda: socket.getaddrinfo(UNKNOWN, 80),
}


@pytest.mark.filterwarnings("ignore:unclosed")
@pytest.mark.parametrize("where", WAYS)
def test_another_machine_is_refused_and_the_test_would_fail(where: str) -> None:
    with pytest.raises(OSError, match="no other machine"):
        WAYS[where]()
    assert without_network.attempts == [where]
    without_network.attempts.clear()


NO_ROUTE = """
import errno, socket, sys
from tests.without_network import leave_network
try:
    leave_network()
except OSError:
    sys.exit(7)
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname(), timeout=5).close()
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def test_this_machine_is_reached_and_no_route_leads_out_of_it() -> None:
    with socket.create_server(("localhost", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
    for host in ("192.0.2.1", "nobody.example"):
        with pytest.raises(OSError, match="no other machine"):
            socket.create_connection((host, 9), timeout=0.01)
    assert without_network.attempts == []
    ran = [sys.executable, "-P", "-c", NO_ROUTE]
    done = subprocess.run(ran, check=False, capture_output=True, text=True, cwd=ROOT)
    if done.returncode == 7:
        pytest.skip("this system gives no namespace")
    assert done.stdout == "ENETUNREACH\n", done.stderr


VERBS = (
    "Say|Tell|Take|Let|Lay|Go|Put|Give|Hold|Bring|Have|Be|Do|Hear|Heed|Part|Look|See|Begin|Leave|Keep|Whether|What"
    "|Hand|Note|Know|Stand|Turn|Mend|Ask|Lie"
)
PHRASES = re.compile(
    r"\b(?:tells? of|(?:is|are|was|were) told|stands? (?:in|beside|there|on)|lies (?:in|beside|open|sealed)|goes on|went on"
    r"|go on|for want of|whoever|heeds?|mends?|parted|anew|at hand|in the place of|of its own|holds? (?:\w+ )?against"
    r"|laid out|looked at|there is not|as often as|so many|is no (?:word|answer|run|method|file|number)|gives? away"
    r"|beside it|taken in|put out|handed over|hand over|what is (?:scored|told|said|asked|kept)|who asks|by itself"
    r"|lets? \w+ go)\b",
    re.IGNORECASE,
)
QUOTED = {
    "is checked by whoever keeps the evidence": "stands in each coarse certificate that was signed",
}
"""Words of the program that may have a phrase all the same, and why."""
NAMES = r"(?:told|said|found|each)"
MOST = {
    r'^ *(?:async )?def [^"]*?:\n +r?"""(?:' + VERBS + r")\b": 1,
    r"^ *"
    + NAMES
    + r"(?:: [^=\n]+)? (?:=|\|=|\+=) ": 14,  # fields of records: a value `found` next to the expected one, words `said`
    r"\bfor (?:\w+, )*" + NAMES + r"(?:, \w+)* in ": 5,
    PHRASES.pattern: 409,  # comments, and docstrings of fields; what a program says has none (below)
}
"""How many places of the packages each pattern may have: lower a count when you have lowered it, never raise it."""
BARE = re.compile(
    r"^class (?:Ahead|Around|Became|Carries|Course|Curtain|Deed|Door|Ear|Elsewhere|Given|Helm|Here|Kept|Known|Left|Lift"
    r"|Lying|Made|Manner|Onward|Outlook|Parcel|Presence|Promise|Prospect|Purse|Putout|Remains|Said|Seen|Settling|Several"
    r"|Speaking|Speaks|Standing|Streak|Stretch|Taken|TakenIn|Takes|Telling|There|Told|Usual|Voices?|What|Where|Why|Wish)\b",
    re.MULTILINE,
)
MODULES = re.compile(
    r"/(?:words|wording|saying|acts|looking|taking_in|putting_out|handing_out|handing_over|making|worth|needs|held|apart"
    r"|widened|standing|go_on|telling|forms|ways_?out|showing)\.py$"
)


@pytest.mark.parametrize(("pattern", "most"), MOST.items())
def test_words_that_style_replaces_do_not_come_back(pattern: str, most: int) -> None:
    found = re.compile(pattern, re.MULTILINE)
    places = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()[-60:].strip()}"
        for path, text in sources(*PACKAGES).items()
        for match in found.finditer(text)
    ]
    assert len(places) <= most, places[-20:]


def phrases(text: str) -> list[str]:
    """Return the phrases of a text that STYLE replaces, those that may stay left out."""
    for quoted in QUOTED:
        text = re.sub(quoted, "", text, flags=re.IGNORECASE)
    return PHRASES.findall(text)


_DOCSTRING = r'^ *r?"""(?:.|\n)*?"""'
_OF_A_FUNCTION = r'(?:\A|:\n) *r?"""(?:.|\n)*?"""'
"""The docstring of a module, class or function; that of a field is counted above."""
_STRING = r'"((?:[^"\\\n]|\\.)*)"'


def texts(code: str) -> Iterator[str]:
    """Yield the docstrings of some code, and its strings without the values in braces, those in two lines as one."""
    yield from re.findall(_OF_A_FUNCTION, code)
    code = re.sub(r'"\n *f?"', "", re.sub(_DOCSTRING, "", code, flags=re.MULTILINE))
    yield from (re.sub(r"\{[^{}]*\}", "", found) for found in re.findall(_STRING, code))


def test_messages_use_the_words_of_style() -> None:
    places = [
        f"{path}: {found}"
        for path, code in sources(*PACKAGES).items()
        if PHRASES.search(code)
        for text in texts(code)
        for found in phrases(text)
    ]
    assert places == []


def test_docs_use_the_words_of_style() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG"))]
    assert [f"{page.name}: {found}" for page in pages for found in phrases(page.read_text("utf-8"))] == []


def test_classes_and_modules_are_named_for_what_they_are() -> None:
    assert [path for path, text in sources(*PACKAGES).items() if BARE.search(text)] == []
    assert [path for path in sources(*PACKAGES) if MODULES.search(path)] == []
