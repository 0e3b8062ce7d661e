"""Sentences to be translated: by a real input method, and by the accessibility tree with the row of letters."""

from __future__ import annotations

from pathlib import Path

from tests.desktop.real.bus import Bus
from tests.desktop.real.display import Display
from tests.desktop.real.input_method import WESTERN_CREE, input_method
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.told_tree import labels, press
from tests.desktop.real.window import Start
from tests.review.session.scenes import batch_of, item_id, sentences_of

LETTERS = ("â", "ê", "î", "ô")


def ready(folder: Path) -> Stage:
    return stage(folder, batch_of(sentences_of(2), task="translate", letters=LETTERS)).know()


def test_a_sentence_is_translated_through_an_input_method(
    display: Display, bus: Bus, reader: Reader, start: Start, tmp_path: Path
) -> None:
    scene = ready(tmp_path)
    around = {**display.environment, **bus.environment}
    with input_method(display.folder, around, WESTERN_CREE) as heard:
        shown = start(scene, scene.file, guard=0.0, **heard)
        shown.press("Return")
        shown.sees(item_id(1))
        shown.type("atim niwaapamaaw")
        shown.press("Return")
        shown.sees(item_id(2))
    assert scene.state().translations == {item_id(1): "ᐊᑎᒼ ᓂᐚᐸᒫᐤ"}


def test_a_sentence_is_translated_by_the_tree_alone(
    reader: Reader, start: Start, tmp_path: Path
) -> None:
    scene = ready(tmp_path)
    shown = start(scene, scene.file, guard=0.0)
    press(reader, "Go on")
    shown.sees(item_id(1))
    box = next(node for node in reader.all("text") if "editable" in node.states)
    assert labels(box) == [box.name]
    box.write("kî-w")
    for letter in ("â", "ê"):
        press(reader, letter)
    reader.until(lambda: box.text == "kî-wâê")
    press(reader, "Save…")
    shown.sees(item_id(2))
    assert scene.state().translations == {item_id(1): "kî-wâê"}
