"""What a call took is parted among its entries without a rest."""

from hypothesis import given
from hypothesis import strategies as st

from harness.core.calls import Usage
from harness.method.result import shares

COUNTS = st.integers(0, 10**9)


@given(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS), st.integers(1, 500))
def test_shares_add_up_and_differ_by_one_at_most(usage: Usage, entries: int) -> None:
    parts = shares(usage, entries)
    assert len(parts) == entries
    total = Usage()
    for part in parts:
        assert part is not None
        total = total + part
    assert total == usage
    prompts = [part.prompt_tokens for part in parts if part is not None]
    assert max(prompts) - min(prompts) <= 1


def test_what_was_not_counted_is_unknown_for_each() -> None:
    assert shares(None, 3) == [None, None, None]
