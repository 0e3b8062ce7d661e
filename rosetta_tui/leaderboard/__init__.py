"""The leaderboard: runs that may be ranked together."""
