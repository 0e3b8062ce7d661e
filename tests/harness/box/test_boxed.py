"""A method in a box: what it gets, what it gives, how much memory it has, and what becomes of one that fails."""

import base64
import errno
import hashlib
import json
import os
import re
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import Mock

import pytest

from harness.box import engines
from harness.box import engines as known
from harness.box.boxed import boxed_method
from harness.box.engine import BoxedCode, BoxFailure, BoxStage, ExitReason, Inside, Limits, WhoseFault
from harness.box.engines import Bubblewrap, Podman, control_group, find_engine, walls
from harness.box.seccomp import DENIED, filter_program, rules_by_name
from harness.core.failures import ErrorClass, HarnessError, UsageError
from tests.harness.box.adversaries import NAMES, REACHING, UNRULY
from tests.harness.box.making import SMALL, asked, boxed, needs_engine, outside_of, run_as_nobody, setup, written
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
    """class translate:
    def __init__(self, options):
        self.word = options['word']
    def translate(self, texts):
        return [self.word + text for text in texts]
""",
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
    limits = replace(SMALL, restarts=1)
    method = boxed(tmp_path, "def translate(texts):\n    raise SystemExit\n", limits)
    found = asked(method, ["a"], ["b"], ["c"])
    assert [output.error for [output] in found][1:] == [
        "The method failed at a text: it ended.",
        "The method failed at a text: it had to be started too often.",
    ]


class Useless:
    """An engine that may be missing, and has no room for a box."""

    name = "useless"

    def __init__(self, missing: str | None) -> None:
        self._missing = missing

    def lacking(self) -> str | None:
        return self._missing

    def launch(self, inside: Inside, limits: Limits) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_wrong_code_entry_points_and_limits_are_refused(tmp_path: Path) -> None:
    for entry in ("method", "method:", "me thod:translate", "../method:translate", "a.b:c.d"):
        refuses(UsageError, "MODULE:NAME", BoxedCode(tmp_path, entry).check)
    for field, values in (
        ("memory_bytes", (0, (1 << 20) - 1)), ("disk_bytes", (0, (1 << 20) - 1)), ("processes", (0, 3)), ("restarts", (-1,)),
        ("entry_seconds", (0, -1.0, inf, nan)), ("answer_characters", (0, (1 << 20) + 1)),
    ):  # fmt: skip
        for value in values:
            refuses(ValueError, field, Limits, **{field: value})
    folder = written(tmp_path / "code", UPPER)
    (folder / "other.py").symlink_to("/etc/passwd")
    refuses(UsageError, "is a link", BoxedCode(folder, "method:translate").check)
    lone = BoxedCode(tmp_path, "method:translate", wheels=tmp_path)
    refuses(UsageError, "go together", lone.check)  # wheels without hashes
    words = "No box can be made on this computer: Install it"
    refuses(HarnessError, words, find_engine, [Useless("Install it")])
    for stage in BoxStage:
        for manner in ExitReason:
            failure = BoxFailure(stage, manner)
            assert str(failure).endswith(".")
            custodians = stage in {BoxStage.ENGINE, BoxStage.GATEWAY}
            assert (failure.fault is WhoseFault.CUSTODIAN) == custodians


def test_a_full_disk_is_no_fault_of_the_method(tmp_path: Path) -> None:
    code = BoxedCode(written(tmp_path, UPPER), "method:translate")
    method = boxed_method(code, SMALL, Useless(None), None, setup())
    error = refuses(BoxFailure, "", asked, method, ["a"])
    assert (error.stage, error.fault) == (BoxStage.ENGINE, WhoseFault.CUSTODIAN)


@needs_engine
@pytest.mark.skipif(sys.platform != "linux", reason="another engine has other programs")
def test_broken_engine_is_the_custodians(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """bubblewrap is there when it is looked for, and makes no box when it is asked to."""
    method = boxed(tmp_path, UPPER)
    monkeypatch.setattr(engines, "starts", lambda: ["/there/is/no/python"])
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
    made = "harness.box.engines._made"  # root makes groups, an ordinary user none
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
WIDE = replace(SMALL, disk_bytes=64 << 20)


def wheel(folder: Path, code: str = "def loud(text):\n    return text.upper()\n", **more: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "shout-1.0-py3-none-any.whl"
    files = {
        "shout.py": code,
        "shout-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n",
        "shout-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    } | more
    record = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest())
        record.append(f"{name},sha256={digest.decode().rstrip('=')},{len(content)}")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        name = "shout-1.0.dist-info/RECORD"
        archive.writestr(name, "\n".join([*record, f"{name},,"]))
    return path


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


ALLOW, KILL, NOT_PERMITTED, NO_SUCH_CALL = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026


def verdict(machine: str, audit: int, number: int, first: int = 0, second: int = 0) -> int:
    """Run a filter as the kernel does: seccomp(2)'s words of the call, and the instructions of classic BPF."""
    program = filter_program(machine) or b""
    data = struct.pack("=iIQ6Q", number, audit, 0, first, second, 0, 0, 0, 0)
    at, loaded = 0, 0
    while True:
        code, when, otherwise, value = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            [loaded] = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            met = {0x15: loaded == value, 0x25: loaded > value, 0x45: bool(loaded & value)}[code]
            at += when if met else otherwise


MACHINES = [("x86_64", 0xC000003E, 0, 41, 56), ("aarch64", 0xC00000B7, 1, 198, 220)]


@pytest.mark.parametrize(("machine", "audit", "place", "socket", "clone"), MACHINES)
def test_refused_calls(machine: str, audit: int, place: int, socket: int, clone: int) -> None:
    for numbers in DENIED.values():
        number = numbers[place]
        assert number is None or verdict(machine, audit, number) == NOT_PERMITTED
    assert {verdict(machine, audit, socket, n) for n in (2, 10, 16, 17, 40)} == {NOT_PERMITTED}
    assert verdict(machine, audit, socket, 1) == ALLOW
    assert verdict(machine, audit, clone, 0x003D0F00) == ALLOW  # a thread
    for flag in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80):
        assert verdict(machine, audit, clone, flag | 17) == NOT_PERMITTED
    assert {verdict(machine, audit, n) for n in (435, 451, 500, 100_000)} == {NO_SUCH_CALL}
    assert verdict(machine, audit, 60 if place == 0 else 93) == ALLOW  # exit
    assert {verdict(machine, other, 1) for other in (0x40000003, 0x40000028, 0)} == {KILL}


@pytest.mark.parametrize(("machine", "audit", "prctl", "fcntl"), [
    ("x86_64", 0xC000003E, 157, 72), ("aarch64", 0xC00000B7, 167, 25),
])  # fmt: skip
def test_calls_refused_by_an_argument(machine: str, audit: int, prctl: int, fcntl: int) -> None:
    """PR_SET_PDEATHSIG, F_SETLEASE and F_NOTIFY (linux/prctl.h, linux/fcntl.h), and none beside them."""
    assert [each for each in range(80) if verdict(machine, audit, prctl, each) != ALLOW] == [1]
    held = [each for each in (*range(20), *range(1000, 1100)) if verdict(machine, audit, fcntl, 7, each) != ALLOW]
    assert held == [1024, 1026]
    assert verdict(machine, audit, fcntl, 7, 1026) == NOT_PERMITTED
    assert verdict(machine, audit, prctl, 1) == NOT_PERMITTED


@pytest.mark.parametrize(("header", "place"), [
    ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0), ("/usr/include/asm-generic/unistd.h", 1),
])  # fmt: skip
def test_numbers_are_those_of_the_systems_headers(header: str, place: int) -> None:
    if not Path(header).exists():
        pytest.skip(f"{header} is not installed")
    words = (line.split() for line in Path(header).read_text("utf-8").splitlines())
    numbers = {each[1]: each[2] for each in words if len(each) == 3 and each[0] == "#define"}
    for name, both in DENIED.items():
        if (told := numbers.get(f"__NR_{name}", "")).isdigit():
            assert int(told) == both[place], name


def test_the_walls_of_podman(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    inside = Inside(BoxedCode(written(tmp_path, ""), "method:translate"))
    with Podman().launch(inside, SMALL) as launch:
        told = " ".join(launch.argv)
        [rules] = [e.removeprefix("seccomp=") for e in launch.argv if e.startswith("seccomp=")]
        assert json.loads(Path(rules).read_text("utf-8")) == rules_by_name()
    for each in ("--network none", "--read-only ", "--cap-drop all", "no-new-privileges", "--pids-limit 24", "--timeout 86400"):  # fmt: skip
        assert each in told
    assert f"--memory {SMALL.memory_bytes} --memory-swap {SMALL.memory_bytes}" in told
    assert f"{tmp_path}:/box/code:ro" in told
    pairs = zip(launch.argv, launch.argv[1:], strict=False)
    assert all(each.endswith(":ro") for before, each in pairs if before == "--volume")
    assert launch.end[1:3] == ["rm", "--force"]
    assert "--tmpfs" in walls(SMALL, tmp_path)
    refused = {name for rule in rules_by_name()["syscalls"] for name in rule["names"]}
    assert set(DENIED) | {"clone3", "clone", "socket", "socketpair", "prctl", "fcntl"} == refused


@pytest.mark.parametrize(("system", "names"), [
    ("linux", ["bubblewrap", "podman"]), ("darwin", []), ("win32", []),
])  # fmt: skip
def test_engines_by_system(system: str, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", system)
    assert [engine.name for engine in known.engines()] == names
    if not names:
        refuses(HarnessError, "in a virtual machine with Linux", find_engine)


def podman_lacks(monkeypatch: pytest.MonkeyPatch, act: Callable[..., object]) -> str | None:
    """Return what podman lacks for an ordinary user where its program does so."""
    with monkeypatch.context() as patched:
        patched.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
        patched.setattr("os.geteuid", lambda: 1000, raising=False)
        patched.setattr("subprocess.run", act)
        return Podman().lacking()


def test_missing_or_silent_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for trouble in (subprocess.TimeoutExpired("podman", 60), PermissionError(13)):
        silent = podman_lacks(monkeypatch, Mock(side_effect=trouble))
        assert silent == "podman does not answer: check that `podman info` works"
    monkeypatch.setattr("shutil.which", lambda name: None)
    for engine in (Bubblewrap(), Podman()):
        assert f"{engine.name} is not installed: install" in (engine.lacking() or "")
    assert filter_program("riscv64") is None
    assert verdict("x86_64", 0xC000003E, 0x40000000 + 39) == KILL  # of the x32 kind


@pytest.mark.parametrize(("said", "words"), [
    ("true [cpu memory pids]", None), ("true [memory pids]", None),
    ("true []", "ignores limits of memory and processes"),
    ("true [pids]", "ignores limits of memory and processes"),
    ("true [memory]", "ignores limits of memory and processes"),
    ("false [cpu memory pids]", "makes no containers for this user"),
    ("", "makes no containers for this user"),
])  # fmt: skip
def test_limitless_podman(said: str, words: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As podman 4.3 says it; on control groups of version 1 it warns and goes on without any limit."""
    told = subprocess.CompletedProcess([], 0, f"{said}\n".encode(), b"")
    lacking = podman_lacks(monkeypatch, lambda *_, **__: told)
    assert (lacking is None) == (words is None)
    assert (words or "") in (lacking or "")


def test_a_full_disk_is_told_by_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """As root its first box needs a folder; a way that no other test asks for is not remembered."""

    def full(**_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("shutil.which", lambda name: f"/full/{name}")
        patched.setattr("os.geteuid", lambda: 0, raising=False)
        patched.setattr("platform.machine", lambda: "x86_64")
        patched.setattr("tempfile.TemporaryDirectory", full)
        lacking = Bubblewrap().lacking()
    assert "bubblewrap cannot make a box here" in (lacking or "")


_PATIENT = replace(SMALL, restarts=200, entry_seconds=60.0)


@pytest.fixture(scope="module")
def got(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str | None]]:
    """What each adversary says that it got; None where it did not live to say it."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret").write_text("a sentence that nobody may read", encoding="utf-8")
    abstract = f"rosetta-{secrets.token_hex(8)}"
    with ExitStack() as stack:
        kinds = ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM), *[(socket.AF_UNIX, socket.SOCK_STREAM)] * 2)  # fmt: skip
        tcp, udp, named, unnamed = (stack.enter_context(socket.socket(*kind)) for kind in kinds)
        tcp.bind(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp.bind(("127.0.0.1", port))
        named.bind(str(folder / "socket"))
        unnamed.bind("\0" + abstract)
        for each in (tcp, named, unnamed):
            each.listen()
        os.environ["ROSETTA_CANARY_KEY"] = "secret"
        stack.callback(os.environ.pop, "ROSETTA_CANARY_KEY")
        options = outside_of(folder, abstract=abstract, port=port)
        method = boxed(folder / "code", REACHING, _PATIENT, options=options)
        found = asked(method, *([name] for name in NAMES))
        yield {name: output.text for name, [output] in zip(NAMES, found, strict=True)}
        assert (folder / "secret").read_text(encoding="utf-8") == "a sentence that nobody may read"
        udp.setblocking(False)
        refuses(BlockingIOError, "", udp.recv, 1)


@needs_engine
@pytest.mark.parametrize("name", NAMES)
def test_adversary_reaches_nothing(got: dict[str, str | None], name: str) -> None:
    assert got[name] in ({"held", None} if name in {"memory", "shared_memory"} else {"held"})


@needs_engine
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root becomes another")
def test_adversary_reaches_nothing_as_an_ordinary_user() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # others do not reach pytest's own
        folder = Path(name)
        (folder / "code").mkdir()
        (folder / "secret").write_text("a sentence that nobody may read", encoding="utf-8")
        for each in (folder, folder / "code"):
            each.chmod(0o777)
        said = run_as_nobody("adversaries", name, *NAMES)
    assert said.pop("forks for ever") is None
    assert set(said) == set(NAMES)
    assert {name: got for name, got in said.items() if got != "held"} == {}


@needs_engine
@pytest.mark.parametrize("name", UNRULY)
def test_unruly_method_is_an_error_of_its_text_alone(tmp_path: Path, name: str) -> None:
    """The first text is answered wrongly, the second by a box that was begun anew."""
    limits = replace(_PATIENT, entry_seconds=1.0)
    code = UNRULY[name] + _GOOD_AT_THE_SECOND
    method = boxed(tmp_path, code, limits, entry="method:good_later")
    [[first], [second]] = asked(method, ["one"], ["two"])
    assert first.error_class in {ErrorClass.METHOD, ErrorClass.MALFORMED, ErrorClass.TIMEOUT}
    assert second.text == "two"


_GOOD_AT_THE_SECOND = """
def good_later(texts):
    return texts if texts == ["two"] else translate(texts)
"""


DOCS = Path(__file__).parents[3] / "docs"


def test_page_on_security_names_every_adversary() -> None:
    page = (DOCS / "internals" / "security.md").read_text("utf-8")
    played = [*(name.replace("_", " ") for name in NAMES), *UNRULY]
    assert [name for name in played if name not in page] == []
    assert f"plays {len(played)} adversaries" in page
    here = [sum(numbers[place] is not None for numbers in DENIED.values()) for place in (0, 1)]
    refused = f"{here[0]} refused (x86_64), {here[1]} (aarch64)"
    assert refused in (DOCS / "internals/box.md").read_text("utf-8")


@needs_engine
@pytest.mark.parametrize(("file", "name", "options", "given"), [
    ("translator.py", "translate", {}, "SALUTON"),
    ("with_options.py", "Translator", {"ending": "!"}, "saluton!"),
])  # fmt: skip
def test_example_of_the_page_runs(tmp_path: Path, file: str, name: str, options: dict[str, Any], given: str) -> None:
    page = (DOCS / "box.md").read_text("utf-8")
    [code] = re.findall(rf"```python\n# {file}\n(.*?)```", page, re.DOTALL)
    [[output]] = asked(boxed(tmp_path, code, entry=f"method:{name}", options=options), ["saluton"])
    assert output.text == given
