"""Which experiment a run was."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from harness.card.fingerprint import fingerprint
from harness.core.failures import UsageError
from harness.method.method import MethodClass, Setup


def setup(**changes: Any) -> Setup:
    fields: dict[str, Any] = {
        "method": "chat",
        "method_class": MethodClass.RAW_LLM,
        "method_version": "1",
        "model_slug": "example/model",
        "condition": "zero-shot",
        "temperature": 0.2,
        "system_prompt_sha256": "cd",
        "tools_enabled": ("lookup", "check"),
    }
    return Setup.model_validate({**fields, **changes})


_SIX = {
    "model_slug": "other",
    "condition": "other",
    "system_prompt_sha256": "other",
    "temperature": 0.7,
}

_BESIDE = {
    "method": "other",
    "method_class": MethodClass.CUSTOM_PLUGIN,
    "method_version": "2",
    "method_sha256": "ef",
    "provider": "openrouter",
    "max_tokens": 100,
    "prompt_version": "plain-v2",
    "coaching_data_sha256": "01",
    "outputs_sha256": "02",
    "fst_sha256": "03",
    "tools_enabled": ("lookup",),
    "batch_size": 2,
    "max_retries": 3,
    "replicate": 1,
    "options": {"a": [1, None]},
}


def test_hash_covers_exactly_the_six_components() -> None:
    # written out by hand in RFC 8785 form, so that the library is not checked against itself
    text = (
        '{"condition":"zero-shot","dataset_sha256":"ab","harness_version":"0.1.0",'
        '"model_slug":"example/model","system_prompt_sha256":"cd","temperature":0.2}'
    )
    found = fingerprint(setup(), "ab", "0.1.0")
    assert found.hash == sha256(text.encode()).hexdigest()
    assert found.components == json.loads(text)


@pytest.mark.parametrize(("name", "value"), _SIX.items())
def test_a_component_changes_both(name: str, value: Any) -> None:
    one = fingerprint(setup(), "ab", "0.1.0")
    two = fingerprint(setup(**{name: value}), "ab", "0.1.0")
    assert one.hash != two.hash
    assert one.setup_hash != two.setup_hash


@pytest.mark.parametrize(("name", "value"), _BESIDE.items())
def test_the_rest_of_the_setup_changes_only_the_setup_hash(name: str, value: Any) -> None:
    one = fingerprint(setup(), "ab", "0.1.0")
    two = fingerprint(setup(**{name: value}), "ab", "0.1.0")
    assert one.hash == two.hash
    assert one.setup_hash != two.setup_hash


def test_data_and_harness_count() -> None:
    hashes = {
        fingerprint(setup(), sha, version).hash
        for sha in ("ab", "cd")
        for version in ("0.1.0", "0.2.0")
    }
    assert len(hashes) == 4


def test_order_of_tools_and_form_of_numbers_do_not_count() -> None:
    one = fingerprint(setup(temperature=1.0), "ab", "0.1.0")
    two = fingerprint(setup(tools_enabled=("check", "lookup"), temperature=1), "ab", "0.1.0")
    assert (one.hash, one.setup_hash) == (two.hash, two.setup_hash)


def test_every_field_of_the_setup_is_covered_or_left_out_on_purpose() -> None:
    covered = set(fingerprint(setup(), "ab", "0.1.0").setup_components)
    assert set(Setup.model_fields) - covered == {"system_prompt_used", "fst_version"}


def test_option_that_cannot_be_written_is_said_in_words() -> None:
    with pytest.raises(UsageError, match=r"2\^53"):
        fingerprint(setup(options={"seed": 2**63}), "ab", "0.1.0")
