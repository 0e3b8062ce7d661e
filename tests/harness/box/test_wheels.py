"""Wheels are installed in the box, by their hashes, from what came with the method and from nowhere else."""

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from harness.box.code import BoxedCode
from harness.box.failures import BoxStage
from harness.core.failures import UsageError
from tests.harness.box.making import SMALL, asked, boxed, needs_engine
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first

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
def test_a_wheel_is_installed(tmp_path: Path) -> None:
    digest = hashlib.sha256(wheel(tmp_path / "wheels").read_bytes()).hexdigest()
    needs = required(tmp_path, f"shout==1.0 --hash=sha256:{digest}")
    method = boxed(tmp_path / "code", SHOUTS, WIDE, wheels=tmp_path / "wheels", requirements=needs)
    [[output]] = asked(method, ["a"])
    assert output.text == "A", method.words


@needs_engine
@pytest.mark.parametrize(
    "line",
    first(
        2,
        [
            f"shout==1.0 --hash=sha256:{'0' * 64}",
            "--index-url https://192.0.2.1/simple\nshout==1.0",
            "shout==1.0",
            "shout @ file:///box/wheels/shout-1.0-py3-none-any.whl",
            f"absent==1.0 --hash=sha256:{'0' * 64}",
        ],
    ),
)
def test_another_file_than_the_hash_names_is_not(tmp_path: Path, line: str) -> None:
    wheel(tmp_path / "wheels")
    needs = required(tmp_path, line)
    method = boxed(tmp_path / "code", SHOUTS, WIDE, wheels=tmp_path / "wheels", requirements=needs)
    [[output]] = asked(method, ["a"])
    words = (
        "What the method needs could not be installed from the wheels that came with it: it ended."
    )
    assert output.error == words
    assert method.failure.stage is BoxStage.INSTALL


@needs_engine
def test_a_source_archive_is_not_built(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    source = tmp_path / "wheels" / "shout-1.0.tar.gz"
    source.write_bytes(b"would be run")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    needs = required(tmp_path, f"shout==1.0 --hash=sha256:{digest}")
    method = boxed(tmp_path / "code", SHOUTS, WIDE, wheels=tmp_path / "wheels", requirements=needs)
    asked(method, ["a"])
    assert method.failure.stage is BoxStage.INSTALL


def test_wheels_without_hashes_are_refused(tmp_path: Path) -> None:
    refuses(UsageError, "go together", BoxedCode(tmp_path, "method:translate", wheels=tmp_path).check)  # fmt: skip
