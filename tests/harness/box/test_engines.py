"""Engines: which is chosen, what the others would be told, and the list of refused calls."""

import errno
import json
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn
from unittest.mock import Mock

import pytest

from harness.box import engines as known
from harness.box.bubblewrap import Bubblewrap
from harness.box.code import BoxedCode
from harness.box.engine import Inside
from harness.box.podman import Podman, walls
from harness.box.seatbelt import Seatbelt, profile
from harness.box.seccomp import DENIED, filter_program, rules_by_name
from tests.harness.box.making import SMALL, written

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
    for flag in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80):  # fmt: skip
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
    held = [
        each
        for each in (*range(20), *range(1000, 1100))
        if verdict(machine, audit, fcntl, 7, each) != ALLOW
    ]
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


def test_no_filter_for_another_processor_or_kind_of_call() -> None:
    assert filter_program("riscv64") is None
    assert verdict("x86_64", 0xC000003E, 0x40000000 + 39) == KILL  # of the x32 kind


def test_what_podman_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_profile_of_macos(tmp_path: Path) -> None:
    told = profile([Path('/a "quoted" place'), Path("/Ŝipo")], tmp_path, tmp_path / "socket")
    assert told.startswith("(version 1)\n(deny default)\n")
    assert '(subpath "/Ŝipo")' in told
    assert '(subpath "/a \\"quoted\\" place")' in told
    assert [line for line in told.splitlines() if "file-write" in line] == [
        f'(allow file-read* file-write* (subpath "{tmp_path}"))'
    ]
    assert [line for line in told.splitlines() if "network" in line] == [
        f'(allow network-outbound (literal "{tmp_path}/socket"))'
    ]
    assert "network" not in profile([], tmp_path, None)
    inside = Inside(BoxedCode(written(tmp_path, ""), "method:translate"), tmp_path)
    with Seatbelt().launch(inside, SMALL) as launch:
        assert launch.argv[1] == "-p"
        assert launch.argv[-1].endswith("/inside/runner.py")
        assert launch.places["/box/code"] == str(tmp_path.resolve())
        assert f"ROSETTA_GATEWAY={tmp_path.resolve()}/gateway.sock" in launch.argv


@pytest.mark.parametrize(("system", "names"), [
    ("linux", ["bubblewrap", "podman"]), ("darwin", ["sandbox-exec"]), ("win32", []),
])  # fmt: skip
def test_engines_by_system(system: str, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", system)
    assert [engine.name for engine in known.engines()] == names


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


@pytest.mark.parametrize(("said", "words"), [
    ("true [cpu memory pids]", None), ("true [memory pids]", None),
    ("true []", "ignores limits of memory and processes"),
    ("true [pids]", "ignores limits of memory and processes"),
    ("true [memory]", "ignores limits of memory and processes"),
    ("false [cpu memory pids]", "makes no containers for this user"),
    ("", "makes no containers for this user"),
])  # fmt: skip
def test_limitless_podman_lacks(said: str, words: str | None, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
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
