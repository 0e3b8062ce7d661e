"""Where this program is installed, and the line for a shell that puts a package next to it.

Nothing here needs the folder of the sources: anyone who installed a wheel has none.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
from importlib.util import find_spec

from corpora.files.installed import installed, stated

DISTRIBUTION = "rosetta-tui"


def always_needed() -> list[str] | None:
    """Return the names of the packages without which the program does not work; None where it runs from its source."""
    if installed(DISTRIBUTION) is None:
        return None
    return [_name(requirement) for requirement in stated(DISTRIBUTION, "Requires-Dist") if ";" not in requirement]


def install_line(*packages: str) -> str:
    """Return the line that installs packages into the very environment this program runs in."""
    # of a program that runs from its source nothing states what it needs
    requirements = (stated_line.partition(";")[0].strip() for stated_line in stated(DISTRIBUTION, "Requires-Dist"))
    needed = {_normal(_name(requirement)): requirement for requirement in requirements}
    wanted = [needed.get(_normal(package), package) for package in packages]
    return f"{_installer()} {' '.join(_quoted(package_name) for package_name in wanted)}"


def uninstall_line(package: str) -> str:
    """Return the line that takes a package out of the environment this program runs in."""
    return f"{_installer('uninstall')} {_quoted(package)}"


def hfst_has_wheel() -> bool:
    """Return whether the package ``hfst`` installs here without a compiler (the marker of its extra)."""
    if sys.version_info >= (3, 13):
        return False
    return sys.platform == "darwin" or (sys.platform == "linux" and platform.machine() == "x86_64")


def _installer(what: str = "install") -> str:
    """Return the beginning of such a line: pip where the environment has it, else uv, which needs none."""
    python = _quoted(sys.executable or "python")
    if find_spec("pip") is None and shutil.which("uv"):
        return f"uv pip {what} --python {python}"
    return f"{python} -m pip {what}"


def _quoted(text: str) -> str:
    """Quote what a shell would read otherwise; ``>`` of a version would write to a file."""
    if re.fullmatch(r"[\w./:\\=-]+", text):
        return text
    return shlex.quote(text) if os.name != "nt" and re.search(r'["$`\\!]', text) else f'"{text}"'


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
