"""What a notebook shows: the cells of docs/notebook.md in their order, and objects that show themselves."""

import ast
import re
import sys
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import rosetta as ro
from harness.card.checking.verify_card import seal
from harness.core.failures import UsageError
from harness.store.runs import find_run
from harness.store.sqlite.database import default_path, open_store
from rosetta.stored_run import RunHandle
from tests.harness.card import factory
from tests.harness.sealed.refusals import refuses

pytestmark = pytest.mark.usefixtures("home")
PAGE = Path(__file__).parents[2] / "docs" / "notebook.md"


def run_cell(code: str, known: dict[str, Any]) -> Any:
    """Run a cell; gives what its last line shows, None where that is no expression."""
    tree = ast.parse(code)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body.pop()
    exec(compile(tree, "cell", "exec"), known)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), known)


@pytest.mark.costly("four runs, as on the page")
def test_each_cell_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    known: dict[str, Any] = {}
    shown = [run_cell(code, known) for code in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)]
    html = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_") and not hasattr(value, "to_frame")]
    assert len(html) >= 4
    assert all(well_formed(text) for text in html)
    assert "exact match" in html[0].lower()
    assert shown[1] == (known["run"].id, "complete", 0.0)
    frame = known["frame"]
    assert list(frame["entry_id"]) == [row["entry_id"] for row in known["run"].entries()]
    assert str(frame["chrf_plus_plus"].dtype) == "float64"
    assert shown[-1] is True
    assert capsys.readouterr().out.split()[-1] == "Finished"


def well_formed(text: str) -> bool:
    """Return whether each element of a page is closed in its order."""
    open_: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            assert {name for name, _ in attrs} <= {"dir", "scope"}
            open_.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_.pop() == tag

    Parser().feed(text)
    return not open_


def stored(**more: Any) -> RunHandle:
    with closing(open_store(default_path())) as connection:
        factory.add_run(connection, **more)
        seal(connection, find_run(connection, factory.RUN_ID).id)
    return ro.runs()[0]


def test_names_from_outside_are_escaped_and_act_on_nothing() -> None:
    model = "<script>alert(1)</script>\x1b[2J\u202e"
    html = stored(setup=factory.SETUP.model_copy(update={"model_slug": model}))._repr_html_()
    assert "&lt;script&gt;" in html
    assert not any(part in html for part in ("<script", "\x1b", "\u202e"))


def test_a_run_with_secrets_shows_neither_scores_nor_texts() -> None:
    run = stored(entries=(*factory.ENTRIES, factory.SECRET_ENTRY), outputs=(*factory.OUTPUTS, factory.SECRETS[3]))
    html = run._repr_html_()
    assert "released card" in html
    assert not any(text in html for text in (*factory.SECRETS, "chrF", "62.", "0.5"))


def test_a_run_shows_no_text_of_an_entry() -> None:
    html = stored()._repr_html_()
    assert "chrF++" in html
    texts = [text for entry in factory.ENTRIES for text in (entry.source, entry.reference)]
    assert not any(text in html for text in (*texts, *filter(None, factory.OUTPUTS)))


def test_a_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    refuses(UsageError, "pip install pandas.*entries", stored().frame)
