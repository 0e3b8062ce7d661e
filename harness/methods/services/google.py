"""Google Cloud Translation, basic edition (v2)."""

from __future__ import annotations

from typing import Any

from harness.methods.services.service import ServiceQuestion, WireRequest

_TAGS = {"zh-hans": "zh-CN", "zh-hant": "zh-TW", "nb": "no"}


class Google:
    """Speaks Google's shape; the key goes into a header, because URLs are logged."""

    name = "google"
    most_texts = 128

    def wire(self, url: str, question: ServiceQuestion) -> WireRequest:
        """See ``Service``."""
        body = {
            "q": list(question.texts),
            "source": _TAGS.get(question.source.lower(), question.source),
            "target": _TAGS.get(question.target.lower(), question.target),
            "format": "text",
        }
        return WireRequest(url, body, {"X-goog-api-key": question.key} if question.key else {})

    def texts(self, reply: Any) -> list[Any]:
        """See ``Service``."""
        return [translation["translatedText"] for translation in reply["data"]["translations"]]
