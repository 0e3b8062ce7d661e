"""The custodian's screens: the vaults that this computer knows, and one of them with all that is written down of it."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "vaults",
    "Vaults",
    "Secret corpora, who may open them, and who did",
    "rosetta_tui.vault.screen",
    "VaultsScreen",
    order=7,
)
