"""DeepL, API version 2."""

from __future__ import annotations

from typing import Any

from harness.methods.services.service import ServiceQuestion, WireRequest, language

_VARIANTS = {"EN-US", "EN-GB", "PT-PT", "PT-BR", "ZH-HANS", "ZH-HANT", "ES-419"}


class DeepL:
    """Speaks DeepL's shape; keys that end in ``:fx`` go to the free plan's host."""

    name = "deepl"
    most_texts = 50

    def wire(self, url: str, question: ServiceQuestion) -> WireRequest:
        """See ``Service``."""
        if (question.key or "").endswith(":fx"):
            url = url.replace("https://api.deepl.com/", "https://api-free.deepl.com/")
        body = {
            "text": list(question.texts),
            "source_lang": _language(question.source),
            "target_lang": _target(question.target),
        }
        headers = {"Authorization": f"DeepL-Auth-Key {question.key}"} if question.key else {}
        return WireRequest(url, body, headers)

    def texts(self, reply: Any) -> list[Any]:
        """See ``Service``."""
        return [translation["text"] for translation in reply["translations"]]


def _language(tag: str) -> str:
    return {"NO": "NB"}.get(language(tag).upper(), language(tag).upper())


def _target(tag: str) -> str:
    """A target may name a variant, where DeepL has it."""
    whole = tag.replace("_", "-").upper()
    return whole if whole in _VARIANTS else _language(tag)
