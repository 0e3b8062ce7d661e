"""Settings: chosen on the screen, kept in the file, taken back; keys of services are never shown."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from textual.widgets import OptionList

from harness.core import written_files
from harness.core.failures import UsageError
from harness.endpoint.keys import get_key
from harness.sealed.keys import Identity, Role, key_phrase
from harness.settings import Settings, change_settings, read_settings
from rosetta_tui.settings.rows import SettingsSection
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from rosetta_tui.toolkit.keyboard import Keyboard, keyboard
from tests.keyring_in_memory import MemoryKeyring
from tests.tui.hostile import acting
from tests.tui.scenes import HOSTILE
from tests.tui.screens import App, press, settle, text, until
from tests.tui.settings.settings_screen import app, fill, opened, ring, to_row

__all__ = ["app", "ring"]


SIZES = [(80, 24), (160, 48)]


async def test_colours_are_seen_at_once_kept_by_enter_and_taken_back(
    app: App, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await opened(pilot)
        await pilot.press("down")
        await until(pilot, lambda: pilot.app.theme == "rosetta-light")
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


async def test_colours_that_were_only_looked_at_go_when_the_screen_goes(app: App) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("down", "down")
        await until(pilot, lambda: pilot.app.theme == "rosetta-contrast")
        await press(pilot, "q")
        assert app.theme == "rosetta-dark"


async def test_another_key_for_an_act_works_at_once_and_one_that_is_taken_is_refused(
    app: App, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot, SettingsSection.KEYBOARD)
        to_row(screen, "new_run")
        await press(pilot, "enter", "c")
        assert "c is taken: Checks (Corpus)" in text(app)
        await press(pilot, "tab")
        assert "tab always keeps its meaning" in text(app)
        await press(pilot, "Z")
        assert read_settings(tmp_path).keys == {"new_run": "Z"}
        assert "shipped: n" in text(app)
        screen.app.pop_screen()
        await settle(pilot)
        assert app.screen.active_bindings["Z"].binding.id == "new_run"
        assert "n" not in app.screen.active_bindings
        screen = await opened(pilot, SettingsSection.KEYBOARD)
        to_row(screen, "new_run")
        await settle(pilot)
        await press(pilot, "delete")
        assert read_settings(tmp_path).keys == {}


async def test_the_shipped_key_pressed_again_leaves_nothing_in_the_file(
    app: App, tmp_path: Path
) -> None:
    change_settings(tmp_path, {"keys": {"mark": "M", "gone.act": "x"}})
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, SettingsSection.KEYBOARD)
        to_row(screen, "mark")
        await press(pilot, "enter", "space")
        assert read_settings(tmp_path).keys == {"gone.act": "x"}
        await press(pilot, "end")
        assert "nothing has this id" in text(app)
        await press(pilot, "r")
        assert read_settings(tmp_path).keys == {}
        await press(pilot, "u")
        assert read_settings(tmp_path).keys == {"gone.act": "x"}


async def test_an_own_endpoint_is_named_given_a_url_and_removed(app: App, tmp_path: Path) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot, SettingsSection.ENDPOINTS)
        await pilot.press("a")
        await fill(pilot, "openai")
        assert "There is an endpoint of this name" in text(app)
        await fill(pilot, "Our Lab")
        assert "small letters" in text(app)
        await fill(pilot, "our-lab")
        await fill(pilot, "llm.example.org")
        assert "must begin with http" in text(app)
        await fill(pilot, "https://llm.example.org/v1")
        assert read_settings(tmp_path).endpoints == {"our-lab": "https://llm.example.org/v1"}
        to_row(screen, "our-lab")
        await settle(pilot)
        await press(pilot, "delete")
        assert read_settings(tmp_path).endpoints == {}


async def test_models_take_a_preset_a_model_and_only_a_price_table_that_can_be_read(
    app: App, tmp_path: Path
) -> None:
    bad, good = tmp_path / "bad.toml", tmp_path / "good.toml"
    bad.write_text("source = 3")
    good.write_text('source = "their page"')
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot, SettingsSection.MODELS)
        await press(pilot, "enter")
        await press(pilot, "down", "enter")
        assert read_settings(tmp_path).endpoint == "openrouter"
        to_row(screen, "model")
        await pilot.press("enter")
        await fill(pilot, "example/translator-7b")
        to_row(screen, "prices")
        await pilot.press("enter")
        await fill(pilot, str(bad))
        assert "field 'source'" in text(app)
        await fill(pilot, str(good))
        found = read_settings(tmp_path)
        assert (found.model, found.prices) == ("example/translator-7b", good)


async def test_where_cards_go_and_whose_weights_are_taken(app: App, tmp_path: Path) -> None:
    key = Identity.make(Role.ORGANISATION).public.signing_key
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot, SettingsSection.SHARING)
        await pilot.press("enter")
        await fill(pilot, "postgresql://ann:secret@db.example.org/cards")
        assert "without a password" in text(app)
        await fill(pilot, "postgresql://ann@db.example.org/cards")
        assert read_settings(tmp_path).publish == "postgresql://ann@db.example.org/cards"
        await press(pilot, "delete")
        assert read_settings(tmp_path).publish == ""
        await pilot.press("enter")
        await fill(pilot, str(tmp_path / "cards"))
        assert read_settings(tmp_path).publish == str(tmp_path / "cards")

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
        to_row(screen, f"signer {key}")
        await settle(pilot)
        assert key in text(app)
        await press(pilot, "delete")
        assert read_settings(tmp_path).trusted_signers == ()


async def test_folders_must_be_there(app: App, tmp_path: Path) -> None:
    (tmp_path / "fst").mkdir()
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot, SettingsSection.FOLDERS)
        await pilot.press("a")
        await fill(pilot, str(tmp_path / "nowhere"))
        assert "There is no such folder" in text(app)
        await fill(pilot, str(tmp_path / "fst"))
        assert read_settings(tmp_path).language_folders == (tmp_path / "fst",)
        to_row(screen, "exports")
        await pilot.press("enter")
        await fill(pilot, str(tmp_path))
        assert read_settings(tmp_path).exports == tmp_path
        (tmp_path / "fst").rmdir()
        to_row(screen, "folder 0")
        screen._show()  # as after any change
        await settle(pilot)
        assert "✗ not there" in text(app)
        await press(pilot, "delete")
        assert read_settings(tmp_path).language_folders == ()


async def test_a_key_of_a_service_is_stored_and_deleted_and_stands_nowhere(
    app: App, tmp_path: Path
) -> None:
    secret = "sk-very-secret-1234"
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
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


async def test_without_a_keyring_variables_are_still_told(
    app: App, monkeypatch: pytest.MonkeyPatch, ring: MemoryKeyring
) -> None:
    def locked(*_: object) -> str:
        raise RuntimeError("locked")

    monkeypatch.setattr(ring, "get_password", locked)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-secret")
    async with app.run_test(size=(120, 36)) as pilot:
        await opened(pilot, SettingsSection.SECRETS)
        assert "keyring cannot be used here" in text(app).replace("\n", " ")
        assert "✓ in OPENAI_API_KEY" in text(app)
        assert "sk-other" not in text(app)


async def test_a_bad_file_is_named_the_app_goes_on_and_a_change_keeps_it(
    app: App, tmp_path: Path
) -> None:
    (tmp_path / "settings.toml").write_text("theme = 3\n")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await opened(pilot)
        assert "line 1: field 'theme'" in text(app)
        await press(pilot, "down", "enter")
        assert read_settings(tmp_path).theme == "rosetta-light"
        assert (tmp_path / "settings.broken-1.toml").read_text() == "theme = 3\n"


async def test_a_change_that_cannot_be_written_is_said(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise UsageError("settings.toml cannot be written: No space left on device.")

    monkeypatch.setattr(written_files, "write_file", full)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await opened(pilot)
        await press(pilot, "down", "enter")
        assert "not saved" in text(app)
        assert "No space left" in text(app)
        assert read_settings(tmp_path) == Settings()


async def test_a_search_narrows_the_keys_and_escape_ends_it(app: App) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot, SettingsSection.KEYBOARD)
        every = screen.table.rows.count
        await press(pilot, "slash", *"leaderboard")
        assert 0 < screen.table.rows.count < every
        await press(pilot, "enter", "escape")
        assert screen.table.rows.count == every


@pytest.mark.parametrize("size", SIZES)
async def test_no_text_of_a_file_acts(app: App, tmp_path: Path, size: tuple[int, int]) -> None:
    printable = [each for each in HOSTILE if each.isprintable()]
    assert printable
    texts = dict(zip(("theme", "model", "endpoint"), printable, strict=False))
    change_settings(tmp_path, texts, {"keys": dict.fromkeys(printable, "x")})
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = await opened(pilot)
        for section in SettingsSection:
            screen.query_one("#parts", OptionList).highlighted = list(SettingsSection).index(
                section
            )
            await settle(pilot)
            await press(pilot, "end")
            assert acting(text(app).replace("\n", "")) == []
        assert app.is_running


def test_hostile_words_of_a_file_are_not_repeated_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('theme = "\\u001b]52;c;aGFja2Vk\\u0007"')
    with pytest.raises(Exception, match="character that cannot be seen") as caught:
        read_settings(tmp_path)
    assert "\x1b" not in str(caught.value)


# The keyboard


@pytest.fixture(scope="module")
def board() -> Keyboard:
    return keyboard()


def test_every_act_of_a_screen_can_be_given_another_key(board: Keyboard) -> None:
    for id_ in ("new_run", "table.down", "help", "settings", "settings.undo"):
        assert id_ in board.acts
    assert board.acts["help"].places == ("everywhere",)
    assert board.acts["mark"].places[0] == "Home"


def test_keys_that_are_given_away_are_free_and_those_taken_are_not(board: Keyboard) -> None:
    mark = board.acts["mark"]
    assert board.taken(mark, "c", {}) == "Compare (Home)"
    assert board.taken(mark, "c", {"compare": "C"}) is None
    assert board.taken(mark, "C", {"compare": "C"}) == "Compare (Home)"
    assert board.taken(mark, "j", {}) is not None, "lists stand on Home"
    assert board.taken(mark, "comma", {}) == "Settings (everywhere)"


def test_no_two_acts_of_one_screen_share_a_key_as_shipped(board: Keyboard) -> None:
    shared = []
    for place in board.places:
        by_key: dict[str, set[str]] = {}
        for binding in place.bindings:
            if binding.id:
                by_key.setdefault(binding.key, set()).add(binding.id)
        shared += [(place.name, key, ids) for key, ids in by_key.items() if len(ids) > 1]
    assert shared == []


def test_the_file_says_what_the_screen_says(tmp_path: Path) -> None:
    change_settings(tmp_path, {"keys": {"mark": "M"}})
    assert tomllib.loads((tmp_path / "settings.toml").read_text()) == {"keys": {"mark": "M"}}
