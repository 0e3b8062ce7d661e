"""At the first secret run a person on a terminal answers for the local server; nothing is sent before."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.scripted import Scripted, completion, json_answer, serving

QUESTION = b"Does it keep all texts on this machine?"


def converse(command: list[str], answer: bytes, home: Path) -> tuple[int, bytes]:
    """Run a command on a terminal of its own and answer its question."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave,
        env={**os.environ, "ROSETTA_HOME": str(home), "TERM": "dumb"},
    )  # fmt: skip
    os.close(slave)
    said, answered = b"", False
    while select.select([master], [], [], 120)[0]:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
        if QUESTION in said and not answered:
            os.write(master, answer)
            answered = True
    os.close(master)
    return process.wait(timeout=600), said


@pytest.mark.thorough
@pytest.mark.parametrize(("answer", "sent"), [(b"n\n", False), (b"y\n", True)])
def test_the_question_is_asked_before_anything_is_sent(
    tmp_path: Path, answer: bytes, sent: bool
) -> None:
    corpus = tmp_path / "corpus.json"
    dataset = {"id": "made", "source_language": "en", "target_language": "eo"}
    rows = [
        {"id": n, "source": f"kanario {n}", "reference": "r", "segment": "held_out"}
        for n in range(6)
    ]
    corpus.write_text(json.dumps({"dataset": dataset, "entries": rows}))
    home = tmp_path / "home"
    with serving() as server:
        assert isinstance(server, Scripted)
        server.answer = lambda asked: json_answer(completion("x"))
        command = [
            sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()",
            "run", str(corpus), "-m", "chat", "--model", "m", "--endpoint", server.url, "--plain",
        ]  # fmt: skip
        code, said = converse(command, answer, home)
        assert QUESTION in said
        assert b"may forward" in said
        assert b"kanario" not in said
        assert bool(server.asked) is sent
        assert code == (0 if sent else 130)
        if sent:
            again, said = converse(command, b"", home)
            assert again == 0
            assert QUESTION not in said
