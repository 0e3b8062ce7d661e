"""A method in a box: what it gets, what it gives, how much memory it has, and what becomes of one that fails."""

import base64
import errno
import hashlib
import sys
import zipfile
from pathlib import Path
from typing import NoReturn

import pytest

from harness.box import bubblewrap
from harness.box.boxed import boxed_method
from harness.box.code import BoxedCode
from harness.box.control_groups import control_group
from harness.box.engine import Inside
from harness.box.engines import find_engine
from harness.box.failures import BoxFailure, BoxStage, Manner, WhoseFault
from harness.box.limits import Limits
from harness.core.failures import ErrorClass, HarnessError, UsageError
from tests.harness.box.making import SMALL, asked, boxed, needs_engine, setup, written
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first

UPPER = "def translate(texts):\n    return [text.upper() for text in texts]\n"


@needs_engine
def test_gives_texts_of_any_script_or_none(tmp_path: Path) -> None:
    found = asked(boxed(tmp_path, UPPER), ["saluton", "ĉu\nne"], ["bone"])
    texts = [[output.text for output in batch] for batch in found]
    assert texts == [["SALUTON", "ĈU\nNE"], ["BONE"]]
    # Adlam and Osage lie beyond U+FFFF, where JSON writes a character as two escapes
    code = "def translate(texts):\n    return [texts[0] * 2000]\n"
    found = asked(boxed(tmp_path, code), ["\U0001e900"], ["\U000104b0"], ["ĉ"])
    assert [len(output.text or "") for [output] in found] == [2000] * 3
    code = "def translate(texts):\n    return [None, 'b']\n"
    [outputs] = asked(boxed(tmp_path, code), ["a", "b"])
    assert [output.error_class for output in outputs] == [ErrorClass.EMPTY, None]


FORMS = (
    "def translate(texts, options):\n    return [options['word'] + text for text in texts]\n",
    "class translate:\n    def __init__(self, options):\n        self.word = options['word']\n"
    "    def translate(self, texts):\n        return [self.word + text for text in texts]\n",
)


@needs_engine
def test_forms_of_entry_points(tmp_path: Path) -> None:
    for form in FORMS:
        [[output]] = asked(boxed(tmp_path, form, options={"word": "x"}), ["a"])
        assert output.text == "xa"


@needs_engine
def test_one_that_raises_costs_its_entry_alone(tmp_path: Path) -> None:
    code = "def translate(texts):\n    if texts == ['bad']:\n        raise ValueError(texts)\n    return texts\n"
    method = boxed(tmp_path, code)
    found = asked(method, ["good"], ["bad"], ["good"])
    assert [output.text for [output] in found] == ["good", None, "good"]
    assert found[1][0].error == "The method failed at a text: it ended."
    assert "ValueError: ['bad']" in method.words


@needs_engine
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has an order of what it ends")
def test_a_box_goes_before_the_program_where_memory_is_short(tmp_path: Path) -> None:
    code = "def translate(texts):\n    return [open('/proc/self/oom_score_adj').read().strip()]\n"
    [[output]] = asked(boxed(tmp_path, code), ["a"])
    assert output.text == "1000"


@needs_engine
def test_begun_anew_no_more_than_allowed(tmp_path: Path) -> None:
    method = boxed(tmp_path, "import there_is_no_such_module\n")
    found = asked(method, ["a"], ["b"])
    words = "The method, or its model, could not be loaded: it ended."
    assert {output.error for [output] in found} == {words}
    assert (method.failure.stage, method.failure.fault) == (BoxStage.LOAD, WhoseFault.ENTRANT)
    limits = SMALL.model_copy(update={"restarts": 1})
    method = boxed(tmp_path, "def translate(texts):\n    raise SystemExit\n", limits)
    found = asked(method, ["a"], ["b"], ["c"])
    assert [output.error for [output] in found][1:] == [
        "The method failed at a text: it ended.",
        "The method failed at a text: it had to be started too often.",
    ]


class Useless:
    """An engine that may be missing, and has no room for a box."""

    name = "useless"
    holds_secrets = True

    def __init__(self, missing: str | None) -> None:
        self._missing = missing

    def lacking(self) -> str | None:
        return self._missing

    def launch(self, inside: Inside, limits: Limits) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_missing_engine_and_words_of_failures() -> None:
    words = "No box can be made on this computer: Install it"
    refuses(HarnessError, words, find_engine, [Useless("Install it")])
    for stage in BoxStage:
        for manner in Manner:
            failure = BoxFailure(stage, manner)
            assert str(failure).endswith(".")
            custodians = stage in {BoxStage.ENGINE, BoxStage.GATEWAY}
            assert (failure.fault is WhoseFault.CUSTODIAN) == custodians


def test_wrong_code_entry_points_and_limits_are_refused(tmp_path: Path) -> None:
    for entry in ("method", "method:", "me thod:translate", "../method:translate", "a.b:c.d"):
        refuses(UsageError, "MODULE:NAME", BoxedCode(tmp_path, entry).check)
    for field in ("memory_bytes", "processes", "disk_bytes", "entry_seconds"):
        refuses(ValueError, field, Limits.model_validate, {field: 0})
    folder = written(tmp_path / "code", UPPER)
    (folder / "other.py").symlink_to("/etc/passwd")
    refuses(UsageError, "is a link", BoxedCode(folder, "method:translate").check)
    lone = BoxedCode(tmp_path, "method:translate", wheels=tmp_path)
    refuses(UsageError, "go together", lone.check)  # wheels without hashes


def test_a_full_disk_is_no_fault_of_the_method(tmp_path: Path) -> None:
    code = BoxedCode(written(tmp_path, UPPER), "method:translate")
    method = boxed_method(code, SMALL, Useless(None), None, setup())
    error = refuses(BoxFailure, "", asked, method, ["a"])
    assert (error.stage, error.fault) == (BoxStage.ENGINE, WhoseFault.CUSTODIAN)


@needs_engine
@pytest.mark.skipif(sys.platform != "linux", reason="another engine has other programs")
def test_engine_that_breaks_is_the_custodians(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bubblewrap is there when it is looked for, and makes no box when it is asked to."""
    method = boxed(tmp_path, UPPER)
    monkeypatch.setattr(bubblewrap, "starts", lambda: ["/there/is/no/python"])
    assert refuses(BoxFailure, "", asked, method, ["a"]).fault is WhoseFault.CUSTODIAN


# A limit of memory for a whole box by the systemd of a user's session, whose program is played here

LOOKS = """
import os
def translate(texts):
    with open("/proc/1/environ") as first, open("/proc/self/limits") as limits:
        memory = [line.split()[3] for line in limits if line.startswith("Max address space")]
        return [" ".join([*memory, *first.read().split(chr(0))]).strip()]
"""
PLAYS = """#!/bin/sh
printf "%s " "$@" | tr "\\n" " " >> {log}
echo >> {log}
for each; do case "$each" in MemoryMax=*) most=${{each#MemoryMax=}};; esac; done
while [ "$1" != -- ]; do shift; done
shift
case "$*" in *memory.max*) echo {said}; exit;; esac
exec "$@"
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session of systemd's in which this user may make no group; its program is written by the test."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/of-nobody")
    made = "harness.box.control_groups._made"  # root makes groups, an ordinary user none
    monkeypatch.setattr(made, lambda limits: None)
    return folder / "systemd-run"


def _written(path: Path, said: str) -> Path:
    log = path.with_name("log")
    path.write_text(PLAYS.format(log=log, said=said), encoding="utf-8")
    path.chmod(0o755)
    return log


@needs_engine
def test_a_box_of_an_ordinary_user_is_begun_in_a_scope(played: Path, tmp_path: Path) -> None:
    log = _written(played, "$most")
    [[output]] = asked(boxed(tmp_path / "code", LOOKS), ["a"])
    assert output.text == "unlimited PWD=/"
    last = log.read_text("utf-8").splitlines()[-1]
    assert last.startswith("--user --scope --quiet --collect --property MemoryMax=536870912 ")
    assert "--property MemorySwapMax=0 -- " in last


@needs_engine
def test_scope_whose_limit_does_not_hold_is_not_used(played: Path, tmp_path: Path) -> None:
    log = _written(played, "max")
    [[output]] = asked(boxed(tmp_path / "code", LOOKS), ["a"])
    assert output.text == f"{SMALL.memory_bytes} PWD=/"
    assert "bwrap" not in log.read_text("utf-8")


def test_without_a_session_nothing_is_asked(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _written(played, "$most")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    with control_group(Limits()) as joining:
        assert joining == []
    assert not log.exists()


SHOUTS = "import shout\ndef translate(texts):\n    return [shout.loud(text) for text in texts]\n"
WIDE = SMALL.model_copy(update={"disk_bytes": 64 << 20})


def wheel(folder: Path, code: str = "def loud(text):\n    return text.upper()\n", **more: str) -> Path:  # fmt: skip
    folder.mkdir(exist_ok=True)
    path = folder / "shout-1.0-py3-none-any.whl"
    files = {
        "shout.py": code,
        "shout-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n",
        "shout-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    } | more
    record = [f"{name},{_hash(content)},{len(content)}" for name, content in files.items()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        name = "shout-1.0.dist-info/RECORD"
        archive.writestr(name, "\n".join([*record, f"{name},,"]))
    return path


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def required(folder: Path, line: str) -> Path:
    path = folder / "requirements.txt"
    path.write_text(line + "\n", encoding="utf-8")
    return path


@needs_engine
def test_wheel_is_installed_and_no_source_archive(tmp_path: Path) -> None:
    digest = hashlib.sha256(wheel(tmp_path / "wheels").read_bytes()).hexdigest()
    needs = required(tmp_path, f"shout==1.0 --hash=sha256:{digest}")
    method = boxed(tmp_path / "code", SHOUTS, WIDE, wheels=tmp_path / "wheels", requirements=needs)
    [[output]] = asked(method, ["a"])
    assert output.text == "A", method.words
    (tmp_path / "sources").mkdir()
    source = tmp_path / "sources" / "shout-1.0.tar.gz"
    source.write_bytes(b"would be run")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    needs = required(tmp_path, f"shout==1.0 --hash=sha256:{digest}")
    method = boxed(tmp_path / "code", SHOUTS, WIDE, wheels=tmp_path / "sources", requirements=needs)
    asked(method, ["a"])
    assert method.failure.stage is BoxStage.INSTALL


@needs_engine
@pytest.mark.parametrize("line", first(2, [
    f"shout==1.0 --hash=sha256:{'0' * 64}", "--index-url https://192.0.2.1/simple\nshout==1.0",
    "shout==1.0", "shout @ file:///box/wheels/shout-1.0-py3-none-any.whl",
    f"absent==1.0 --hash=sha256:{'0' * 64}",
]))  # fmt: skip
def test_another_file_than_the_hash_names_is_not(tmp_path: Path, line: str) -> None:
    wheel(tmp_path / "wheels")
    needs = required(tmp_path, line)
    method = boxed(tmp_path / "code", SHOUTS, WIDE, wheels=tmp_path / "wheels", requirements=needs)
    [[output]] = asked(method, ["a"])
    assert "could not be installed from the wheels" in (output.error or "")
    assert method.failure.stage is BoxStage.INSTALL
