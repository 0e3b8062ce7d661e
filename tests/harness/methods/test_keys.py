"""Keys: stored, found, listed, deleted, and never shown."""

from __future__ import annotations

import json
import subprocess
import sys

import keyring
import pytest
from click.testing import CliRunner
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as NullKeyring
from keyring.errors import KeyringLocked

from harness.core.failures import KeyStoreError, UsageError
from harness.endpoint.endpoints import chat_endpoint, is_loopback
from harness.endpoint.keys import SERVICE, delete_key, find_key, get_key, set_key, stored_names
from rosetta_tui.commands.key import key
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
    assert ring.kept[SERVICE, "openrouter"] == "sk-1"
    assert find_key(OPENROUTER) == "sk-1"
    assert find_key(chat_endpoint("https://llm.example.org/v1")) == "sk-2"
    assert find_key(chat_endpoint("https://other.example.org/v1")) is None
    assert stored_names() == ["llm.example.org", "openrouter"]
    assert delete_key("llm.example.org")
    assert not delete_key("llm.example.org")
    assert stored_names() == ["openrouter"]
    del ring.kept[SERVICE, "openrouter"]
    assert stored_names() == [], "deleted with another program"


def test_the_variable_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    set_key("openrouter", "sk-stored")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-variable")
    assert find_key(OPENROUTER) == "sk-variable"
    monkeypatch.setenv("OPENROUTER_API_KEY", " ")
    assert find_key(OPENROUTER) == "sk-stored"
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-1\r\nX-Evil: 1")
    with pytest.raises(UsageError) as caught:
        find_key(OPENROUTER)
    assert "sk-1" not in str(caught.value)


def test_a_key_goes_to_its_own_host_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("LLM_EXAMPLE_ORG_API_KEY", "sk-host")
    assert find_key(chat_endpoint("https://api.openai.com.evil.example/v1")) is None
    assert find_key(chat_endpoint("https://api.openai.com/v1")) == "sk-openai"
    assert find_key(chat_endpoint("https://llm.example.org/v1")) == "sk-host"


@pytest.mark.parametrize("backend", [NoKeyring, Locked, Broken])
def test_without_a_keyring(backend: type[KeyringBackend]) -> None:
    keyring.set_keyring(backend())
    with pytest.raises(KeyStoreError, match="environment variable DEEPL_API_KEY"):
        set_key("deepl", "sk-1")
    with pytest.raises(UsageError, match="OPENROUTER_API_KEY") as caught:
        find_key(OPENROUTER)
    assert "sk-secret" not in str(caught.value)
    assert "/path" not in str(caught.value)
    assert find_key(chat_endpoint("https://llm.example.org/v1")) is None
    assert find_key(chat_endpoint("ollama")) is None


def test_a_keyring_that_forgets_is_found_out() -> None:
    keyring.set_keyring(NullKeyring())
    with pytest.raises(KeyStoreError, match="did not keep"):
        set_key("deepl", "sk-1")


@pytest.mark.parametrize("name", ["openruter", "", "names of stored keys", "ollama", "localhost"])
def test_names_that_no_endpoint_has(name: str) -> None:
    with pytest.raises(UsageError):
        set_key(name, "sk-1")


@pytest.mark.parametrize("wrong", ["", " ", "a b", "a\nb", "ключ", "a\0b"])
def test_keys_that_no_header_can_carry(wrong: str) -> None:
    with pytest.raises(UsageError):
        set_key("deepl", wrong)


def test_the_command_never_shows_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    typed = runner.invoke(key, ["set", "openrouter"], input="sk-typed\n")
    piped = runner.invoke(key, ["set", "deepl", "--stdin"], input="sk-piped\nmore\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-variable")
    listed = runner.invoke(key, ["list"])
    as_json = runner.invoke(key, ["list", "--json"])
    for result in (typed, piped, listed, as_json):
        assert result.exit_code == 0
        assert "sk-" not in result.output
    assert get_key("openrouter") == "sk-typed"
    assert get_key("deepl") == "sk-piped"
    rows = {row["name"]: row for row in json.loads(as_json.stdout)}
    assert rows.keys() == {"openrouter", "deepl", "openai"}
    assert rows["openai"] == {
        "version": 1,
        "name": "openai",
        "in_keyring": False,
        "variable": "OPENAI_API_KEY",
        "in_environment": True,
    }
    assert "openai           OPENAI_API_KEY" in listed.stdout
    assert runner.invoke(key, ["delete", "openrouter"]).exit_code == 0
    assert isinstance(runner.invoke(key, ["delete", "openrouter"]).exception, UsageError)


def test_listing_works_without_a_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.9.9.9/", True),
        ("http://[::1]:80/", True),
        ("http://localhost.example.org/", False),
        ("http://127.0.0.1.example.org/", False),
        ("http://192.168.0.2/", False),
        ("http://0.0.0.0/", False),
    ],
)
def test_what_is_on_this_machine(url: str, local: bool) -> None:
    assert is_loopback(url) is local
