"""LibreTranslate, on one's own server or a public one."""

from __future__ import annotations

from typing import Any

from harness.methods.services.service import ServiceQuestion, WireRequest, language


class LibreTranslate:
    """Speaks LibreTranslate's shape, which wants a key inside the body."""

    name = "libretranslate"
    most_texts = 50

    def wire(self, url: str, question: ServiceQuestion) -> WireRequest:
        """See ``Service``."""
        body = {
            "q": list(question.texts),
            "source": _tag(question.source),
            "target": _tag(question.target),
            "format": "text",
        }
        secrets = {"api_key": question.key} if question.key else {}
        return WireRequest(url, body, body_secrets=secrets)

    def texts(self, reply: Any) -> list[Any]:
        """See ``Service``; a single text may come back without a list."""
        texts = reply["translatedText"]
        return [texts] if isinstance(texts, str) else texts


def _tag(tag: str) -> str:
    """Scripts matter for Chinese only; regions for Portuguese of Brazil."""
    known = {"zh": "zh-Hans", "zh-hans": "zh-Hans", "zh-hant": "zh-Hant", "pt-br": "pt-BR"}
    return known.get(tag.lower(), language(tag))
