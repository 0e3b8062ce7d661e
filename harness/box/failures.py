"""What may be said of a boxed method that failed: where it stopped, how, and whose fault it is, and nothing else.

A failure is a way out. Words, exit codes, sizes and times of a method that read secret texts could carry them, so none of
these is shown: only one of the few stages and manners below.
"""

from __future__ import annotations

from enum import StrEnum

from harness.core.failures import ErrorClass, HarnessError


class WhoseFault(StrEnum):
    """Who has to do something."""

    CUSTODIAN = "custodian"
    """The computer, its engine or its models: the method was not judged, and trying again is free."""
    ENTRANT = "entrant"
    """The method, or what came with it."""


class BoxStage(StrEnum):
    """Where a boxed method stopped."""

    ENGINE = "engine"
    """No box could be made."""
    INSTALL = "install"
    """What the method needs could not be installed from what came with it."""
    LOAD = "load"
    """Its module or entry point could not be loaded."""
    TRANSLATE = "translate"
    """It was asked for translations."""
    GATEWAY = "gateway"
    """A model that the custodian offers did not answer."""


class ExitReason(StrEnum):
    """How it stopped there."""

    ENDED = "ended"
    """It raised, crashed, ran out of memory, or left: which of these is not told."""
    TOO_LONG = "too_long"
    """It took longer than the limits allow."""
    MALFORMED = "malformed"
    """What came out was no answer to what was asked: half a line, another's id, or too much."""
    GAVE_UP = "gave_up"
    """It had to be begun again too often."""


_CLASSES = {
    ExitReason.ENDED: ErrorClass.METHOD,
    ExitReason.TOO_LONG: ErrorClass.TIMEOUT,
    ExitReason.MALFORMED: ErrorClass.MALFORMED,
    ExitReason.GAVE_UP: ErrorClass.METHOD,
}
_WORDS = {
    BoxStage.ENGINE: "No box could be made on this computer. Nothing was run: see `rosetta doctor`, and try again",
    BoxStage.INSTALL: "What the method needs could not be installed from the wheels that came with it",
    BoxStage.LOAD: "The method, or its model, could not be loaded",
    BoxStage.TRANSLATE: "The method failed at a text",
    BoxStage.GATEWAY: "A model of the gateway did not answer. The method was not judged: check that the model runs, and try again",
}
_HOW = {
    ExitReason.ENDED: "it ended",
    ExitReason.TOO_LONG: "it took too long",
    ExitReason.MALFORMED: "what it gave is not an answer to what was asked",
    ExitReason.GAVE_UP: "it had to be started too often",
}


class BoxFailure(HarnessError):  # noqa: N818  it is a way to fail, with a fault of its own
    """A boxed method stopped. The words follow from stage and manner alone, so they tell nothing of a text."""

    def __init__(self, stage: BoxStage, manner: ExitReason = ExitReason.ENDED) -> None:
        self.stage = BoxStage(stage)
        self.manner = ExitReason(manner)
        words = _WORDS[self.stage]
        super().__init__(
            f"{words}: {_HOW[self.manner]}." if self.fault is WhoseFault.ENTRANT else f"{words}."
        )

    @property
    def fault(self) -> WhoseFault:
        """Return who has to do something."""
        custodians = {BoxStage.ENGINE, BoxStage.GATEWAY}
        return WhoseFault.CUSTODIAN if self.stage in custodians else WhoseFault.ENTRANT

    @property
    def error_class(self) -> ErrorClass:
        """Return the class in which an entry fails by it."""
        return _CLASSES[self.manner]
