"""Settings: chosen on the screen, kept in the file, taken back, changed meanwhile; keys of services are never shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from harness import settings
from harness.core.failures import UsageError
from harness.endpoint.endpoints import get_key
from harness.sealed.keys import Identity, Role, key_phrase
from harness.settings import Changes, Settings, change_settings, read_settings
from rosetta_tui.settings.rows import SettingsSection
from rosetta_tui.settings.screen import SettingsScreen
from rosetta_tui.toolkit.customization import Keyboard, keyboard
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from tests.keyring_in_memory import MemoryKeyring, memory_keyring
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, at_rest, notices, press, settle, text, until

SIZE = (120, 36)


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "DEEPL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with memory_keyring() as ring:
        yield ring


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(None, tmp_path / "s.sqlite")


async def to_section(screen: SettingsScreen, pilot: Pilot[Any], section: SettingsSection) -> None:
    screen.query_one("#parts", OptionList).focus()
    screen.query_one("#parts", OptionList).highlighted = list(SettingsSection).index(section)
    await settle(pilot)
    await press(pilot, "enter")
    assert screen.focused is screen.table


async def opened(pilot: Pilot[Any], section: SettingsSection = SettingsSection.COLOURS) -> SettingsScreen:
    screen = SettingsScreen(pilot.app.store_path)  # type: ignore[attr-defined]
    pilot.app.push_screen(screen)
    await settle(pilot)
    await to_section(screen, pilot, section)
    return screen


def to_row(screen: SettingsScreen, id_: str) -> None:
    index = screen.table.rows.find(id_)  # type: ignore[attr-defined]
    assert index is not None, id_
    screen.table.move_to(index)
    screen.table.post_message(screen.table.Moved(screen.table))


async def fill(pilot: Pilot[Any], words: str) -> None:
    await settle(pilot)
    pilot.app.screen.query_one(Input).value = words
    await press(pilot, "enter")


async def test_settings_look_as_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    own = {"our-lab": "https://llm.example.org/v1"}
    chosen: Changes = {"endpoint": "our-lab", "model": "example/translator-7b", "endpoints": own}
    change_settings(tmp_path / "data", chosen)
    async with at_rest(App(None, tmp_path / "data" / "s.sqlite"), SMALL) as (app, pilot):
        screen = await opened(pilot, SettingsSection.MODELS)
        look("settings", app)
        await to_section(screen, pilot, SettingsSection.ENDPOINTS)
        look("settings-endpoints", app)


async def test_colours_are_tried_kept_by_enter_and_taken_back(app: App, tmp_path: Path) -> None:
    async with at_rest(app, SIZE) as (_, pilot):
        await opened(pilot)
        await pilot.press("down")
        await until(pilot, lambda: app.theme == "rosetta-light")
        assert read_settings(tmp_path) == Settings()
        await press(pilot, "left")
        assert app.theme == "rosetta-dark"
        await press(pilot, "right", "home", "down", "enter")
        assert read_settings(tmp_path).theme == app.theme == "rosetta-light"
        assert "saved ✓" in text(app)
        assert "● chosen" in text(app)
        await press(pilot, "u")
        assert read_settings(tmp_path).theme == ""
        assert app.theme == "rosetta-dark"
        await pilot.press("down")
        await until(pilot, lambda: app.theme == "rosetta-contrast")
        await press(pilot, "q")
        assert app.theme == "rosetta-dark", "it was only examined"


def sections(folder: Path) -> list[tuple[SettingsSection, str, list[tuple[object, str]], dict[str, Any]]]:
    """Section, the key that asks, what is typed with what is said of it, and what is kept."""
    return [
        (SettingsSection.ENDPOINTS, "a", [
            ("openai", "There is an endpoint of this name"), ("Our Lab", "small letters"), ("our-lab", ""),
            ("llm.example.org", "must begin with http"), ("https://llm.example.org/v1", ""),
        ], {"endpoints": {"our-lab": "https://llm.example.org/v1"}}),
        (SettingsSection.MODELS, "enter", [(folder / "bad.toml", "field 'source'"), (folder / "good.toml", "")], {"prices": folder / "good.toml"}),
        (SettingsSection.FOLDERS, "a", [(folder / "nowhere", "There is no such folder"), (folder, "")],
         {"language_folders": (folder,)}),
    ]  # fmt: skip


@pytest.mark.costly("a walk over the sections")
async def test_each_section_keeps_what_is_right(app: App, tmp_path: Path) -> None:
    change_settings(tmp_path, {"keys": {"mark": "M", "gone.act": "x"}})
    (tmp_path / "bad.toml").write_text("source = 3")
    (tmp_path / "good.toml").write_text('source = "their page"')
    async with at_rest(app, SIZE) as (_, pilot):
        screen = await opened(pilot, SettingsSection.KEYBOARD)
        to_row(screen, "new_run")
        for keys, words in (
            (("enter", "c"), "c is taken: Checks (Corpus)"),
            (("tab",), "tab always keeps its meaning"),
            (("Z",), "shipped: n"),
        ):
            await press(pilot, *keys)
            assert words in text(app)
        assert read_settings(tmp_path).keys["new_run"] == "Z"
        to_row(screen, "mark")
        await press(pilot, "delete", "end")
        assert read_settings(tmp_path).keys == {"new_run": "Z", "gone.act": "x"}
        assert "nothing has this id" in text(app)
        await press(pilot, "r")
        assert read_settings(tmp_path).keys == {}
        await press(pilot, "u")
        change_settings(tmp_path, {"model": "m1"})  # as another process does
        for section, key, typed, kept in sections(tmp_path):
            await to_section(screen, pilot, section)
            if section is SettingsSection.MODELS:
                to_row(screen, "prices")
            await pilot.press(key)
            for value, words in typed:
                await fill(pilot, str(value))
                assert words in text(app)
            for name, value in kept.items():
                assert getattr(read_settings(tmp_path), name) == value
        to_row(screen, "language_folders 0")
        await press(pilot, "delete", "q")
        found = read_settings(tmp_path)
        assert (found.language_folders, found.model) == ((), "m1")
        assert app.screen.active_bindings["Z"].binding.id == "new_run"
        assert "n" not in app.screen.active_bindings


async def test_cards_take_no_password_and_signers_a_yes(app: App, tmp_path: Path) -> None:
    key = Identity.make(Role.ORGANISATION).public.signing_key
    async with at_rest(app, SIZE) as (_, pilot):
        screen = await opened(pilot, SettingsSection.SHARING)
        await pilot.press("enter")
        await fill(pilot, "postgresql://ann:secret@db.example.org/cards")
        assert "without a password" in text(app)
        await fill(pilot, "postgresql://ann@db.example.org/cards")
        assert read_settings(tmp_path).publish == "postgresql://ann@db.example.org/cards"
        await pilot.press("a")
        await fill(pilot, "4992")
        assert "64 hexadecimal digits" in text(app)
        await fill(pilot, key.upper())
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await settle(pilot)
        assert all(word in text(app) for word in key_phrase(key).split())
        await press(pilot, "escape")
        assert read_settings(tmp_path).trusted_signers == ()
        await pilot.press("a")
        await fill(pilot, key)
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await press(pilot, "y")
        assert read_settings(tmp_path).trusted_signers == (key,)
        assert key_phrase(key) in text(app)
        to_row(screen, "trusted_signers 0")
        await settle(pilot)
        assert key in text(app)
        await press(pilot, "delete")
        assert read_settings(tmp_path).trusted_signers == ()


async def test_key_of_a_service_is_stored_deleted_and_stands_nowhere(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ring: MemoryKeyring
) -> None:
    secret = "sk-very-secret-1234"

    def locked(*_: object) -> str:
        raise RuntimeError("locked")

    async with at_rest(app, SIZE, notifications=True) as (_, pilot):
        screen = await opened(pilot, SettingsSection.SECRETS)
        to_row(screen, "openrouter")
        await pilot.press("enter")
        await fill(pilot, "two words")
        assert "Copy it once more" in text(app)
        assert "two words" not in text(app)
        await fill(pilot, secret)
        assert get_key("openrouter") == secret
        assert "✓ in the keyring" in text(app)
        assert secret not in text(app)
        assert not (tmp_path / "settings.toml").exists()
        await press(pilot, "delete")
        await pilot.press("escape")
        assert get_key("openrouter") == secret
        await press(pilot, "delete")
        await press(pilot, "y")
        assert get_key("openrouter") is None
        monkeypatch.setattr(ring, "get_password", locked)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-other-secret")
        await opened(pilot, SettingsSection.SECRETS)
        assert "keyring cannot be used here" in text(app).replace("\n", " ")
        assert "✓ in OPENAI_API_KEY" in text(app)
        assert "sk-other" not in text(app)


async def test_bad_file_is_kept(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise UsageError("settings.toml cannot be written: No space left on device.")

    (tmp_path / "settings.toml").write_text("theme = 3\n")
    async with at_rest(app, SIZE, notifications=True) as (_, pilot):
        assert "settings.toml" in "\n".join(notices(app))
        screen = await opened(pilot)
        assert "line 1: field 'theme'" in text(app)
        await press(pilot, "down", "enter")
        assert read_settings(tmp_path).theme == "rosetta-light"
        assert (tmp_path / "settings.broken-1.toml").read_text() == "theme = 3\n"
        with monkeypatch.context() as broken:
            broken.setattr(settings, "write_file", full)
            await press(pilot, "down", "enter")
            assert "not saved" in text(app)
            assert "No space left" in text(app)
            assert read_settings(tmp_path).theme == "rosetta-light"
        screen.change({"endpoint": "openrouter"})
        await settle(pilot)
        found = read_settings(tmp_path)
        assert (found.theme, found.endpoint) == ("rosetta-contrast", "openrouter")


# The keyboard


@pytest.fixture(scope="module")
def board() -> Keyboard:
    return keyboard()


def test_every_act_of_a_screen_can_be_given_another_key(board: Keyboard) -> None:
    assert {"new_run", "table.down", "help", "settings", "settings.undo"} <= board.acts.keys()
    assert board.acts["help"].places == ("everywhere",)
    assert board.acts["mark"].places[0] == "Home"


def test_key_that_is_given_away_is_free_and_a_taken_one_is_not(board: Keyboard) -> None:
    mark = board.acts["mark"]
    assert board.taken(mark, "c", {}) == "Compare (Home)"
    assert board.taken(mark, "c", {"compare": "C"}) is None
    assert board.taken(mark, "C", {"compare": "C"}) == "Compare (Home)"
    assert board.taken(mark, "j", {}) is not None, "lists are on Home"
    assert board.taken(mark, "comma", {}) == "Settings (everywhere)"


def test_no_two_acts_of_one_screen_share_a_key_as_shipped(board: Keyboard) -> None:
    for place in board.places:
        by_key: dict[str, set[str]] = {}
        for binding in place.bindings:
            if binding.id:
                by_key.setdefault(binding.key, set()).add(binding.id)
        assert all(len(ids) == 1 for ids in by_key.values()), (place.name, by_key)
