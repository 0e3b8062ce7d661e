"""The doctor's screen: what it found on this computer, and what to do about it."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "doctor", "Doctor", "What is missing on this computer", "rosetta_tui.doctor.screen",
    "DoctorScreen", order=6,
)  # fmt: skip
