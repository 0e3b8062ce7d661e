"""One calm line that says what happened and what can be done next."""

from __future__ import annotations

from textual.content import Content

from rosetta_tui.report.run import sentence
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.resuming import resume_call
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.key_line import key_of
from rosetta_tui.toolkit.telling import Telling


class RunBanner(Telling):
    """Hidden until there is something to say."""

    def show_run(self, live: LiveRun) -> None:
        """Say how the run ended, and what next."""
        words = banner_words(live, key_of(self.screen, "end('resume')") if live.over else "")
        self.display = words is not None
        if words is not None:
            self.set_class(live.failed is not None, "-failed")
            self.tell(words)


def banner_words(live: LiveRun, key: str = "") -> Content | None:
    """Return what to say about a run that is over, None while it goes on; ``key`` lets it go on from here."""
    if live.failed is not None:
        return Content.assemble(
            ("The run stopped: ", "bold $bad"),
            show(live.failed.message),
            "\nWhat is done is stored. ",
            _go_on(key, resume_call(live.failed.run_id, live.errors)),
        )
    if live.finished is None:
        return None
    if live.complete:
        return Content.assemble(
            ("Complete. ", "bold $good"),
            "The run card is sealed: ",
            show(f"rosetta runs show {live.finished.run_id[:8]}", "bold"),
            " · enter opens an entry",
        )
    end = live.finished
    return Content.assemble(
        ("Stopped. ", "bold $warn"),
        show(f"{sentence(end.reason)} " if end.reason else ""),
        "Nothing is lost. ",
        _go_on(key, resume_call(end.run_id, end.failed, more_money=end.budget_reached)),
    )


def _go_on(key: str, call: str) -> Content:
    here = Content.assemble((key, "bold"), " goes on here, or ") if key else Content("Go on with: ")
    return here + show(call, "bold")
