"""The built program itself: it runs alone, asks for no network, draws every script, keeps keys."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from harness.core.version import VERSION
from harness.sealed.sealing import AgeIdentity, seal
from review.files.batch import open_batch
from review.files.manifests import BatchItem
from tests.desktop.real.display import NO_FONTS, Display, program, running, until
from tests.desktop.real.reader import WESTERN_CREE, Bus, Reader, input_method, session_bus
from tests.desktop.real.stage import COMMENT, stage
from tests.desktop.real.window import KNOWN_CARD
from tests.packaging.parts import ROOT, part
from tests.review.session.scenes import batch_of, item_id, items_of, write_file

SCRIPTS = ("ᓂᐚᐸᒫᐤ ᐊᑎᒼ 𑪰", "ƛ̓ x̌ʷ ā̂ ê", "سڵاو (کوردی).", "kî-wâpamêw")


def test_bundle_runs_alone_and_draws_scripts(bundle: Bundle, tmp_path: Path) -> None:
    assert bundle.run("--version").split() == ["rosetta-review", VERSION]
    texts = enumerate(SCRIPTS, 1)
    items = [BatchItem(id=item_id(n), source="x", candidate=text) for n, text in texts]
    # a sentence whose letters are nowhere is left out: it keeps nobody from the others
    strange = BatchItem(id=item_id(9), source="x", candidate="漢字")
    for number, shown in enumerate((items, [strange])):
        review = write_file(batch_of(shown), tmp_path / str(number))
        said = bundle.run("--language", "en", "--check", review, QT_QPA_PLATFORM="offscreen")
        assert "Asked by" in said


def test_it_is_small_and_holds_nothing_of_the_network(bundle: Bundle) -> None:
    recipe = part("recipe")
    files = [each for each in bundle.folder.rglob("*") if each.is_file() and not each.is_symlink()]
    assert sum(each.stat().st_size for each in files) <= 120_000_000
    assert (bundle.dist / "Review-Linux.zip").stat().st_size <= 50_000_000
    work = bundle.dist / "reviewer" / "work" / "linux"
    contents = json.loads((work / recipe.CONTENTS).read_text())
    recipe.refuse_denied((name for name, _ in contents["modules"]), (each.name for each in files))
    plugins = ("compose", "ibus")
    wanted = {f"lib{each}platforminputcontextplugin" for each in plugins}
    wanted |= {"libqxcb", "libxcb-cursor", "libxcb-icccm", "libxcb-keysyms"}
    assert {each.name.split(".")[0] for each in files} >= wanted | {"libxkbcommon-x11", "libQt6DBus"}


def test_packed_bundle_is_the_built_one_and_runs(bundle: Bundle, tmp_path: Path) -> None:
    out = tmp_path / "Mes documents é"
    with tarfile.open(bundle.dist / "Review-Linux.tar.xz") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # none before 3.11.4
        archive.extractall(out)
    unpacked = out / "rosetta-review"
    assert bundle.run("--version", file=unpacked / "rosetta-review").endswith(f"{VERSION}\n")
    for each in bundle.folder.rglob("*"):
        twin = unpacked / each.relative_to(bundle.folder)
        assert each.is_symlink() == twin.is_symlink()
        assert each.is_dir() or each.read_bytes() == twin.read_bytes()
    with zipfile.ZipFile(bundle.dist / "Review-Linux.zip") as packed:
        assert packed.testzip() is None
        files = [e for e in unpacked.rglob("*") if not e.is_dir() or e.is_symlink()]
        assert len(packed.namelist()) == len(files)


def test_a_stick_holds_what_a_person_needs(bundle: Bundle) -> None:
    stick = bundle.dist / "stick"
    names = {each.name for each in stick.iterdir()}
    assert names >= {"START-HERE.html", "Review-Linux.tar.xz", "Sample.rosetta-batch"}
    assert names >= {"LICENCES.txt", "CHECKSUMS.txt"}
    command = [program("sha256sum"), "--check", "--strict", "--quiet", "CHECKSUMS.txt"]
    subprocess.run(command, cwd=stick, check=True)
    page = (stick / "START-HERE.html").read_text()
    sample = open_batch((stick / "Sample.rosetta-batch").read_bytes())
    [code] = set(re.findall(r"\b([0-9A-Z]{4}-[0-9A-Z]{4})\b", page))
    assert sample.person(code.replace("-", ""))
    assert sample.organisation_phrase in page
    assert page.count("data:image/png") == 10
    licences = (stick / "LICENCES.txt").read_text()
    for owner in ("GNU LESSER GENERAL", "SIL OPEN FONT LICENSE", "Apache License", "PYTHON SOFTW"):
        assert owner.lower() in licences.lower(), owner


def test_bundle_asks_for_no_network(bundle: Bundle, display: Display, tmp_path: Path) -> None:
    scene = stage(tmp_path / "scene", batch_of(items_of(3))).know()
    trace = tmp_path / "trace"
    command = [program("strace"), "-D", "-f", "-qq", "-e", "trace=%network", "-o", str(trace)]
    around = bundle.environment(DISPLAY=display.name, ROSETTA_HOME=str(scene.home))
    with running([*command, str(bundle.file), str(scene.file)], around, log=tmp_path / "log") as shown:
        window = until(lambda: display.windows(shown.pid), (tmp_path / "log").read_text)[0]
        display.do("xdotool", "windowactivate", "--sync", window)
        display.press(*KNOWN_CARD)
        for count in (1, 2, 3):
            until(partial(_answered, display, scene, count), f"answer {count}")
    lines = trace.read_text(errors="replace").splitlines()
    assert any("AF_UNIX" in line for line in lines), "the tracer saw nothing"
    assert [line for line in lines if re.search(r"AF_INET|AF_PACKET|NETLINK_ROUTE", line)] == []
    assert len(scene.state().judgements) == 3


def _answered(display: Display, scene: object, count: int) -> bool:
    """Press a key where the answer is not on the disk yet; one that comes too early means nothing."""
    if len(scene.state().judgements) < count:  # type: ignore[attr-defined]
        display.press("2")
        time.sleep(0.1)
    return len(scene.state().judgements) >= count  # type: ignore[attr-defined]


def test_screen_reader_reads_and_input_method_writes(
    bundle: Bundle, display: Display, bus: Bus, reader: Reader, tmp_path: Path
) -> None:
    scene = stage(tmp_path / "scene", batch_of(items_of(3))).know()
    around = display.environment | bus.environment
    with input_method(display.folder, around, WESTERN_CREE) as heard:
        around |= heard | {"ROSETTA_HOME": str(scene.home)}
        command = [str(bundle.file), "--language", "en", str(scene.file)]
        with running(command, bundle.environment(**around), log=tmp_path / "log") as shown:
            window = until(lambda: display.windows(shown.pid), "a window")[0]
            display.do("xdotool", "windowactivate", "--sync", window)
            display.press(*KNOWN_CARD)
            reader.until(lambda: reader.read("Translation") == "Candidate 1.")
            display.press("c")
            box = reader.find(COMMENT, "text")
            display.type("atim niwaapamaaw")
            reader.until(lambda: box.text.startswith("ᐊᑎᒼ"))


def test_it_draws_on_a_desktop_that_has_no_x(bundle: Bundle, tmp_path: Path) -> None:
    socket = tmp_path / "run"
    socket.mkdir(mode=0o700)
    review = write_file(batch_of(), tmp_path)
    around = {"XDG_RUNTIME_DIR": str(socket)}
    server = [program("weston"), "--backend=headless-backend.so", "--socket=wayland-test"]
    with running(server, around, log=tmp_path / "weston.log"):
        until((socket / "wayland-test").exists, "a Wayland server")
        around["WAYLAND_DISPLAY"] = "wayland-test"
        said = bundle.run("--language", "en", "--check", review, **around)  # type: ignore[arg-type]
    assert "Asked by" in said


# keys


@contextlib.contextmanager
def keyring(folder: Path) -> Iterator[str]:
    """A bus with a real keyring that is unlocked."""
    daemon = f"{program('gnome-keyring-daemon')} --foreground --unlock --components=secrets"
    unlocking = [program("sh"), "-c", f"printf secret | {daemon}"]
    alone = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    with session_bus(folder, alone) as around, running(unlocking, around, log=folder / "keyring.log"):
        until((folder / "keyring").is_dir, "a keyring")
        yield around["DBUS_SESSION_BUS_ADDRESS"]


@pytest.mark.parametrize("kept", ["keyring", "file"])
def test_keys_go_into_the_keyring_or_else_a_private_file(
    bundle: Bundle, kept: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    review = tmp_path / "sealed.rosetta-batch"
    review.write_bytes(seal(batch_of().archive, [AgeIdentity.make().recipient]))
    with contextlib.ExitStack() as stack:
        more = {"QT_QPA_PLATFORM": "offscreen"}
        if kept == "keyring":
            folder = tmp_path_factory.mktemp("k")
            more["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(keyring(folder))
        around = bundle.environment(**more)
        stack.enter_context(running([str(bundle.file), str(review)], around, log=tmp_path / "log"))
        data = bundle.home / "data"
        names = {"laptop.keyring", "laptop.key"}
        found = until(lambda: names & {each.name for each in data.glob("laptop.key*")}, "keys")
    assert found == {"laptop.keyring" if kept == "keyring" else "laptop.key"}
    [path] = data.glob("laptop.key*")
    assert path.stat().st_mode & 0o777 == 0o600
    assert ("AGE-SECRET-KEY" in path.read_text()) == (kept == "file")


@dataclass(frozen=True)
class Bundle:
    """A built program, where the build put everything, and a home for it."""

    dist: Path
    home: Path

    @property
    def folder(self) -> Path:
        return self.dist / "reviewer" / "rosetta-review"

    @property
    def file(self) -> Path:
        return self.folder / "rosetta-review"

    def environment(self, **more: str) -> dict[str, str]:
        """Return a home, and nothing of this computer: no path, no fonts, no screen."""
        alone = {"HOME": str(self.home), "ROSETTA_HOME": str(self.home / "data")}
        return alone | {"PATH": "/nonexistent", "FONTCONFIG_FILE": str(NO_FONTS)} | more

    def run(self, *arguments: object, file: Path | None = None, **more: str) -> str:
        """Run it without any network until it ends; gives what it printed."""
        alone = [program("unshare"), "--user", "--map-root-user", "--net"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
            pytest.skip("this computer lets nobody leave its network")
        done = subprocess.run(
            [*alone, str(file or self.file), *map(str, arguments)],
            env=self.environment(**more), capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """Return what ``make reviewer-bundle`` built, or the place that ROSETTA_BUNDLE names; skips without."""
    dist = Path(os.environ.get("ROSETTA_BUNDLE") or ROOT / "dist")
    (home := tmp_path / "home").mkdir(exist_ok=True)
    bundle = Bundle(dist, home)
    if shutil.which(str(bundle.file)) is None:
        pytest.skip("no bundle was built: make reviewer-bundle builds one")
    return bundle
