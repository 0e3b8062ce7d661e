"""The local store: one SQLite file that holds corpora, runs, results and replies.

Schema and migrations go through sqlite-utils; the hot path uses plain connections. Functions take a
connection, so that a writer thread, a follower and a screen each bring their own.
"""
