"""The leaderboard: runs that may be ranked together."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "leaderboard", "Leaderboard", "Rank what is comparable", "rosetta_tui.leaderboard.screen",
    "LeaderboardScreen", order=3,
)  # fmt: skip
