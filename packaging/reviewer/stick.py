"""What is on a stick: the page to begin with, the programs, a sample, the licences, and the checksums."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import own_folder
import pictures
import recipe
import sample
from harness.sealed.stick import ARCHIVES, START_HERE
from own_folder import CHECKSUMS
from review.office.making.reviewer_programs import write_starters
from rosetta_tui.html.stick_pages import SampleFacts, StepPicture, start_here_page
from stages import Stages, hash_of

_HOW = (
    "# To check, here on the stick. Linux: sha256sum -c CHECKSUMS.txt   Mac: shasum -a 256 -c CHECKSUMS.txt   "
    "Windows: certutil -hashfile FILE SHA256\n"
)


def lay_out(folder: Path, programs: Mapping[str, Path], licences: str, work: Path) -> Path:
    """Make the folder that is copied to a stick, all of it or nothing; ``programs`` are archives by system."""
    there = [system for system in ARCHIVES if system in programs]
    own_folder.refuse_others(folder)  # before the minutes that pictures take
    made, drawn = _shown(work)
    with own_folder.filling(folder) as part:
        for system in there:
            shutil.copyfile(programs[system], part / ARCHIVES[system])
        write_starters(part)
        (part / sample.FILE).write_bytes(made.data)
        shown = {tag: [StepPicture(words, path.read_bytes()) for words, path in each] for tag, each in drawn.items()}
        page = start_here_page(there, SampleFacts(made.code, made.phrase), shown)
        (part / START_HERE).write_text(page, encoding="utf-8")
        (part / "LICENCES.txt").write_text(licences, encoding="utf-8")
        (part / CHECKSUMS).write_text(checksums(part), encoding="ascii")
    return folder


def _shown(work: Path) -> tuple[sample.Sample, pictures.Drawn]:
    """Return the sample and its pictures: those that were made before of the same program, or new ones."""
    stages, folder = Stages(work), work / "shown"
    ours = [recipe.ROOT / each for each in recipe.PACKAGES]
    texts = recipe.ROOT / "rosetta_tui" / "html" / "start_here.toml"
    inputs = hash_of([*ours, texts, recipe.HERE], metadata.version("PySide6-Essentials"))
    kept = folder / "sample.json"
    if stages.is_done("pictures", inputs, kept):
        return sample.kept(kept), pictures.drawn(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = sample.write(folder)
    drawn = pictures.draw(folder / sample.FILE, made, folder)
    sample.keep(made, kept)
    stages.note("pictures", inputs)
    return made, drawn


def checksums(folder: Path) -> str:
    """Return the SHA-256 of every file, in the form that sha256sum and shasum check."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name != CHECKSUMS
    ]
    return _HOW + "".join(lines)
