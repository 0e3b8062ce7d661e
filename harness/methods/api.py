"""api: a translation service such as DeepL, as a baseline (§9.6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from corpora.model.entry import Entry
from harness.core.calls import Calls, Price, Reply, Request
from harness.core.failures import ErrorClass, UsageError
from harness.core.storable import storable
from harness.endpoint.budget import bounded
from harness.endpoint.endpoints import Endpoint, service_endpoint
from harness.endpoint.keys import KeySource
from harness.endpoint.prices import LOCAL, Prices
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions, check_options
from harness.method.takes import TAKES
from harness.methods.services import (
    DeepL,
    Google,
    LibreTranslate,
    Microsoft,
    Service,
    ServiceQuestion,
    read_texts,
)

SERVICES: dict[str, type[Service]] = {
    service.name: service for service in (DeepL, Google, Microsoft, LibreTranslate)
}


class Api:
    """Sends the sources to a service, several in one call where the run asks for it."""

    def __init__(
        self, service: Service, endpoint: Endpoint, key: str | None, options: MethodOptions
    ) -> None:
        self.endpoint = endpoint.url
        self.setup = _setup(service, endpoint, options)
        self._service = service
        self._key = key
        self._options = options
        self._price = _price(service, endpoint, options)

    def check_budget(self) -> None:
        """See ``Priced``; a service charges for no output."""
        bounded(self._price, 0)

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        """Ask for the entries' translations; see ``Method``."""
        reply = await calls.send(self._request(entries))
        return [_output(text) for text in json.loads(reply.text)]

    def _request(self, entries: Sequence[Entry]) -> Request:
        options = self._options
        texts = [entry.source for entry in entries]
        question = ServiceQuestion(
            texts, options.source_language, options.target_language, self._key, options.region
        )
        asked = self._service.request(self.endpoint, question)
        return Request(
            provider=self._service.name,
            url=asked.url,
            body=asked.body,
            read=partial(_read, self._service, len(texts)),
            accept=_answers_all,
            headers=asked.headers,
            body_secrets=asked.body_secrets,
            price=self._price,
            characters=sum(map(len, texts)),
            replicate=options.replicate,
            cacheable=not any(entry.secret for entry in entries),
        )


def _read(service: Service, count: int, reply: Any) -> Reply:
    """Turn a decoded reply into one whose text is the translations as a JSON list."""
    texts = [storable(text) for text in read_texts(service, reply, count)]
    return Reply(text=json.dumps(texts, ensure_ascii=False))


def _answers_all(reply: Reply) -> bool:
    """Tell whether the service translated every text."""
    return all(text.strip() for text in json.loads(reply.text))


def _output(text: str) -> Output:
    if not text.strip():
        return Output(None, ErrorClass.EMPTY, "The service gave an empty translation.")
    return Output(text)


def _price(service: Service, endpoint: Endpoint, options: MethodOptions) -> Price | None:
    """Take the price of the table; a service at another address than its own has another price."""
    if endpoint.local:
        return LOCAL
    own = service_endpoint(service.name, None).url == endpoint.url
    return Prices(options.prices).price(
        service.name if own else endpoint.url, service.name, characters=True
    )


def _setup(service: Service, endpoint: Endpoint, options: MethodOptions) -> Setup:
    return Setup(
        method=f"api:{service.name}",
        method_class=MethodClass.API,
        method_version="1",
        provider=endpoint.name,
        model_slug=service.name,
        condition=options.condition or "baseline",
        batch_size=options.batch_size,
        replicate=options.replicate,
    )


def api(name: str, options: MethodOptions, find_key: KeySource) -> Api:
    """Make the method for ``api:SERVICE``; UsageError names what is missing or does not fit."""
    check_options(f"api:{name}", options, *TAKES[f"api:{name}"])
    service = SERVICES[name]()
    if options.batch_size > service.most_texts:
        raise UsageError(
            f"{name} takes at most {service.most_texts} texts a call: lower --batch-size."
        )
    endpoint = service_endpoint(name, options.endpoint)
    return Api(service, endpoint, find_key(endpoint), options)
