"""The shipped methods: their names and classes. Names are found without importing a method: help and
suggestions need no more. Those of plug-ins are found with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.files.installed import offered

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


GROUP = "rosetta.methods"  # Entry points of this group are methods

BUNDLE_SUFFIX = ".rosetta-submission"
"""End of the name of a file in which somebody hands in a method (``harness.submission``)."""

SUBMITTED = "submission"  # What code that was handed in is called on cards and in plans

SERVICE_NAMES = ("deepl", "google", "microsoft", "libretranslate")
"""Translation services that ``api:NAME`` asks."""

SHIPPED = {
    "copy-source": "the source itself",
    "constant": "one text for every entry",
    "glossary": "word by word from a dictionary",
    "ctranslate2": "a model of this machine, as data",
    "replay": "outputs made elsewhere",
    "human": "a human translator's work",
    "chat": "a language model, as it is or coached",
    "pipeline": "a language model, checked and asked again",
} | {f"api:{name}": f"the service {name}" for name in SERVICE_NAMES}
"""The methods that come with the program, with a word on each."""


NUMBER_LETTERS = 16  # Of the SHA-256 of a bundle: its number for people


def submission_number(method: str, method_sha256: str | None) -> str:
    """Return the number of the submission that the method of a run came in; empty for any other.

    Code that is installed here has a hash too, and its own name; shipped methods have none but with a maker's data.
    """
    came_in = method == SUBMITTED or method in SHIPPED
    return (method_sha256 or "")[:NUMBER_LETTERS] if came_in else ""


def installed() -> dict[str, EntryPoint]:
    """Return the methods that installed packages offer, by name."""
    return {point.name: point for point in offered(GROUP)}


def method_names() -> dict[str, str]:
    """List every method that can be named, those of installed plug-ins included."""
    names = {name: f"plug-in {point.value}" for name, point in installed().items()}
    return names | SHIPPED


METHOD_CLASSES = {
    "raw-llm": "a language model, as it comes",
    "coached-llm": "a language model with notes, examples or a dictionary",
    "pipeline": "several steps, such as a model whose words are checked",
    "custom-plugin": "anything else",
    "api": "a translation service",
    "human": "a person",
}
"""The classes of ``harness.method.method.MethodClass`` with a word on each; known without loading pydantic."""
