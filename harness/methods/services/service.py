"""What a translation service is to us: how texts are sent, and how its reply is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.core.failures import ErrorClass, Transient


@dataclass(frozen=True, slots=True)
class ServiceQuestion:
    """What is asked of a service, in its own language tags."""

    texts: Sequence[str]
    source: str
    """BCP 47 tag."""
    target: str
    """BCP 47 tag."""
    key: str | None = field(repr=False)
    region: str | None


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A question in the form in which it goes over the wire."""

    url: str
    body: Mapping[str, Any] | Sequence[Any]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body_secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


class Service(Protocol):
    """One translation service."""

    name: str
    most_texts: int
    """Texts that one call may hold."""

    def wire(self, url: str, question: ServiceQuestion) -> WireRequest:
        """Put a question into the service's shape; keys into headers, never into the URL."""
        ...

    def texts(self, reply: Any) -> list[Any]:
        """Take the translations out of a decoded reply, in order; any error is a malformed reply."""
        ...


def read_texts(service: Service, reply: Any, count: int) -> list[str]:
    """Read exactly ``count`` translations; Transient where the reply has another shape or number."""
    try:
        texts = service.texts(reply)
    except (KeyError, IndexError, TypeError, AttributeError):
        texts = []
    if len(texts) != count or not all(isinstance(text, str) for text in texts):
        raise Transient(ErrorClass.MALFORMED, f"{service.name} did not give {count} translations.")
    return texts


def language(tag: str) -> str:
    """Return the language of a tag, without script and region, in lower case."""
    return tag.replace("_", "-").split("-")[0].lower()
