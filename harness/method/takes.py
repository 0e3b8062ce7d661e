"""Which options each shipped method needs and takes: what it is checked by, and what a form asks for."""

from __future__ import annotations

from typing import NamedTuple


class Takes(NamedTuple):
    """Options of one method, as fields of MethodOptions; both parts in the order in which people are asked."""

    needs: tuple[str, ...] = ()
    """It cannot be made without them."""
    takes: tuple[str, ...] = ()
    """They may be left out."""


MODEL_OPTIONS = ("temperature", "max_tokens", "prompt", "coaching", "body", "prices")
"""What everything takes that asks a model."""

_NAMES = ("source_name", "target_name")
_PIPELINE = ("checks", "tools", "glossary", "word_list", "analyser", "max_retries")
_SERVICE = ("endpoint", "batch_size", "prices", "service")

TAKES = {
    "copy-source": Takes(),
    "constant": Takes(("text",)),
    "glossary": Takes(("glossary",)),
    "replay": Takes(("outputs",), ("model",)),
    "human": Takes(("outputs",), ("translator",)),
    "chat": Takes(("endpoint", "model"), (*MODEL_OPTIONS, *_NAMES, "batch_size")),
    "pipeline": Takes(("endpoint", "model"), (*MODEL_OPTIONS, *_NAMES, *_PIPELINE)),
    "api:deepl": Takes((), _SERVICE),
    "api:google": Takes((), _SERVICE),
    "api:microsoft": Takes((), (*_SERVICE, "region")),
    "api:libretranslate": Takes((), _SERVICE),
}
"""By the method's name. A plug-in may take anything; it is not listed."""


def asks(method: str) -> bool:
    """Tell whether a method asks anybody; one that does not gives the same again. A plug-in may."""
    return method not in TAKES or "endpoint" in (*TAKES[method].needs, *TAKES[method].takes)
