"""Whatever JSON a server of embeddings answers with, people get a cosine or a failure in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.annotators.embedding_endpoint import EndpointEmbedder, read_embeddings
from harness.annotators.embeddings import EmbeddingAnnotator
from harness.core.failures import ErrorClass, HarnessError, Transient
from harness.endpoint.keys import no_key
from harness.endpoint.limiter import RetryPolicy
from scoring.core.translation import Translation
from tests.harness.annotators.embedded import Blocking
from tests.harness.scripted import Answer, Asked, Scripted, serving
from tests.review.thorough import times


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


def annotator(server: Scripted) -> Blocking:
    once = RetryPolicy(most_attempts=1)
    return Blocking(EmbeddingAnnotator(EndpointEmbedder(server.url, "m", key=no_key)), once)


TRANSLATION = Translation(Entry(id=1, source="a", reference="b"), "c")
"""Two texts are embedded for it."""

NUMBERS = (
    st.integers(-(10**400), 10**400)
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from([2**63, -(2**63), 2**64, 1e308, 5e-324, 10**18, 10**19])
)
ANYTHING = st.recursive(
    NUMBERS | st.none() | st.booleans() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["data", "embedding", "index", "usage", "x"]), inner)
    ),
    max_leaves=12,
)
VECTORS = st.lists(NUMBERS | ANYTHING, max_size=3) | st.lists(NUMBERS, min_size=2, max_size=2)
ITEMS = st.fixed_dictionaries(
    {"embedding": VECTORS}, optional={"index": st.integers(-1, 2) | ANYTHING}
)
REPLIES = ANYTHING | st.fixed_dictionaries(
    {"data": st.lists(ITEMS, min_size=2, max_size=2) | ANYTHING},
    optional={"usage": st.dictionaries(st.sampled_from(["prompt_tokens", "cost"]), ANYTHING)},
)


@settings(
    max_examples=times(60, 250),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(reply=REPLIES)
def test_nothing_but_named_failures_comes_out(server: Scripted, reply: Any) -> None:
    body = json.dumps(reply).encode()  # with NaN and Infinity, as careless servers write them

    def answer(_: Asked) -> Answer:
        return Answer(body=body)

    server.answer = answer
    try:
        [cosine] = annotator(server).annotate([TRANSLATION])
    except HarnessError:
        return
    assert cosine is not None
    assert -1 <= cosine <= 1


@pytest.mark.parametrize(
    "number",
    [10**400, -(10**400), 10**4000, 10**19, "1", True, None, [1.0], {}, 1e19, float("nan")],
)
def test_what_is_no_number_of_a_vector_is_malformed(server: Scripted, number: Any) -> None:
    items = [{"index": place, "embedding": [number, number]} for place in range(2)]
    with pytest.raises(
        (HarnessError, ValueError, TypeError)
    ):  # the latter become one in the client
        read_embeddings({"data": items}, 2)
    body = json.dumps({"data": items}).encode()
    server.answer = lambda _: Answer(body=body)
    with pytest.raises(Transient) as caught:
        annotator(server).annotate([TRANSLATION])
    assert caught.value.error_class is ErrorClass.MALFORMED


def test_whole_numbers_make_a_vector(server: Scripted) -> None:
    items = [{"embedding": [3, 4]}, {"embedding": [4.5, 6]}]
    server.answer = lambda _: Answer(body=json.dumps({"data": items}).encode())
    assert annotator(server).annotate([TRANSLATION]) == [pytest.approx(1.0)]
