"""A key is written nowhere: what looks like one is refused, and a plug-in has a way to get its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import UsageError
from harness.endpoint.keys import key_for
from harness.method.options import MethodOptions, keys_in, refuse_told_keys, refuse_written_keys
from harness.methods.registry import build
from harness.setup.plan import Plan
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.request.kept_draft import NAME, keep_draft
from tests.harness.evaluation import LANGUAGES, begun, corpus, query
from tests.harness.methods.page_examples import example

KEY = "hunter2hunter2hunter2"
NAMES = ["key", "api_key", "apiKey", "API-KEY", "openai_key", "token", "hf_token", "access_token",
         "client_secret", "password", "db.passwd", "passphrase", "Authorization", "auth", "secretKey",
         "credentials", "key2", "mykey", "pass", "access_key", "apikey", "secret", "credential", "myPassword",
         "authkey"]  # fmt: skip


def options(**more: Any) -> MethodOptions:
    return MethodOptions.model_validate({**LANGUAGES, **more})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["settings", "body"])
def test_what_is_named_like_a_key_is_refused_with_the_way_to_give_one(
    name: str, place: str
) -> None:
    for told in ({name: KEY}, {"extra": {name: KEY}}, {"extra": [{"a": {name: KEY}}]}):
        with pytest.raises(UsageError, match="rosetta key set") as caught:
            refuse_written_keys(options(**{place: told}))
        assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["key", "access_key", "apikey", "secret", "credential", "pass", "api.token"]
)
@pytest.mark.parametrize("value", [1, 12345678901234567890, 0.5])
def test_a_number_may_be_a_key_too(name: str, value: float) -> None:
    with pytest.raises(UsageError, match="looks like a key") as caught:
        refuse_told_keys({"settings": {name: value}})
    assert str(value) not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    ["sk-abcdefghijklmnop1234", "hf_abcdefghijklmnop", "Bearer abcdefgh1234", "AKIAABCDEFGHIJKLMNOP",
     "ghp_abcdefghijklmnop1234", "eyJhbGciOiJIUzI1NiIsInR5cCI6.e30.abc"],
)  # fmt: skip
def test_what_begins_like_a_key_is_refused_under_any_name(value: str) -> None:
    with pytest.raises(UsageError):
        refuse_written_keys(options(settings={"colour": value}))
    with pytest.raises(UsageError, match=r"rosetta key set api\.example\.org"):
        refuse_written_keys(options(endpoint=f"https://api.example.org/{value}/v1"))


@pytest.mark.parametrize(
    "told",
    [{"polite": True}, {"max_tokens": 5}, {"token_limit": 7}, {"eos_token": "</s>"}, {"keyboard": "x"},
     {"monkey": "x"}, {"author": "N. N."}, {"style": "sk"}, {"auth": False}, {"max_token": 5},
     {"passes": 2}, {"turkey": "x"}, {"bypass": 1}, {"secretary": "x"}],
)  # fmt: skip
def test_other_settings_are_left_alone(told: dict[str, Any]) -> None:
    assert list(keys_in(told)) == []


@pytest.mark.parametrize(
    "url", [f"https://me:{KEY}@x.org/v1", f"https://x.org/v1?key={KEY}", f"https://x.org/v1#{KEY}"]
)
def test_a_plug_in_s_address_is_held_to_the_same(url: str) -> None:
    with pytest.raises(UsageError, match="must not carry") as caught:
        refuse_written_keys(options(endpoint=url))
    assert KEY not in str(caught.value)


def test_nothing_of_it_reaches_the_store(tmp_path: Path, store_path: Path) -> None:
    file = tmp_path / "phrasebook.py"
    file.write_text(example("phrasebook.py"), "utf-8")
    plan = Plan(method=f"{file}:Phrasebook", options=options(settings={"api_key": KEY}))
    with pytest.raises(UsageError, match="looks like a key"):
        begun(store_path, corpus(2), plan)
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]


def test_a_plug_in_may_not_put_one_into_its_setup(tmp_path: Path) -> None:
    file = tmp_path / "phrasebook.py"
    text = example("phrasebook.py").replace(
        "model_slug=", f'options={{"api_key": "{KEY}"}}, model_slug='
    )
    file.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="its setup holds 'api_key'") as caught:
        build(f"{file}:Phrasebook", options())
    assert KEY not in str(caught.value)


def test_the_draft_of_the_form_leaves_it_out(tmp_path: Path) -> None:
    keep_draft(
        tmp_path, RunDraft({"method": "x.py:X", "settings": (f"api_key={KEY}", "polite=true")})
    )
    kept = (tmp_path / NAME).read_text()
    assert KEY not in kept
    assert "polite=true" in kept


def test_a_plug_in_gets_its_key_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_EXAMPLE_ORG_API_KEY", KEY)
    found: dict[str, Any] = {}
    exec(compile(example("keyed_server.py"), "keyed_server.py", "exec"), found)
    assert found["headers"] == {"Authorization": f"Bearer {KEY}"}
    monkeypatch.setenv("127_0_0_1_API_KEY", " ")
    assert key_for("http://127.0.0.1:9/v1") is None
