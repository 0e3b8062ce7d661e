"""Builds the reviewer's bundle for the system it runs on: program, checks, archives, and what continues a stick.

    python packaging/reviewer/build.py [--windows FILE] [--macos FILE] [--linux FILE] [--out DIST]

The environment is that of ``packaging/requirements-bundle.lock``; ``make reviewer-bundle`` makes it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import archives
import checking
import icons
import licences
import measure
import own_folder
import recipe
import stick
from harness.sealed.stick import ARCHIVES
from stages import Stages, hash_of

SPECS = {"linux": "linux.spec", "win32": "windows.spec", "darwin": "macos.spec"}
SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
LICENCES = "LICENCES.txt"


def main() -> int:
    """Do the whole; gives the exit code."""
    asked = _parser().parse_args()
    system = SYSTEMS[sys.platform]
    out = asked.out.resolve()
    own_folder.refuse_others(out / "stick")
    given = {name: getattr(asked, name) for name in ARCHIVES if getattr(asked, name)}
    stages = Stages(out / "reviewer")
    folder, work = places(out / "reviewer")
    inputs = hash_of([recipe.HERE, *(recipe.ROOT / each for each in recipe.PACKAGES)], *around())
    if not stages.is_done("program", inputs, folder, work):
        build(out / "reviewer")
        stages.note("program", inputs)
    else:
        print(f"The program in {folder} was made from the same files: it stays.")
    contents = json.loads((work / recipe.CONTENTS).read_text("utf-8"))
    [warnings] = work.glob("warn-*.txt")
    recipe.refuse_absent(warnings.read_text("utf-8"), (name for name, _ in contents["modules"]))
    text = licences.licences(contents, work)
    complete(folder, text)
    report = checking.check(folder, work) | measure.measure(folder) | made_with()
    packed = archives_in(out)
    if not stages.is_done("archives", inputs, *packed):
        archive(folder, out)
        stages.note("archives", inputs)
    report["archives"] = {each.name: each.stat().st_size for each in packed}
    stick.lay_out(out / "stick", {system: packed[0], **given}, text, work)
    (out / "reviewer-bundle.json").write_text(json.dumps(report, indent=2) + "\n")
    measure.say(report)
    return 0


def around() -> list[str]:
    """Return what else goes into a build: the Python, every package next to it, and the time that files bear."""
    there = sorted(f"{each.name} {each.version}" for each in metadata.distributions())
    return [sys.version, *there, str(moment())]


def places(out: Path) -> tuple[Path, Path]:
    """Return the program's folder, and the folder of what comes up on the way."""
    name = f"{recipe.TITLE}.app" if sys.platform == "darwin" else recipe.NAME
    return out / name, out / "work" / Path(SPECS[sys.platform]).stem


def build(out: Path) -> None:
    """Run PyInstaller."""
    spec = recipe.HERE / SPECS[sys.platform]
    work = out / "work"
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    command += ["--distpath", str(out), "--workpath", str(work), str(spec)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(moment()), "PYTHONHASHSEED": "1"}
    subprocess.run(command, check=True, env=environment, cwd=recipe.ROOT)


def complete(folder: Path, text: str) -> None:
    """Add what makes a double click work, and the licences."""
    if sys.platform == "darwin":
        (folder / "Contents" / "Resources" / LICENCES).write_text(text, encoding="utf-8")
        return
    (folder / LICENCES).write_text(text, encoding="utf-8")
    if sys.platform == "win32":
        for path in (recipe.HERE / "windows").glob("*.cmd"):
            content = path.read_text("ascii")
            (folder / path.name).write_text(content, encoding="ascii", newline="\r\n")
    else:
        _add_linux(folder)


def _add_linux(folder: Path) -> None:
    share = folder / "share"
    share.mkdir(exist_ok=True)
    for path in (recipe.HERE / "linux").iterdir():
        shutil.copy(path, folder if path.suffix == ".sh" else share)
    shutil.copy(icons.SVG, share / f"{recipe.NAME}.svg")
    for size in (32, 48, 64, 128, 256):
        (share / f"{recipe.NAME}-{size}.png").write_bytes(icons.png(size))


def archives_in(out: Path) -> list[Path]:
    """Name the archives of this system; the first is the one for a stick."""
    name = ARCHIVES[SYSTEMS[sys.platform]]
    names = [name, name.replace(".tar.xz", ".zip")]
    return [out / each for each in dict.fromkeys(names)]


def archive(folder: Path, out: Path) -> None:
    """Pack the program."""
    for path in archives_in(out):
        write = archives.write_zip if path.suffix == ".zip" else archives.write_tar
        write(folder, path, moment())


def made_with() -> dict[str, str]:
    """Return the versions of what the program is made of."""
    return {"python": sys.version.split()[0], "qt": metadata.version("PySide6-Essentials")}


def moment() -> int:
    """Return the time that files of the build bear: that of the commit, or ``SOURCE_DATE_EPOCH``."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],
        cwd=recipe.ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return int(done.stdout or archives.EARLIEST)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Build the reviewer's bundle and a stick.")
    parser.add_argument("--out", type=Path, default=recipe.ROOT / "dist", help="default: dist")
    for system, name in ARCHIVES.items():
        parser.add_argument(f"--{system}", type=_archive, metavar="FILE", help=f"{name} that was built elsewhere")
    return parser


def _archive(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return path.resolve()


if __name__ == "__main__":
    sys.exit(main())
