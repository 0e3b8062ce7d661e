"""A program that the system stops in the middle of a sentence, as a laptop does when its lid is closed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from review.rating import Rating
from tests.desktop.real.display import Display
from tests.desktop.real.stage import stage
from tests.desktop.real.waiting import until
from tests.desktop.real.window import window
from tests.review.session.scenes import batch_of, item_id, items_of


def test_a_key_that_was_pressed_in_its_sleep_means_the_sentence_that_was_seen(
    display: Display, tmp_path: Path
) -> None:
    scene = stage(tmp_path, batch_of(items_of(4))).know()
    with window(display, scene.home, scene.file, guard=0.0) as shown:
        shown.press("Return")
        shown.sees(item_id(1))
        os.killpg(shown.process.pid, signal.SIGSTOP)
        until(lambda: _state(shown.process.pid) == "T", shown.said)
        shown.press("3")
        assert scene.state().judgements == {}
        os.killpg(shown.process.pid, signal.SIGCONT)
        shown.sees(item_id(2))
        judged = scene.state().judgements
        assert {item: each.rating for item, each in judged.items()} == {
            item_id(1): Rating.ACCEPTABLE
        }
        shown.press("4")
        shown.sees(item_id(3))
        shown.close()
    assert len(scene.state().judgements) == 2


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
