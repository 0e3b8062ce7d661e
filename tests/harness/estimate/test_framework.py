"""The cost framework: the shipped numbers are the document's, sums are those of rows, and bad files are refused."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.core.failures import UsageError
from harness.estimate.framework import read_framework, shipped_text, work_out
from rosetta_tui.commands import rosetta

SEED = Path(__file__).parents[4] / "shared" / "seeds" / "benchmark-specification.md"
SHIPPED = work_out(read_framework(None))


NUMBER = r"\d{1,3}(?:,\d{3})*(?:\.\d\d)?"


def number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.mark.skipif(
    not SEED.exists(), reason="the specification's documents are not beside the repository"
)
def test_every_number_of_the_document_is_shipped() -> None:
    text = SEED.read_text("utf-8")
    part = text[text.rindex("10. Cost Framework") : text.rindex("11. Extending to New Languages")]
    rows = read_framework(None).establishment.rows
    assert SHIPPED.establishment_total is not None
    ours = {f"{each.method}{each.model}": each.stated_usd for each in read_framework(None).run}
    ours |= {each.component: each.usd for each in rows}
    ours |= {"Total establishment": SHIPPED.establishment_total.stated_usd}
    ours |= {each.name: each.stated_usd for each in SHIPPED.programs}
    table = re.findall(rf"^(\S[^$\n]*?)\$({NUMBER})–({NUMBER})(/year)?(.*)$", part, re.MULTILINE)
    assert [(name, (number(low), number(high))) for name, low, high, _, _ in table] == list(ours.items())  # fmt: skip
    notes = {name: note for name, *_, note in table if note}
    told = (*SHIPPED.establishment, *SHIPPED.programs)
    assert notes == {each.name: each.notes for each in told}
    yearly = {name for name, _, _, year, _ in table if year}
    assert yearly == {each.component for each in rows if each.each_year}
    counts = re.search(r"12 models × 3 temps × 2 prompts × 2 coaching = (\d+) runs at \$([\d.]+) avg = \*\*\$(\d+)", part)  # fmt: skip
    [sweep] = read_framework(None).sweep
    assert counts is not None
    assert [sweep.runs, sweep.usd_per_run.low, SHIPPED.sweeps[0].usd.high] == [float(each) for each in counts.groups()]  # fmt: skip


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    assert called("cost", "--write", path).exit_code == 0
    assert path.read_text("utf-8") == shipped_text()
    again = called("cost", "--write", path)
    assert isinstance(again.exception, UsageError)
    assert "there already" in str(again.exception)
    text = path.read_text("utf-8").replace("usd = [2500, 6000]", "usd = 4000")
    path.write_text(text.replace("established = 5", "established = 2"), "utf-8")
    shown = json.loads(called("cost", path, "--json").output)
    assert shown["establishment_total"]["usd"] == [4850, 6700]
    assert shown["programs"][1]["usd"] == [2 * 4850 + 5 * 1000, 2 * 6700 + 5 * 3000]
    assert shown["differing"][0] == "Total establishment"
    run = '[[run]]\nmethod = "Ours"\nentries = 200\ncalls_per_entry = [1, 3]\nusd_per_call = 0.5\n'
    path.write_text(f"version = 1\n{run}")
    found = work_out(read_framework(path))
    assert (found.runs[0].usd, found.differing, found.establishment_total) == ((100, 300), (), None)
    assert SHIPPED.establishment_total is not None
    assert SHIPPED.establishment_total.usd == (3350, 8700)
    assert SHIPPED.establishment_total.stated_usd == (3350, 8500)
    done = called("cost")
    assert "! Total establishment: $3,350–8,500 is stated, but the numbers above come to $3,350–8,700." in done.output  # fmt: skip
    assert not any(each.differs for each in (*SHIPPED.runs, *SHIPPED.sweeps))


@pytest.mark.parametrize(("old", "new", "said"), [
    ("usd = [500, 1500]", "usd = [1500, 500]", r"line \d+, field 'establishment.rows.1.usd'.*the lowest first"),
    ("usd = [500, 1500]", "usd = -1", r"field 'establishment.rows.1.usd'.*numbers of 0"),
    ("usd = [500, 1500]", "usd = nan", r"field 'establishment.rows.1.usd'.*numbers of 0"),
    ("usd = [500, 1500]", "usd = true", r"field 'establishment.rows.1.usd'.*a number is wanted"),
    ("usd = [500, 1500]", "usd = [1, 2, 3]", r"two in square brackets"),
    ("usd = [500, 1500]", "cost = 1", r"field 'establishment.rows.1.*'"),
    ("entries = 150", "entries = 0", r"line \d+, field 'run.0.entries'.*at least 1"),
    ("version = 1", "version = 2", r"field 'version'"),
    ("version = 1", "version = ", r"not valid TOML"),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "own.toml"
    assert old in shipped_text()
    path.write_text(shipped_text().replace(old, new), "utf-8")
    with pytest.raises(UsageError, match=rf"own\.toml: .*{said}"):
        read_framework(path)


def called(*words: object) -> Result:
    return CliRunner().invoke(rosetta, [str(word) for word in words])
