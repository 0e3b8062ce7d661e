"""Keys: stored, found, listed, deleted, never shown and never written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import keyring
import pytest
from click.testing import CliRunner
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as NullKeyring
from keyring.errors import KeyringLocked

from harness.core.failures import KeyStoreError, UsageError
from harness.endpoint.endpoints import chat_endpoint, is_loopback
from harness.endpoint.keys import (
    SERVICE,
    delete_key,
    find_key,
    get_key,
    key_for,
    set_key,
    stored_names,
)
from harness.method.options import MethodOptions, keys_in, refuse_told_keys, refuse_written_keys
from harness.methods.registry import build
from harness.setup.plan import Plan
from rosetta_tui.commands.key import key
from rosetta_tui.request.draft import NAME, RunDraft, keep_draft
from tests.harness.evaluation import LANGUAGES, begun, corpus, query
from tests.harness.methods.page_examples import example
from tests.keyring_in_memory import MemoryKeyring

OPENROUTER = chat_endpoint("openrouter")


class Locked(KeyringBackend):
    """A keyring that its owner has not opened."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("/path/of/the/keyring")

    set_password = delete_password = get_password  # type: ignore[assignment]


class Broken(Locked):
    def get_password(self, service: str, username: str) -> str | None:
        raise OSError("dbus: sk-secret")


def test_set_find_list_delete(ring: MemoryKeyring) -> None:
    set_key("openrouter", " sk-1\n")
    set_key("llm.example.org", "sk-2")
    assert (ring.kept[SERVICE, "openrouter"], find_key(OPENROUTER)) == ("sk-1", "sk-1")
    assert find_key(chat_endpoint("https://llm.example.org/v1")) == "sk-2"
    assert find_key(chat_endpoint("https://other.example.org/v1")) is None
    assert stored_names() == ["llm.example.org", "openrouter"]
    assert delete_key("llm.example.org")
    assert not delete_key("llm.example.org")
    assert stored_names() == ["openrouter"]
    del ring.kept[SERVICE, "openrouter"]
    assert stored_names() == [], "deleted with another program"


def test_variable_goes_first_and_to_its_own_host_only(monkeypatch: pytest.MonkeyPatch) -> None:
    set_key("openrouter", "sk-stored")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-variable")
    assert find_key(OPENROUTER) == "sk-variable"
    monkeypatch.setenv("OPENROUTER_API_KEY", " ")
    assert find_key(OPENROUTER) == "sk-stored"
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-1\r\nX-Evil: 1")
    with pytest.raises(UsageError) as caught:
        find_key(OPENROUTER)
    assert "sk-1" not in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("LLM_EXAMPLE_ORG_API_KEY", "sk-host")
    assert find_key(chat_endpoint("https://api.openai.com.evil.example/v1")) is None
    assert find_key(chat_endpoint("https://api.openai.com/v1")) == "sk-openai"
    assert find_key(chat_endpoint("https://llm.example.org/v1")) == "sk-host"


def test_without_a_keyring() -> None:
    for backend in (NoKeyring, Locked, Broken):
        keyring.set_keyring(backend())
        with pytest.raises(KeyStoreError, match="environment variable DEEPL_API_KEY"):
            set_key("deepl", "sk-1")
        with pytest.raises(UsageError, match="OPENROUTER_API_KEY") as caught:
            find_key(OPENROUTER)
        assert not [word for word in ("sk-secret", "/path") if word in str(caught.value)]
        assert find_key(chat_endpoint("https://llm.example.org/v1")) is None
        assert find_key(chat_endpoint("ollama")) is None


def test_unknown_names_and_keys_that_no_header_carries_are_refused() -> None:
    for name in ("openruter", "", "names of stored keys", "ollama", "localhost"):
        with pytest.raises(UsageError):
            set_key(name, "sk-1")
    for wrong in ("", " ", "a b", "a\nb", "ключ", "a\0b"):
        with pytest.raises(UsageError):
            set_key("deepl", wrong)
    keyring.set_keyring(NullKeyring())
    with pytest.raises(KeyStoreError, match="did not keep"):
        set_key("deepl", "sk-1")


def test_command_never_shows_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    typed = runner.invoke(key, ["set", "openrouter"], input="sk-typed\n")
    piped = runner.invoke(key, ["set", "deepl", "--stdin"], input="sk-piped\nmore\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-variable")
    listed = runner.invoke(key, ["list"])
    as_json = runner.invoke(key, ["list", "--json"])
    for result in (typed, piped, listed, as_json):
        assert result.exit_code == 0
        assert "sk-" not in result.output
    assert (get_key("openrouter"), get_key("deepl")) == ("sk-typed", "sk-piped")
    rows = {row["name"]: row for row in json.loads(as_json.stdout)}
    assert rows.keys() == {"openrouter", "deepl", "openai"}
    told = {"version": 1, "name": "openai", "in_keyring": False, "in_environment": True}
    assert rows["openai"] == {**told, "variable": "OPENAI_API_KEY"}
    assert "openai           OPENAI_API_KEY" in listed.stdout
    assert runner.invoke(key, ["delete", "openrouter"]).exit_code == 0
    assert isinstance(runner.invoke(key, ["delete", "openrouter"]).exception, UsageError)
    keyring.set_keyring(NoKeyring())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-variable")
    listed = CliRunner().invoke(key, ["list"])
    assert listed.exit_code == 0
    assert "openai" in listed.stdout
    assert "keyring cannot be used" in listed.stderr


def test_a_method_without_a_key_never_loads_the_keyring() -> None:
    code = """
import sys
from harness.method.options import MethodOptions
from harness.methods.registry import build
asked = MethodOptions(source_language="en", target_language="eo")
build("copy-source", asked)
build("chat", asked.model_copy(update={"endpoint": "ollama", "model": "m"}))
assert not [name for name in sys.modules if name.split(".")[0] in {"keyring", "httpx", "textual"}]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_only_addresses_of_this_machine_are_loopback() -> None:
    for url in ("http://localhost:1/v1", "http://127.9.9.9/", "http://[::1]:80/"):
        assert is_loopback(url)
    for host in ("localhost.example.org", "127.0.0.1.example.org", "192.168.0.2", "0.0.0.0"):
        assert not is_loopback(f"http://{host}/")


KEY = "hunter2hunter2hunter2"
NAMES = ["key", "api_key", "apiKey", "API-KEY", "openai_key", "token", "hf_token", "access_token",
         "client_secret", "password", "db.passwd", "passphrase", "Authorization", "auth", "secretKey",
         "credentials", "key2", "mykey", "pass", "access_key", "apikey", "secret", "credential", "myPassword",
         "authkey"]  # fmt: skip


def options(**more: Any) -> MethodOptions:
    return MethodOptions.model_validate({**LANGUAGES, **more})


@pytest.mark.parametrize("place", ["settings", "body"])
def test_setting_named_like_a_key_is_refused(place: str) -> None:
    for name in NAMES:
        for told in ({name: KEY}, {"extra": {name: KEY}}, {"extra": [{"a": {name: KEY}}]}):
            with pytest.raises(UsageError, match="rosetta key set") as caught:
                refuse_written_keys(options(**{place: told}))
            assert KEY not in str(caught.value)


def test_numbers_and_beginnings_like_keys_are_refused() -> None:
    for name in ("key", "access_key", "apikey", "secret", "credential", "pass", "api.token"):
        for number in (1, 12345678901234567890, 0.5):
            with pytest.raises(UsageError, match="looks like a key") as caught:
                refuse_told_keys({"settings": {name: number}})
            assert str(number) not in str(caught.value)
    for value in ["sk-abcdefghijklmnop1234", "hf_abcdefghijklmnop", "Bearer abcdefgh1234", "AKIAABCDEFGHIJKLMNOP",
     "ghp_abcdefghijklmnop1234", "eyJhbGciOiJIUzI1NiIsInR5cCI6.e30.abc"]:  # fmt: skip
        with pytest.raises(UsageError):
            refuse_written_keys(options(settings={"colour": value}))
        with pytest.raises(UsageError, match=r"rosetta key set api\.example\.org"):
            refuse_written_keys(options(endpoint=f"https://api.example.org/{value}/v1"))
    told = {"polite": True, "max_tokens": 5, "token_limit": 7, "eos_token": "</s>", "keyboard": "x",
            "monkey": "x", "author": "N. N.", "style": "sk", "auth": False, "max_token": 5,
            "passes": 2, "turkey": "x", "bypass": 1, "secretary": "x"}  # fmt: skip
    assert list(keys_in(told)) == []
    for rest in (f"me:{KEY}@x.org/v1", f"x.org/v1?key={KEY}", f"x.org/v1#{KEY}"):
        with pytest.raises(UsageError, match="must not carry") as caught:
            refuse_written_keys(options(endpoint=f"https://{rest}"))
        assert KEY not in str(caught.value)


def test_key_reaches_neither_store_nor_setup_nor_draft(tmp_path: Path, store_path: Path) -> None:
    file = tmp_path / "phrasebook.py"
    file.write_text(example("phrasebook.py"), "utf-8")
    plan = Plan(method=f"{file}:Phrasebook", options=options(settings={"api_key": KEY}))
    with pytest.raises(UsageError, match="looks like a key"):
        begun(store_path, corpus(2), plan)
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]
    told = f'options={{"api_key": "{KEY}"}}, model_slug='
    (file := tmp_path / "phrasebook.py").write_text(
        example("phrasebook.py").replace("model_slug=", told), "utf-8"
    )
    with pytest.raises(UsageError, match="its setup holds 'api_key'") as caught:
        build(f"{file}:Phrasebook", options())
    assert KEY not in str(caught.value)
    settings = (f"api_key={KEY}", "polite=true")
    keep_draft(tmp_path, RunDraft({"method": "x.py:X", "settings": settings}))
    kept = (tmp_path / NAME).read_text()
    assert (KEY in kept, "polite=true" in kept) == (False, True)


def test_a_plug_in_gets_its_key_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_EXAMPLE_ORG_API_KEY", KEY)
    found: dict[str, Any] = {}
    exec(compile(example("keyed_server.py"), "keyed_server.py", "exec"), found)
    assert found["headers"] == {"Authorization": f"Bearer {KEY}"}
    monkeypatch.setenv("127_0_0_1_API_KEY", " ")
    assert key_for("http://127.0.0.1:9/v1") is None
