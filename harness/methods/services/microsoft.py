"""Microsoft Translator, API version 3."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from harness.methods.services.service import ServiceQuestion, WireRequest

_TAGS = {"zh": "zh-Hans", "no": "nb", "sr": "sr-Cyrl"}


class Microsoft:
    """Speaks Microsoft's shape: languages in the URL, texts in a list."""

    name = "microsoft"
    most_texts = 100

    def wire(self, url: str, question: ServiceQuestion) -> WireRequest:
        """See ``Service``."""
        source, target = (_TAGS.get(tag, tag) for tag in (question.source, question.target))
        asked = urlencode({"api-version": "3.0", "from": source, "to": target})
        headers = {
            "Ocp-Apim-Subscription-Key": question.key,
            "Ocp-Apim-Subscription-Region": question.region,
        }
        return WireRequest(
            url=f"{url}?{asked}",
            body=[{"Text": text} for text in question.texts],
            headers={name: value for name, value in headers.items() if value},
        )

    def texts(self, reply: Any) -> list[Any]:
        """See ``Service``."""
        return [item["translations"][0]["text"] for item in reply]
