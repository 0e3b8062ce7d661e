"""Rules of the whole: small files, small functions, nothing that runs foreign bytes, no machine's paths.

A rule that one line shows is looked for in the text: parsing the whole tree takes longer than all these tests.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta")


@cache
def sources(*folders: str) -> dict[str, str]:
    """Return the text of each file under its path."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


def lines_with(pattern: str, *folders: str) -> list[str]:
    """Return ``file:line: text`` of each place that matches, ``^`` at the beginning of a line."""
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group().strip()}"
        for path, text in sources(*folders).items()
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]


def tracked() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize(("folders", "most"), [(PACKAGES, 450), (("tests",), 600)])
def test_no_file_is_too_long_to_be_read_at_once(folders: tuple[str, ...], most: int) -> None:
    whole = "review/verdict/stand_alone/rosetta_verify.py"
    lengths = {path: text.count("\n") for path, text in sources(*folders).items() if path != whole}
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
    lengths = sorted(
        length for text in sources(*PACKAGES).values() for length in function_lengths(text)
    )
    assert len(lengths) > 5_000
    assert lengths[len(lengths) * 98 // 100] <= 30


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


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import pickle", True),
        ("    from marshal import loads", True),
        ("x = eval(text)", True),
        ("re.compile(text)", False),
        ("from pickled import x", False),
    ],
)
def test_a_line_that_would_run_foreign_bytes_is_found(line: str, found: bool) -> None:
    assert bool(re.search(RUNS_FOREIGN_BYTES, line)) == found


def test_nothing_that_would_run_foreign_bytes_is_imported_or_called() -> None:
    assert lines_with(RUNS_FOREIGN_BYTES, *PACKAGES) == []


def test_locks_work_on_every_system() -> None:
    """What one system alone can lock is locked by filelock, so that Windows keeps the same promises."""
    assert lines_with(r"\.(?:flock|lockf|locking|F_SETLK|F_OFD_SETLK|O_EXLOCK)\b", *PACKAGES) == []


def test_every_silenced_rule_names_itself() -> None:
    assert lines_with(r"#\s*noqa(?!: [A-Z]+\d+).*|type: ignore$", *PACKAGES) == []


def test_no_vague_module_names() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "managers", "base", "common", "misc"}
    assert [path for path in sources(*PACKAGES) if Path(path).stem in vague] == []


MACHINE = r"(?<![\w.])/(?:wo" r"rk|ro" r"ot|home/\w+|Users/\w+)/|/tmp/ve" r"nv|C:\\Users"
REGISTRY = r"https?://[\w.-]*(?:pypi|pythonhosted|art" r"ifactory|nex" r"us|devpi)[\w.-]*/"


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    forbidden = re.compile(f"{MACHINE}|{REGISTRY}".encode())
    found = {
        str(path.relative_to(ROOT)): match.group()[:100]
        for path in tracked()
        if (match := forbidden.search(path.read_bytes()))
    }
    assert found == {}


def test_every_test_package_can_hold_a_file_of_any_name() -> None:
    tests = [Path(path) for path in sources("tests")]
    folders = {path.parent for path in tests if path.name.startswith("test_")}
    assert [folder for folder in folders if folder / "__init__.py" not in tests] == []


def test_test_modules_share_by_modules_without_tests() -> None:
    """A test file can be moved, split or deleted without breaking another one."""
    assert lines_with(r"^\s*from tests\.(?:\w+\.)*test_\w+ import", "tests") == []


MOST_INDENTED = 253
"""Imports that are not at the top of a module: for the start of a command or a screen, or an optional library."""

_AT_THE_TOP = r"^(?:if TYPE_CHECKING|with when_used\(\)).*:\n(?:(?: .*)?\n)+"
_INDENTED = r"^ +(?:import \w[\w.]*(?: as \w+)?$|from [\w.]+ import )"


def test_imports_stand_at_the_top_of_their_modules() -> None:
    texts = (
        re.sub(_AT_THE_TOP, "", text, flags=re.MULTILINE) for text in sources(*PACKAGES).values()
    )
    assert sum(len(re.findall(_INDENTED, text, re.MULTILINE)) for text in texts) <= MOST_INDENTED


def test_one_way_leads_from_a_thread_to_a_screen() -> None:
    """``bring`` checks that the screen is still there; nothing else may bring an answer from a thread."""
    places = lines_with(r"call_from_thread|run_coroutine_threadsafe", "rosetta_tui")
    assert {place.partition(":")[0] for place in places} == {"rosetta_tui/toolkit/background.py"}
