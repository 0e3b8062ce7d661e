"""At the first secret run a person on a terminal answers for the local server; nothing is sent before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.scripted import completion, json_answer, serving
from tests.tui.real.pseudo import Pseudo, wait

QUESTION = b"Does it keep all texts on this machine?"


@pytest.mark.thorough
@pytest.mark.parametrize(("answer", "sent"), [("n\n", False), ("y\n", True)])
def test_question_comes_before_anything_is_sent(tmp_path: Path, answer: str, sent: bool) -> None:
    corpus, home = tmp_path / "corpus.json", tmp_path / "home"
    dataset = {"id": "made", "source_language": "en", "target_language": "eo"}
    entry = {"source": "kanario", "reference": "r", "segment": "held_out"}
    rows = [{"id": n, **entry} for n in range(6)]
    corpus.write_text(json.dumps({"dataset": dataset, "entries": rows}))
    with serving(lambda _: json_answer(completion("x"))) as server:
        words = ("run", corpus, "-m", "chat", "--model", "m", "--endpoint", server.url, "--plain")
        with Pseudo(home, *words) as terminal:
            wait(
                lambda: terminal.screen() and bytes(terminal.drawn), lambda drawn: QUESTION in drawn
            )
            assert server.asked == []
            terminal.press(answer)
            assert terminal.ended() == (0 if sent else 130)
            assert b"may forward" in terminal.drawn
            assert b"kanario" not in terminal.drawn
        assert bool(server.asked) is sent
        if sent:
            with Pseudo(home, *words) as again:
                assert again.ended() == 0
                assert QUESTION not in again.drawn
