"""replay and human: outputs that were made elsewhere, by a system or by a person."""

from __future__ import annotations

from collections.abc import Sequence

from corpora.model.entry import Entry
from harness.core.calls import Calls
from harness.inputs.outputs import Outputs, own_outputs, read_outputs
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions, check_options
from harness.method.shipped import METHODS


class Replay:
    """Answers each entry with the output that a file holds for it, and with what was recorded then.

    What was not recorded is unknown: the time it takes to read a file is no latency of a system.
    """

    endpoint = None

    def __init__(self, outputs: Outputs, setup: Setup) -> None:
        self.setup = setup
        self._outputs = outputs

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        """Return the given outputs of these entries."""
        return [self._outputs.output(entry.id) for entry in entries]


def replay(options: MethodOptions, entries: Sequence[Entry]) -> Replay:
    """Make the method that replays a system's outputs; ``entries`` are those of the whole corpus."""
    return replay_of(options, _outputs("replay", options, entries))


def replay_of(options: MethodOptions, outputs: Outputs) -> Replay:
    """Make the method that replays these outputs."""
    models = outputs.models()
    model = options.model or (models[0] if len(models) == 1 else "replay")
    kind = options.method_class or MethodClass.CUSTOM_PLUGIN
    return Replay(outputs, _setup(options, "replay", kind, model, outputs))


def human(options: MethodOptions, entries: Sequence[Entry]) -> Replay:
    """Make the method that shows a human translator's work; ``entries`` are those of the whole corpus."""
    outputs = _outputs("human", options, entries)
    translator = options.translator or "human"
    return Replay(outputs, _setup(options, "human", MethodClass.HUMAN, translator, outputs))


def _outputs(method: str, options: MethodOptions, entries: Sequence[Entry]) -> Outputs:
    """Read the file of outputs, or, where none is named, take what the records bring with them."""
    needs, takes = METHODS[method]
    if options.outputs is None and (own := own_outputs(entries)) is not None:
        check_options(method, options, (), takes)
        return own
    check_options(method, options, needs, takes)
    assert options.outputs is not None  # noqa: S101  check_options has seen to it
    return read_outputs(options.outputs, entries, options.file_lines)


def _setup(
    options: MethodOptions, name: str, kind: MethodClass, slug: str, outputs: Outputs
) -> Setup:
    return Setup(
        method=name,
        method_name=options.method_name,
        method_class=kind,
        method_version="1",
        model_slug=slug,
        condition=options.condition or name,
        outputs_sha256=outputs.sha256,
        replicate=options.replicate,
    )
