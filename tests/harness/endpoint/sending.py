"""One request, sent, and how it failed."""

import asyncio
import json
from typing import Any

import pytest

from corpora.model.terms import Clearance
from corpora.model.vocabularies import Sending, Transmission
from harness.core.calls import Reply, Request
from harness.core.failures import CallError
from harness.endpoint.client import EndpointClient
from harness.method.completions import read_completion
from tests.harness.scripted import completion

ANYWHERE = Clearance(sending=Sending(Transmission.OPEN))
HERE = Clearance()
KEY = "sk-proj-abcdefghijklmnop"


SECRET_SOURCE = "the medicine bundle is opened at dawn"


def request(url: str, **more: Any) -> Request:
    fields: dict[str, Any] = {
        "provider": "local", "url": f"{url}/chat/completions",
        "body": {"model": "m", "messages": [{"role": "user", "content": SECRET_SOURCE}]},
        "read": read_completion, "headers": {"Authorization": f"Bearer {KEY}"},
    }  # fmt: skip
    return Request(**(fields | more))


def send(asked: Request, *, timeout: float = 5.0, offline: bool = False) -> tuple[Reply, int]:
    async def main() -> tuple[Reply, int]:
        client = EndpointClient(HERE if offline else ANYWHERE, timeout_seconds=timeout)
        try:
            return await client.send(asked)
        finally:
            await client.close()

    return asyncio.run(main())


def failure(asked: Request, *, timeout: float = 5.0, offline: bool = False) -> CallError:
    with pytest.raises(CallError) as caught:
        send(asked, timeout=timeout, offline=offline)
    return caught.value


GOOD = json.dumps(completion("whole")).encode()
