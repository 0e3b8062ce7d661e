"""The settings screen: what a person chooses once, and the keys of endpoints."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "settings",
    "Settings",
    "Keys, endpoints, colours",
    "rosetta_tui.settings.screen",
    "SettingsScreen",
    order=5,
    key="comma",
)
