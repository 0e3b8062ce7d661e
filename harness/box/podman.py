"""Boxes by rootless podman (https://podman.io), where bubblewrap is not to be had: without an image, on an empty root."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.box.engine import Inside, Launch
from harness.box.layout import ENVIRONMENT, IN_ITS_ROOT, SHARED_LIBRARIES, Laid, laid_in, starts
from harness.box.limits import Limits
from harness.box.seccomp import rules_by_name

_PROBE_SECONDS = 60
_ASKED = "{{.Host.Security.Rootless}} {{.Host.CgroupControllers}}"
_TOLD = (
    "HOME",
    "PATH",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
)
"""Where podman finds its settings and what it keeps; none of it reaches the container."""


class Podman:
    """Makes boxes by podman as an ordinary user; root's containers would be root's, so it is not used by root."""

    name = "podman"

    def lacking(self) -> str | None:
        """Return what is missing; see ``BoxEngine``."""
        program = shutil.which("podman")
        if program is None:
            return "podman is not installed: install the package podman of your system"
        if os.geteuid() == 0:
            return "podman is used only by ordinary users: log in as one"
        asked = [program, "info", "--format", _ASKED]
        try:
            process = subprocess.run(  # noqa: S603
                asked, capture_output=True, check=False, timeout=_PROBE_SECONDS
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
        """Return how a box is started; see ``BoxEngine``."""
        name = f"rosetta-box-{secrets.token_hex(8)}"
        program = shutil.which("podman") or "podman"
        with tempfile.TemporaryDirectory(prefix=f"{name}-") as made:
            rules, root = Path(made) / "rules.json", Path(made) / "root"
            rules.write_text(json.dumps(rules_by_name()), encoding="utf-8")
            root.mkdir()
            mounts = [*_libraries(root), *laid_in(inside)]
            argv = [
                program,
                "run",
                "--name",
                name,
                *walls(limits, rules),
                *_volumes(mounts),
                "--rootfs",
                str(root),
            ]
            end = [program, "rm", "--force", "--time", "0", "--ignore", name]
            variables = {name: os.environ[name] for name in _TOLD if name in os.environ}
            held = limits.by_file()
            yield Launch(
                [*argv, *starts()], IN_ITS_ROOT, limits=held, environment=variables, end=end
            )


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


def _volumes(mounts: Sequence[Laid]) -> list[str]:
    return [part for source, place in mounts for part in ("--volume", f"{source}:{place}:ro")]
