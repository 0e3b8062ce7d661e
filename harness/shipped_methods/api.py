"""api: a translation service as a baseline (§9.6): DeepL, Google, LibreTranslate or Microsoft.

Each service says how texts are sent to it and how its replies are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

from corpora.languages.tags import language_of
from corpora.model.entry import Entry
from harness.core.calls import Calls, Price, Reply, Request
from harness.core.failures import ErrorClass, Transient, UsageError
from harness.core.storage import storable
from harness.endpoint.budget import LOCAL, Prices, bounded
from harness.endpoint.endpoints import Endpoint, KeySource, service_endpoint
from harness.method.method import MethodClass, Output
from harness.method.options import MethodOptions


@dataclass(frozen=True, slots=True)
class ServiceQuestion:
    """A request to a service, in its own language tags."""

    texts: Sequence[str]
    source: str  # BCP 47 tag
    target: str  # BCP 47 tag
    key: str | None = field(repr=False)
    region: str | None


@dataclass(frozen=True, slots=True)
class ServiceRequest:
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

    def request(self, url: str, question: ServiceQuestion) -> ServiceRequest:
        """Convert a question into the service's shape; keys into headers, never into the URL."""
        ...

    def texts(self, reply: Any) -> list[Any]:
        """Extract the translations from a decoded reply, in order; any error is a malformed reply."""
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


_VARIANTS = {"EN-US", "EN-GB", "PT-PT", "PT-BR", "ZH-HANS", "ZH-HANT", "ES-419"}


class DeepL:
    """Speaks DeepL's shape; keys that end in ``:fx`` go to the free plan's host."""

    name = "deepl"
    most_texts = 50

    def request(self, url: str, question: ServiceQuestion) -> ServiceRequest:
        if (question.key or "").endswith(":fx"):
            url = url.replace("https://api.deepl.com/", "https://api-free.deepl.com/")
        source, target = (language_of(tag).upper() for tag in (question.source, question.target))
        variant = question.target.replace("_", "-").upper()
        body = {
            "text": list(question.texts),
            "source_lang": {"NO": "NB"}.get(source, source),
            "target_lang": variant if variant in _VARIANTS else {"NO": "NB"}.get(target, target),
        }
        headers = {"Authorization": f"DeepL-Auth-Key {question.key}"} if question.key else {}
        return ServiceRequest(url, body, headers)

    def texts(self, reply: Any) -> list[Any]:
        return [translation["text"] for translation in reply["translations"]]


_GOOGLE_TAGS = {"zh-hans": "zh-CN", "zh-hant": "zh-TW", "nb": "no"}


class Google:
    """Speaks Google's shape; the key goes into a header, because URLs are logged."""

    name = "google"
    most_texts = 128

    def request(self, url: str, question: ServiceQuestion) -> ServiceRequest:
        body = {
            "q": list(question.texts),
            "source": _GOOGLE_TAGS.get(question.source.lower(), question.source),
            "target": _GOOGLE_TAGS.get(question.target.lower(), question.target),
            "format": "text",
        }
        return ServiceRequest(url, body, {"X-goog-api-key": question.key} if question.key else {})

    def texts(self, reply: Any) -> list[Any]:
        return [translation["translatedText"] for translation in reply["data"]["translations"]]


class LibreTranslate:
    """Speaks LibreTranslate's shape, which wants a key inside the body."""

    name = "libretranslate"
    most_texts = 50

    def request(self, url: str, question: ServiceQuestion) -> ServiceRequest:
        body = {
            "q": list(question.texts),
            "source": _tag(question.source),
            "target": _tag(question.target),
            "format": "text",
        }
        secrets = {"api_key": question.key} if question.key else {}
        return ServiceRequest(url, body, body_secrets=secrets)

    def texts(self, reply: Any) -> list[Any]:
        """Return the texts of a reply; a single text may come back without a list."""
        texts = reply["translatedText"]
        return [texts] if isinstance(texts, str) else texts


def _tag(tag: str) -> str:
    """Scripts matter for Chinese only; regions for Portuguese of Brazil."""
    known = {"zh": "zh-Hans", "zh-hans": "zh-Hans", "zh-hant": "zh-Hant", "pt-br": "pt-BR"}
    return known.get(tag.lower(), language_of(tag))


_MICROSOFT_TAGS = {"zh": "zh-Hans", "no": "nb", "sr": "sr-Cyrl"}


class Microsoft:
    """Speaks Microsoft's shape: languages in the URL, texts in a list."""

    name = "microsoft"
    most_texts = 100

    def request(self, url: str, question: ServiceQuestion) -> ServiceRequest:
        source, target = (_MICROSOFT_TAGS.get(tag, tag) for tag in (question.source, question.target))
        asked = urlencode({"api-version": "3.0", "from": source, "to": target})
        headers = {"Ocp-Apim-Subscription-Key": question.key, "Ocp-Apim-Subscription-Region": question.region}
        return ServiceRequest(
            url=f"{url}?{asked}",
            body=[{"Text": text} for text in question.texts],
            headers={name: value for name, value in headers.items() if value},
        )

    def texts(self, reply: Any) -> list[Any]:
        return [item["translations"][0]["text"] for item in reply]


SERVICES: dict[str, type[Service]] = {service.name: service for service in (DeepL, Google, Microsoft, LibreTranslate)}


class Api:
    """Sends the sources to a service, several in one call where the run asks for it."""

    def __init__(self, service: Service, endpoint: Endpoint, key: str | None, options: MethodOptions) -> None:
        self.endpoint = endpoint.url
        self.setup = options.setup(
            f"api:{service.name}",
            MethodClass.API,
            "baseline",
            provider=endpoint.name,
            model_slug=service.name,
            batch_size=options.batch_size,
        )
        self._service = service
        self._key = key
        self._options = options
        self._price: Price | None = LOCAL
        if not endpoint.local:  # a service at another address than its own has another price
            own = service_endpoint(service.name, None).url == endpoint.url
            place = service.name if own else endpoint.url
            self._price = Prices(options.prices).price(place, service.name, characters=True)

    def check_budget(self) -> None:
        bounded(self._price, 0)  # a service charges for no output

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        """Request the entries' translations; see ``Method``."""
        reply = await calls.send(self._request(entries))
        return [
            Output(text) if text.strip() else Output(None, ErrorClass.EMPTY, "The service gave an empty translation.")
            for text in json.loads(reply.text)
        ]

    def _request(self, entries: Sequence[Entry]) -> Request:
        options = self._options
        texts = [entry.source for entry in entries]
        question = ServiceQuestion(texts, options.source_language, options.target_language, self._key, options.region)
        asked = self._service.request(self.endpoint, question)

        def read(reply: Any) -> Reply:
            """Convert a decoded reply into one whose text is the translations as a JSON list."""
            read_back = [storable(text) for text in read_texts(self._service, reply, len(texts))]
            return Reply(text=json.dumps(read_back, ensure_ascii=False))

        return Request(
            provider=self._service.name,
            url=asked.url,
            body=asked.body,
            read=read,
            accept=lambda reply: all(text.strip() for text in json.loads(reply.text)),
            headers=asked.headers,
            body_secrets=asked.body_secrets,
            price=self._price,
            characters=sum(map(len, texts)),
            replicate=options.replicate,
        )


def api(name: str, options: MethodOptions, find_key: KeySource) -> Api:
    """Make the method for ``api:SERVICE``; UsageError names what is missing or does not fit."""
    service = SERVICES[name]()
    if options.batch_size > service.most_texts:
        raise UsageError(f"{name} takes at most {service.most_texts} texts a call: lower --batch-size.")
    endpoint = service_endpoint(name, options.endpoint)
    return Api(service, endpoint, find_key(endpoint), options)
