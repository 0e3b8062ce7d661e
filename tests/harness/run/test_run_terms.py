"""What a grant says of a run: the same call gives the same hash wherever its files lie, and anything else another."""

from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Selection
from corpora.model.entry import Segment
from harness import api
from harness.core.failures import UsageError
from harness.core.version import VERSION
from harness.run.run_terms import run_terms
from harness.vault.records import RunTerms

PLUGIN = """
class Echo:
    pass
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


def terms(method: str, selection: Selection | None = None, **told: Any) -> RunTerms:
    return run_terms(method, told, api.scoring_of(told), selection or Selection())


def test_the_same_call_is_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("hello\tsaluton\n")
    (tmp_path / "b.tsv").write_text("hello\tsaluton\n")
    one = terms("glossary", glossary=tmp_path / "a.tsv")
    assert one == terms("glossary", glossary=tmp_path / "b.tsv", batch_size=1, multi_ref=False)
    assert (one.method, one.scorer) == ("glossary", VERSION)


def test_anything_else_is_another_run(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("hello\tsaluton\n")
    (tmp_path / "b.tsv").write_text("hello\tadiaux\n")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("1")
    made = [
        terms("glossary", glossary=tmp_path / "a.tsv"),
        terms("glossary", glossary=tmp_path / "b.tsv"),
        terms("glossary", glossary=tmp_path / "a.tsv", metrics="chrf"),
        terms("glossary", glossary=tmp_path / "a.tsv", multi_ref=True),
        terms("glossary", glossary=tmp_path / "a.tsv", replicate=1),
        terms("glossary", glossary=tmp_path / "a.tsv", embeddings=str(tmp_path / "model")),
        terms("glossary", Selection(limit=1), glossary=tmp_path / "a.tsv"),
        terms("glossary", Selection(segments=(Segment.DEVELOPMENT,)), glossary=tmp_path / "a.tsv"),
        terms("copy-source"),
        terms("chat", model="m", endpoint="ollama"),
        terms("chat", model="m", endpoint="ollama", temperature=None),
        terms("chat", model="n", endpoint="ollama"),
    ]
    assert len({each.options for each in made}) == len(made)
    (tmp_path / "model" / "weights").write_text("2")
    other = terms("glossary", glossary=tmp_path / "a.tsv", embeddings=str(tmp_path / "model"))
    assert other.options not in {each.options for each in made}


def test_the_code_of_a_plug_in_counts_and_is_not_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "echo.py").write_text(PLUGIN)
    one, two = (terms(f"{tmp_path / name}/echo.py:Echo") for name in ("one", "two"))
    assert one == two
    assert one.method == "echo.py:Echo"
    (tmp_path / "two" / "echo.py").write_text(PLUGIN + "\nraise SystemExit\n")
    assert terms(f"{tmp_path / 'two'}/echo.py:Echo").options != one.options


def test_missing_files_and_methods_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.tsv cannot be read"):
        terms("glossary", glossary=tmp_path / "nowhere.tsv")
    with pytest.raises(UsageError, match="'nothing' is not known"):
        terms("nothing")
    with pytest.raises(UsageError, match="batch_size"):
        terms("copy-source", batch_size=0)
