"""Which engine makes boxes on this computer, and a process of this program's own where none is needed."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.box.engine import (
    ENVIRONMENT,
    IN_ITS_ROOT,
    ISOLATED,
    SHARED_LIBRARIES,
    BoxEngine,
    BoxFailure,
    BoxStage,
    Inside,
    Laid,
    Launch,
    Limits,
    laid_in,
    starts,
)
from harness.box.seccomp import filter_program, rules_by_name
from harness.core.failures import HarnessError

# ---- Control groups of Linux: a limit of memory for a box as a whole, where this user may set
# one, or systemd sets it for them.
#
# Without one each process of a box is limited on its own (``RLIMIT_AS``), so a box may take so
# much for each of its processes.

_ROOT: Final = Path("/sys/fs/cgroup")
_NAME: Final = "rosetta-box-"
_PROBE_BYTES: Final = 1 << 28
_GROUP_PROBE_SECONDS: Final = 10
_TRIES: Final = 100
"""How often a group is tried to be removed, while the last processes in it go."""


@contextmanager
def control_group(limits: Limits) -> Iterator[list[str]]:
    """Make a group for one box; gives what stands before its command to join it, nothing where none can be made."""
    place = _made(limits)
    if place is None:
        yield _scope(limits.memory_bytes) if _holds(tuple(_scope(_PROBE_BYTES))) else []
        return
    try:
        shell = shutil.which("sh") or "/bin/sh"
        yield [shell, "-c", 'echo $$ > "$0" && exec "$@"', str(place / "cgroup.procs")]
    finally:
        _remove(place)


@cache
def limits_whole_box() -> bool:
    """Return whether memory is limited for a box as a whole on this computer, for this user."""
    with control_group(Limits()) as joining:
        return bool(joining)


def _scope(memory: int) -> list[str]:
    """Return what starts a command in a group that the systemd of this user's session makes; empty where there is none.

    The command takes the place of what is started, so it stays this program's child; it has nothing of the environment.
    """
    programs = [shutil.which(name) for name in ("env", "systemd-run")]
    session = os.environ.get("XDG_RUNTIME_DIR")
    if None in programs or not session:
        return []
    env, systemd_run = map(str, programs)
    limit = ["--property", f"MemoryMax={memory}", "--property", "MemorySwapMax=0"]
    asked = [systemd_run, "--user", "--scope", "--quiet", "--collect", *limit, "--"]
    return [env, f"XDG_RUNTIME_DIR={session}", *asked, env, "-i"]


@cache
def _holds(starts: tuple[str, ...]) -> bool:
    """Return whether the kernel holds the limit of such a group, of ``_PROBE_BYTES``: one is made, and says what it was given."""
    if not starts:
        return False
    asked = 'read -r group < /proc/self/cgroup && cat "/sys/fs/cgroup${group#0::}/memory.max"'
    argv = [*starts, shutil.which("sh") or "/bin/sh", "-c", asked]
    with suppress(OSError, subprocess.SubprocessError):
        stdout = subprocess.run(  # noqa: S603
            argv, env={}, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=_GROUP_PROBE_SECONDS
        ).stdout  # fmt: skip
        return stdout.strip() == str(_PROBE_BYTES).encode()
    return False


def _made(limits: Limits) -> Path | None:
    # A group may be made where version 2 of control groups is, then where version 1 is.
    memory = str(limits.memory_bytes)
    places = [(_ROOT / "memory", {"memory.limit_in_bytes": memory})]
    if (_ROOT / "cgroup.controllers").exists():
        places.insert(0, (_ROOT, {"memory.max": memory, "memory.oom.group": "1"}))
    for parent, settings in places:
        place = parent / f"{_NAME}{os.getpid()}-{secrets.token_hex(8)}"
        # Remove the empty groups of programs that were killed.
        for path in parent.glob(f"{_NAME}*"):
            maker = path.name.removeprefix(_NAME).partition("-")[0]
            if maker.isdigit() and not Path(f"/proc/{maker}").exists():
                with suppress(OSError):
                    path.rmdir()
        try:
            place.mkdir()
        except OSError:
            continue
        try:
            for name, value in settings.items():
                (place / name).write_text(value, encoding="ascii")
        except OSError:
            _remove(place)
            continue
        with suppress(OSError):  # a kernel that counts no swap has none to limit
            (place / "memory.swap.max").write_text("0", encoding="ascii")
        return place
    return None


def _remove(place: Path) -> None:
    with suppress(OSError):
        (place / "cgroup.kill").write_text("1", encoding="ascii")
    for _ in range(_TRIES):
        try:
            place.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return


# ---- Boxes by bubblewrap (https://github.com/containers/bubblewrap): namespaces of Linux,
# without a daemon or an image.

_DEVICES = ("null", "zero", "full", "random", "urandom")
_WALLS = (
    "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
    "--cap-drop", "ALL", "--clearenv", "--hostname", "box",
)  # fmt: skip
_PROBE_SECONDS: Final = 30
_NOBODYS: Final = 1_900_000_000
"""From here on numbers of users are given to nobody: neither to people, nor to services, nor to containers."""


class Bubblewrap:
    """Makes boxes by bubblewrap, as this user; as root, with a user that nobody else is.

    In a namespace of root's own the first process would still be root to the kernel: no limit of processes binds it, and
    it may write settings of the whole computer in /proc/sys. So a box of root's is started as a user that is nobody's, and
    what is laid into it is shown to that user at a place that everybody reaches.
    """

    name = "bubblewrap"

    def lacking(self) -> str | None:
        program = shutil.which("bwrap")
        if program is None:
            return "bubblewrap is not installed: install the package bubblewrap of your system (apt install bubblewrap)"
        if filter_program() is None:
            return "bubblewrap has no list of refused calls for this processor: use an x86_64 or aarch64 computer"
        if os.geteuid() == 0 and not all(map(shutil.which, ("setpriv", "unshare", "mount"))):
            return "setpriv, unshare or mount is not installed, by which a box of root's gets its own user: install util-linux"
        return _refusal(program)

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        laid, program = list(laid_in(inside)), filter_program()
        if program is None:  # a box without the list is no box
            raise BoxFailure(BoxStage.ENGINE)
        with control_group(limits) as joining, _own_user(laid) as (becoming, shown), tempfile.TemporaryFile() as rules:
            rules.write(program)
            rules.seek(0)
            variables = {**ENVIRONMENT, **inside.environment}
            walls = [*_walls(shown, limits, variables), "--seccomp", str(rules.fileno()), "--"]
            first = [*starts(), *map(str, inside.packages)]
            argv = [*joining, *becoming, _program("bwrap"), *walls, *first]
            held = limits.by_resource(whole_box=bool(joining))
            yield Launch(argv, IN_ITS_ROOT, (rules.fileno(),), held)


@contextmanager
def _own_user(laid: Sequence[Laid]) -> Iterator[tuple[list[str], Sequence[Laid]]]:
    """Return what starts the rest as a user that nobody is, and where that user finds what is laid into the box.

    Only root needs one: nothing where somebody else is at work. What was started stays the process that is ended, so that
    no other has to pass a signal on, which it might not be allowed to.
    """
    if os.geteuid() != 0:
        yield [], laid
        return
    user = str(_NOBODYS + secrets.randbelow(200_000_000))
    setpriv = [
        _program("setpriv"), "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs", "--bounding-set=-all",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="rosetta-box-", dir="/tmp") as shown:
        sources = [str(source) for source, _ in laid]
        into = [_program("unshare"), "--mount", _program("sh"), "-ec", _SHOW, shown]
        show = [*into, *sources, "--", *setpriv, "--"]
        yield show, [(Path(shown) / str(number), place) for number, (_, place) in enumerate(laid)]


_SHOW: Final = """
mount -t tmpfs -o mode=755 tmpfs "$0"
number=0
while [ "$1" != -- ]; do
    if [ -d "$1" ]; then mkdir "$0/$number"; else : > "$0/$number"; fi
    mount --rbind "$1" "$0/$number"
    number=$((number + 1))
    shift
done
shift
exec "$@"
"""
"""Show each place in a folder that everybody reaches, in a mount namespace that is the box's; then become the rest."""


def _program(name: str) -> str:
    return shutil.which(name) or name


def _walls(laid: Sequence[Laid], limits: Limits, told: Mapping[str, str]) -> list[str]:
    argv = [*_WALLS]
    for name, value in told.items():
        argv += ["--setenv", name, value]
    for path in map(Path, SHARED_LIBRARIES):
        if path.is_symlink() and path.parent == Path("/"):
            argv += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            argv += ["--ro-bind", str(path), str(path)]
    argv += ["--proc", "/proc", "--tmpfs", "/dev"]
    for device in _DEVICES:
        argv += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    shared = limits.shared_bytes
    argv += ["--size", str(shared), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    argv += ["--size", str(limits.disk_bytes - shared), "--tmpfs", "/tmp"]  # noqa: S108
    for source, place in laid:
        argv += ["--ro-bind", str(source), place]
    return [*argv, "--remount-ro", "/", "--chdir", "/tmp"]  # noqa: S108


@cache
def _refusal(program: str) -> str | None:
    """Start an empty box; say what the system has against it, None where it works."""
    empty = [program, *_WALLS, "--ro-bind", "/", "/", "--proc", "/proc", "--", _program("true")]
    with suppress(OSError, subprocess.SubprocessError), _own_user(()) as (becoming, _):
        argv, nowhere = [*becoming, *empty], subprocess.DEVNULL
        subprocess.run(argv, stdout=nowhere, stderr=nowhere, check=True, timeout=_PROBE_SECONDS)  # noqa: S603
        return None
    return (
        "bubblewrap cannot make a box here: the system lets this user make no namespaces (sysctl user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), or it is older than 0.8"
    )


# ---- Boxes by rootless podman (https://podman.io), where bubblewrap is not to be had: without an
# image, on an empty root.

_PODMAN_PROBE_SECONDS = 60
_ASKED = "{{.Host.Security.Rootless}} {{.Host.CgroupControllers}}"
_TOLD = ("HOME", "PATH", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS")
"""Where podman finds its settings and what it keeps; none of it reaches the container."""


class Podman:
    """Makes boxes by podman as an ordinary user; root's containers would be root's, so it is not used by root."""

    name = "podman"

    def lacking(self) -> str | None:
        program = shutil.which("podman")
        if program is None:
            return "podman is not installed: install the package podman of your system"
        if os.geteuid() == 0:
            return "podman is used only by ordinary users: log in as one"
        asked = [program, "info", "--format", _ASKED]
        try:
            process = subprocess.run(  # noqa: S603
                asked, capture_output=True, check=False, timeout=_PODMAN_PROBE_SECONDS
            )
        except (OSError, subprocess.SubprocessError):
            return "podman does not answer: check that `podman info` works"
        rootless, _, limited = process.stdout.decode("utf-8", "replace").strip().partition(" ")
        if process.returncode != 0 or rootless != "true":
            return "podman makes no containers for this user: give it ranges in /etc/subuid and /etc/subgid"
        if not {"memory", "pids"} <= {*limited.strip("[]").split()}:
            return (
                "podman ignores limits of memory and processes for this user: have control groups of version 2 on this "
                "computer, and memory and pids delegated to the user's session"
            )
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        name = f"rosetta-box-{secrets.token_hex(8)}"
        program = shutil.which("podman") or "podman"
        with tempfile.TemporaryDirectory(prefix=f"{name}-") as made:
            rules, root = Path(made) / "rules.json", Path(made) / "root"
            rules.write_text(json.dumps(rules_by_name()), encoding="utf-8")
            root.mkdir()
            mounts = [*_libraries(root), *laid_in(inside)]
            shown = (("--volume", f"{source}:{place}:ro") for source, place in mounts)
            volumes = [part for pair in shown for part in pair]
            options = [*walls(limits, rules), *volumes, "--rootfs", str(root)]
            argv = [program, "run", "--name", name, *options, *starts()]
            end = [program, "rm", "--force", "--time", "0", "--ignore", name]
            variables = {name: os.environ[name] for name in _TOLD if name in os.environ}
            held = limits.by_file()
            yield Launch(argv, IN_ITS_ROOT, limits=held, environment=variables, end=end)


def walls(limits: Limits, rules: Path) -> list[str]:
    """Return the options that shut a container off and limit it."""
    shared = limits.shared_bytes
    argv = [
        "--rm", "--interactive", "--log-driver", "none", "--network", "none", "--no-hosts", "--hostname", "box",
        "--http-proxy=false", "--read-only", "--read-only-tmpfs=false", "--cap-drop", "all", "--userns", "keep-id",
        "--security-opt", "no-new-privileges", "--security-opt", f"seccomp={rules}",
        "--pids-limit", str(limits.processes), "--timeout", str(math.ceil(limits.all_seconds)),
        "--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes),
        "--shm-size", str(shared), "--tmpfs", f"/tmp:rw,mode=1777,size={limits.disk_bytes - shared}",  # noqa: S108  of the box
        "--tmpfs", "/sys:ro,size=4k", "--tmpfs", "/dev/mqueue:ro,size=4k",
        "--workdir", "/tmp", "--unsetenv-all",  # noqa: S108
    ]  # fmt: skip
    for name, value in ENVIRONMENT.items():
        argv += ["--env", f"{name}={value}"]
    return argv


def _libraries(root: Path) -> Iterator[Laid]:
    """Yield the libraries of the system; what is a link on this computer becomes one in the container."""
    for path in map(Path, SHARED_LIBRARIES):
        if path.is_symlink() and path.parent == Path("/"):
            (root / path.name).symlink_to(path.readlink())
        elif path.exists():
            yield path, str(path)


NEEDS_LINUX: Final = (
    "boxes need Linux: on macOS or Windows install Rosetta and bubblewrap in a virtual machine with Linux"
)


def engines() -> Sequence[BoxEngine]:
    """Return the engines that this system may have, the preferred one first; none outside of Linux.

    Podman on macOS and Windows runs its containers under a Linux of their own, which cannot start the Python of
    this computer that a box is made from.
    """
    return (Bubblewrap(), Podman()) if sys.platform == "linux" else ()


def find_engine(among: Sequence[BoxEngine] | None = None) -> BoxEngine:
    """Return the first engine that works on this computer.

    HarnessError says what to install, or which computer to use, where there is none.
    """
    lacking = []
    for engine in engines() if among is None else among:
        missing = engine.lacking()
        if missing is None:
            return engine
        lacking.append(missing)
    raise HarnessError(f"No box can be made on this computer: {'; or '.join(lacking) or NEEDS_LINUX}.")


# ---- A process of this program's own for an engine that reads data of others: limited, killed from outside, and shut off ----

_KEPT: Final = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")
"""What of this program's environment the process is told: where Windows and libraries lie, and how many threads to use."""
_PLACES: Final = ("TEMP", "TMP", "TMPDIR")
"""Which of these a box has its own place for."""


class OwnProcess:
    """Starts our code as a process without this program's environment: in a box of bubblewrap, else with this user's rights.

    It is for code of ours that reads data of others in native code: a fault, or a batch without end, is the process's alone.
    Where the box has its own user, as root's has, it may not read what this user may, so there is none then.
    Outside of a box it begins by tying itself to this one (``inside/own_process.py``): on Linux it is killed where this one ends, however that is.
    On Linux its memory is limited (``RLIMIT_AS``); macOS holds no such limit, and Windows has none that a program sets itself.
    """

    name = "its own process"

    def __init__(self, packages: Sequence[str] = (), data: Sequence[Path] = ()) -> None:
        """``packages``: those that the code imports beside the standard library; it finds what is in their folders alone.

        ``data``: files and folders that it is given, all that it can read in a box.
        """
        self._packages = packages
        self._data = data

    def lacking(self) -> str | None:
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        variables = {**kept, "MALLOC_ARENA_MAX": "2"}
        if shut_off():
            here = {name: value for name, value in variables.items() if name not in _PLACES}
            more = inside._replace(packages=self._folders(), data=self._data, environment=here)
            with Bubblewrap().launch(more, limits) as launch:
                yield launch
            return
        held = {} if sys.platform == "win32" else limits.by_file()
        held |= {"RLIMIT_AS": limits.memory_bytes} if sys.platform == "linux" else {}
        first = Path(__file__).with_name("inside") / "own_process.py"
        folders = [str(folder) for folder in self._folders()]
        yield Launch(
            [sys.executable, *ISOLATED, str(first), str(os.getpid()), *folders],
            {place: str(source) for source, place in laid_in(inside)},
            limits=held,
            environment=variables,
        )

    def _folders(self) -> list[Path]:
        specs = filter(None, map(find_spec, self._packages))
        places = (Path(place) for spec in specs for place in spec.submodule_search_locations or ())
        return [*dict.fromkeys(place.parent.absolute() for place in places)]


def shut_off() -> bool:
    """Return whether such a process runs in a box on this computer, for this user."""
    return sys.platform == "linux" and os.geteuid() != 0 and Bubblewrap().lacking() is None
