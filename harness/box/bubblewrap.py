"""Boxes by bubblewrap (https://github.com/containers/bubblewrap): namespaces of Linux, without a daemon or an image."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from harness.box.control_groups import control_group
from harness.box.engine import Inside, Launch
from harness.box.failures import BoxFailure, BoxStage
from harness.box.layout import ENVIRONMENT, IN_ITS_ROOT, SHARED_LIBRARIES, Laid, laid_in, starts
from harness.box.limits import Limits
from harness.box.seccomp import filter_program

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
        """Return what is missing; see ``BoxEngine``."""
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
        """Return how a box is started; see ``BoxEngine``."""
        laid, program = list(laid_in(inside)), filter_program()
        if program is None:  # a box without the list is no box
            raise BoxFailure(BoxStage.ENGINE)
        with (
            control_group(limits) as joining,
            _own_user(laid) as (becoming, shown),
            tempfile.TemporaryFile() as rules,
        ):
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
        _program("setpriv"),
        "--reuid",
        user,
        "--regid",
        user,
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
    ]
    with tempfile.TemporaryDirectory(prefix="rosetta-box-", dir="/tmp") as shown:
        sources = [str(source) for source, _ in laid]
        show = [
            _program("unshare"),
            "--mount",
            _program("sh"),
            "-ec",
            _SHOW,
            shown,
            *sources,
            "--",
            *setpriv,
            "--",
        ]
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
