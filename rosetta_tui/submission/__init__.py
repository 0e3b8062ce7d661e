"""The screens of submissions: those at the desk of this computer, and one of them on its whole way to a certificate."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "submissions", "Submissions", "Methods that were handed in, and what is to be done with each",
    "rosetta_tui.submission.screen", "SubmissionsScreen", order=8,
)  # fmt: skip
