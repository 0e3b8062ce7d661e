"""The lines of docs/verifying.md, run by a real shell with a real openssl over files that the program wrote, whole and changed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Role
from tests.tui.commands.certified_gold import TwoSides, two_sides
from tests.tui.commands.command_line import ok

PAGE = (Path(__file__).parents[2] / "docs/verifying.md").read_text("utf-8")
LINES = dict(re.findall(r"<!-- openssl: (\w+) -->\n```sh\n(.*?)```", PAGE, re.DOTALL))

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("openssl", "bash", "python3"))),
    reason="openssl, bash or python3 is not installed",
)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoSides]:
    with pytest.MonkeyPatch.context() as patch:
        yield two_sides(tmp_path_factory.mktemp("openssl"), patch)


def run(name: str, folder: Path, **keys: str) -> subprocess.CompletedProcess[str]:
    """Run the lines of a file's kind in its folder, with the function for keys before them."""
    script = f"set -e\n{LINES['key']}\n{LINES[name]}"
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env={"PATH": "/usr/bin:/bin:/usr/local/bin", **keys},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def holds(done: subprocess.CompletedProcess[str], times: int = 1) -> bool:
    return done.returncode == 0 and done.stdout.count("Verified Successfully") == times


def test_a_certificate(sides: TwoSides, tmp_path: Path) -> None:
    shutil.copy(sides.certificate, tmp_path / "NAME.certificate.json")
    signature = sides.certificate.name.replace(".json", ".sig")
    shutil.copy(sides.certificate.with_name(signature), tmp_path / "NAME.certificate.sig")
    assert holds(run("certificate", tmp_path, KEY=sides.organisation_key))
    assert not holds(run("certificate", tmp_path, KEY=sides.key()))
    path = tmp_path / "NAME.certificate.json"
    path.write_bytes(path.read_bytes().replace(b'"go"', b'"no"'))
    assert not holds(run("certificate", tmp_path, KEY=sides.organisation_key))


def test_a_signed_card(sides: TwoSides, tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("id\tsource\treference\n1\tHello\tSaluton\n", "utf-8")
    languages = "--source-language en --target-language eo"
    ok(f"run {tmp_path}/c.tsv {languages} --method copy-source --plain", sides.developer)
    ok(f"runs export last -o {tmp_path}/NAME.json", sides.developer)
    key = sides.key(Role.COMPUTER)
    assert holds(run("card", tmp_path, KEY=key))
    assert not holds(run("card", tmp_path, KEY=sides.organisation_key))
    path = tmp_path / "NAME.seal.json"
    whole = path.read_text()
    path.write_text(whole.replace('"rows":1', '"rows":2'))
    assert not holds(run("card", tmp_path, KEY=key))
    path.write_text(whole)
    card = tmp_path / "NAME.json"
    raw = json.loads(card.read_bytes())
    card.write_text(json.dumps(raw | {"run_card_hash": "0" * 64}))
    assert "another card" in run("card", tmp_path, KEY=key).stderr


def test_a_record_of_ownership(sides: TwoSides, tmp_path: Path) -> None:
    path = tmp_path / "NAME.rosetta-ownership"
    shutil.copy(sides.signed(), path)
    keys = {"ORGANISATION": sides.organisation_key, "DEVELOPER": sides.key()}
    assert holds(run("ownership", tmp_path, **keys), times=2)
    assert not holds(run("ownership", tmp_path, **keys | {"DEVELOPER": "0" * 64}), times=2)
    raw = json.loads(path.read_bytes())
    raw["terms"]["organisation_share"] = 100
    path.write_bytes(canonical_bytes(raw) + b"\n")
    assert "other terms" in run("ownership", tmp_path, **keys).stderr
