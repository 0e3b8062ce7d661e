"""The keys of Home, and what its help says above them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

ABOUT = (
    "▶ running   ‖ paused   ■ stopped, can continue   ✓ complete   ● marked\n"
    "! after the tier: a part of the outputs fails. "
    "No run is called more than functional before speakers have reviewed it.\n"
    "x on a line of what waits for you puts it aside until something about it is new.\n"
    "Search: words of a run, and filters such as state:stopped, tag:baseline or corpus:eo-demo-v1."
)
"""What the help says above the keys."""

KEYS: list[BindingType] = [
    Binding("n", "app.place('new_run')", "New run", id="new_run"),
    Binding("slash", "search", "Search", key_display="/", id="search"),
    Binding("space", "mark", "Mark", id="mark"),
    Binding("c", "compare", "Compare", id="compare"),
    Binding("R", "resume", "Continue", id="home.again"),
    Binding("R", "retry", "Retry", id="home.again"),
    Binding("u", "bring_back", "Undo", tooltip="Bring back the deleted run", id="home.undo"),
    Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
    Binding("q", "leave", "Quit", id="back"),
    Binding("b", "app.place('corpora')", "Corpora", id="home.corpora"),
    Binding("l", "app.place('leaderboard')", "Leaderboard", id="home.leaderboard"),
    Binding("p", "plots", "Plots", id="home.plots"),
    Binding("s", "sort", "Sort", id="sort"),
    Binding("f", "filter", "Filter", id="filter"),
    Binding("D", "demo", "Demo", id="home.demo"),
    Binding("E", "report", "Report", tooltip="Write a page of the run", id="report"),
    Binding("t", "notes", "Tags and note", show=False, id="home.notes"),
    Binding("N", "like", "New run like this one", show=False, id="home.like"),
    Binding("S", "score_again", "Score again", show=False, id="home.score_again"),
    Binding(
        "delete,backspace",
        "trash",
        "Delete",
        key_display="del",
        show=False,
        id="home.delete",
    ),
    Binding("o", "reviews", "Organise reviews", show=False, id="home.reviews"),
    Binding("v", "review", "Rate as a speaker", show=False, id="home.rate"),
    Binding("W", "app.place('sweeps')", "Sweeps", show=False, id="home.sweeps"),
    Binding("V", "app.place('vaults')", "Vaults", show=False, id="home.vaults"),
    Binding("L", "app.place('projects')", "New languages", show=False, id="home.projects"),
    Binding("M", "app.place('submissions')", "Submissions", show=False, id="home.submissions"),
    Binding("w", "app.place('doctor')", "What is missing here", show=False, id="home.doctor"),
    Binding("r", "read", "Refresh", show=False, id="refresh"),
    Binding("escape", "end_search", "End search", id="home.end_search"),
]
