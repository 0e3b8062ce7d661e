"""The app: which screens there are and how one leads to the other. What they show is their own business."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError, RunState
from harness.store.sqlite.database import is_read_only, open_store
from rosetta_tui.app.palette import ActionProvider, RunProvider
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.session.run_sources import (
    Followed,
    PrefetchedSource,
    Watched,
    WatchedRun,
    begin,
    look_ahead,
    resume,
    retry,
)
from rosetta_tui.settings.of_app import begin_with_settings, look_writing
from rosetta_tui.show.clipboard import copied_words, harmless, refusal
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring, in_thread, telling
from rosetta_tui.toolkit.customization import ANSI_COLOURS, THEME_WORDS, THEMES
from rosetta_tui.toolkit.dialogs.choose import choose, confirm
from rosetta_tui.toolkit.dialogs.help import HelpScreen, JumpScreen, keys_of, targets_of
from rosetta_tui.toolkit.messages import (
    BackRequested,
    BenchAsked,
    ColumnsChosen,
    Copied,
    CorpusChosen,
    DemoAsked,
    ExportAsked,
    NewRunAsked,
    PaneToggled,
    PlaceChosen,
    ReportAsked,
    RunBegun,
    RunChosen,
    RunPrepared,
    RunResumed,
    RunRetried,
    RunsCompared,
    RunsPlotted,
    RunWentOn,
)
from rosetta_tui.toolkit.places import places
from rosetta_tui.toolkit.result_table import kind_of_column
from rosetta_tui.toolkit.textual_inside import TerminalApp

if TYPE_CHECKING:
    from rosetta_tui.app.repeating import RepeatsEngine
    from rosetta_tui.live.screen import LiveScreen
    from rosetta_tui.session.engine import Engine
    from rosetta_tui.session.picture import LiveRun
    from rosetta_tui.toolkit.ordered_table import RowOrder


# ---- The screens of runs: of each run there is one, and it shows the run as it is now ----


class RunScreens:
    """Belongs to the app; screens of runs of this process stay while they continue, whatever is on top of them."""

    def __init__(self, app: App[Any], store_path: Callable[[], Path]) -> None:
        self._app, self._path = app, store_path
        self._steered: list[LiveScreen] = []  # of runs of this process
        self._begun = 0

    @property
    def under_way(self) -> list[LiveScreen]:
        """Screens of runs of this process that are not over."""
        return [screen for screen in self._steered if not screen.live.over]

    async def steer(self, session: WatchedRun) -> None:
        """Show a run that this process has begun, or continues with."""
        from rosetta_tui.live.screen import LiveScreen

        order = self._order_of(session.run_id)
        store = open_store(self._path())
        known = session.run_id
        screen = LiveScreen(session.source, store, session.control, order=order, run_id=known)
        self._begun += 1
        self._app.install_screen(screen, f"run-{self._begun}")
        await self._show(screen, session.run_id)
        self._steered.append(screen)

    async def watch(self, run_id: str, source: PrefetchedSource) -> None:
        """Show a run that is over, or one of another process."""
        from rosetta_tui.live.screen import LiveScreen
        from rosetta_tui.live.steering import RemoteRunControl

        store = open_store(self._path())
        helm = None if is_read_only(store) else RemoteRunControl(self._path(), run_id)
        screen = LiveScreen(source, store, None, helm=helm, order=self._order_of(run_id))
        await self._show(screen, run_id)

    async def open_steered(self, run_id: str) -> bool:
        """Return to the screen of a run of this process; return whether there is one."""
        for screen in self._steered:
            if screen.run_id == run_id:
                while screen in self._app.screen_stack and self._app.screen is not screen:
                    await self._app.pop_screen()
                if self._app.screen is not screen:
                    self._app.push_screen(screen)
                return True
        return False

    def left(self, screen: Screen[Any]) -> None:
        """Remove a screen that was kept, where a newer one is in its place; it was just left."""
        if getattr(screen, "superseded", False) and self._app.is_screen_installed(screen):
            self._app.uninstall_screen(screen)
            screen.remove()

    def _screens_of(self, run_id: str) -> list[LiveScreen]:
        """Return the screens that show a run now, or would once what is above them is left."""
        from rosetta_tui.live.screen import LiveScreen

        there = [screen for screen in self._app.screen_stack if isinstance(screen, LiveScreen)]
        every = dict.fromkeys([*self._steered, *there])
        return [live_screen for live_screen in every if run_id and live_screen.run_id == run_id]

    def _order_of(self, run_id: str) -> RowOrder | None:
        """Return the order in which a person looks at a run already."""
        shown = [screen for screen in self._screens_of(run_id) if screen.is_mounted]
        return shown[-1].table.order if shown else None

    async def _show(self, screen: LiveScreen, run_id: str) -> None:
        """Show a run's screen instead of all older ones of it."""
        for old in self._screens_of(run_id):
            old.superseded = True
            if old in self._steered:
                self._steered.remove(old)
            if old not in self._app.screen_stack:
                self.left(old)
        here = self._app.screen
        if getattr(here, "superseded", False):
            await self._app.switch_screen(screen)
            self.left(here)
        else:
            self._app.push_screen(screen)


Follow = Callable[[str], "Followed"]  # gives the events of a run under way, by its id

Begin = Callable[[Path], "Engine | RepeatsEngine"]  # makes a run of a store ready to go; called in a thread

ShowSession = Callable[[WatchedRun], object]

Start = Callable[[Begin], WatchedRun]  # starts a run in the background; called in a thread

Screens = Callable[[Path], "Iterable[Screen[None]]"]  # makes the screens over Home, lowest first


class RosettaApp(TerminalApp):
    """Home and what is opened from it, or what ``initial`` says: one run alone, or screens over Home."""

    TITLE = "Rosetta"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {ActionProvider, RunProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "keys", "Help", key_display="?", id="help"),
        Binding("ctrl+o", "jump", "Jump", show=False, id="jump"),
        *(
            Binding(place.key, f"place('{place.name}')", place.title, show=False, id=place.name)
            for place in places().values()
            if place.key
        ),
        Binding("ctrl+q", "leave", "Quit", show=False, id="quit"),
    ]

    def __init__(
        self, store_path: Path, follow: Follow, start: Start, initial: WatchedRun | Watched | Screens | None = None
    ) -> None:
        # without colours nothing but the terminal's own is left: shades of grey would be colours too
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.store_path, self._follow, self.start_run = store_path, follow, start
        self.initial = initial
        self._beginning: Worker[None] | None = None
        self._repeats: list[WatchedRun] = []  # of this process, by the id of their sweep
        self._runs = RunScreens(self, lambda: self.store_path)
        for name in set(self.available_themes) - THEME_WORDS.keys():
            self.unregister_theme(name)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "ansi-dark" if self.no_color else THEMES[0].name
        self._look = look_writing(self, store_path.parent)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the terminal's own colours for a theme that has none of ours."""
        return ANSI_COLOURS

    async def on_mount(self) -> None:
        begin_with_settings(self, self.store_path.parent)
        if isinstance(self.initial, Watched):
            await self._runs.watch(self.initial.run_id, self.initial.source)
        elif isinstance(self.initial, WatchedRun):
            await self._runs.steer(self.initial)
        else:
            self.push_screen(HomeScreen(self.store_path))
            for screen in self.initial(self.store_path) if self.initial else ():
                await self.push_screen(screen)

    # From screen to screen

    @on(RunChosen)
    async def _open_run(self, message: RunChosen) -> None:
        if not await self._runs.open_steered(message.run_id):
            self._open_from_store(message)

    @on(RunWentOn)
    def _open_again(self, message: RunWentOn) -> None:
        """Show a run as it is now, where the screen that is seen shows it as it was."""
        if self._beginning is None or self._beginning.is_finished:
            self._open_from_store(RunChosen(message.run_id, message.complete))

    def _open_from_store(self, message: RunChosen) -> None:
        here, run_id = self.screen, message.run_id
        look = partial(look_ahead, self.store_path, run_id, self._follow, complete=message.complete)
        cannot = telling(here, "The run cannot be opened")
        in_thread(
            here, "open", look, partial(self._runs.watch, run_id), cannot, asks=True, unwanted=PrefetchedSource.close
        )

    # Runs of this process

    @on(DemoAsked)
    def _demo(self) -> None:
        from rosetta_tui.session.trials import begin_demo

        self._go("The demo", begin_demo)

    @on(RunBegun)
    def _begin_run(self, message: RunBegun) -> None:
        if not message.draft.get("repeats"):
            self._go("The run", partial(begin, draft=message.draft))
            return
        from rosetta_tui.app.repeating import begin_and_show

        made, show = begin_and_show(self, self.store_path, message.draft, self._repeats)
        self._go("The first repeat", made, show=show)

    @on(RunPrepared)
    def _begin_prepared(self, message: RunPrepared) -> None:
        self._go(message.what, message.begin)

    @on(RunResumed)
    def _resume_run(self, message: RunResumed) -> None:
        again = partial(resume, run_id=message.run_id, options=message.options, retry_failed=message.retry_failed)
        self._go("The run", again, message.run_id)

    @on(RunRetried)
    def _retry_run(self, message: RunRetried) -> None:
        again = partial(retry, run_id=message.run_id, changes=message.changes)
        self._go("The second try", again)

    def _go(self, what: str, begin: Begin, run_id: str = "", show: ShowSession | None = None) -> None:
        """Start a run, or continue with that of ``run_id``; where one is just beginning, a key was pressed twice."""
        if self._beginning is not None and not self._beginning.is_finished:
            self.notify("A run is starting already.", timeout=2, markup=False)
            return
        self.notify(f"{what} starts …", timeout=2, markup=False)
        self._beginning = self._run_in_background(what, begin, run_id, show or self._runs.steer)

    @work(thread=True, exclusive=True, group="begin")
    def _run_in_background(self, what: str, begin: Begin, run_id: str, show: ShowSession) -> None:
        try:
            session = self.start_run(begin)
            session = session._replace(run_id=run_id or session.run_id)
        except (CorpusError, HarnessError) as error:
            self.notify(plain(str(error)), title=f"{what} cannot start", severity="error", markup=False)
        else:
            bring(self, show, session)

    # Other screens

    @on(PlaceChosen)
    async def _go_to(self, message: PlaceChosen) -> None:
        await self.action_place(message.name)

    async def action_place(self, name: str) -> None:
        """Open a screen by name; return to it where it is open already."""
        made = places()[name].open(self.store_path)
        if not any(type(screen) is type(made) for screen in self.screen_stack):
            self.push_screen(made)
            return
        while type(self.screen) is not type(made):
            await self.pop_screen()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "place":
            return str(parameters[0]) in places()
        return super().check_action(action, parameters)

    @on(NewRunAsked)
    def _ask_for_run(self, message: NewRunAsked) -> None:
        from rosetta_tui.new_run.screen import NewRunScreen

        self.push_screen(NewRunScreen(self.store_path, message.draft))

    @on(RunsCompared)
    def _compare(self, message: RunsCompared) -> None:
        from rosetta_tui.compare.screen import CompareScreen

        self.push_screen(CompareScreen(self.store_path, message.run_ids))

    @on(BenchAsked)
    def _open_bench(self, message: BenchAsked) -> None:
        from rosetta_tui.compare.bench_screen import BenchScreen

        self.push_screen(
            BenchScreen(self.store_path, message.run_id, message.places, self.start_run, worst=message.worst)
        )

    @on(RunsPlotted)
    def _plot(self, message: RunsPlotted) -> None:
        from rosetta_tui.plots.screen import PlotsScreen

        self.push_screen(PlotsScreen(self.store_path, message.run_ids))

    @on(CorpusChosen)
    def _open_corpus(self, message: CorpusChosen) -> None:
        from rosetta_tui.corpus.screen import CorpusScreen

        self.push_screen(CorpusScreen(self.store_path, message.sha256))

    @on(BackRequested)
    async def _leave(self) -> None:
        if len(self.screen_stack) > 2:
            left = self.screen
            live: LiveRun | None = getattr(left, "live", None)
            await self.pop_screen()
            self._runs.left(left)
            if live and live.started and isinstance(self.screen, HomeScreen):
                self.screen.table.go_to(live.started.run_id)
        else:
            self.action_leave()

    # Leaving

    def action_leave(self) -> None:
        """Quit; where a run is under way, ask first what becomes of it."""
        controls = [screen.control for screen in self._runs.under_way if screen.control is not None]
        benches = [session for screen in self.screen_stack if (session := getattr(screen, "asking_session", None))]
        repeats = [session for session in self._repeats if session.control.state is not RunState.STOPPED]
        controls += [session.control for session in (*benches, *repeats)]
        if not controls:
            self.exit()
            return
        question = Content.assemble(
            ("A run is still under way.\n\n", "bold"),
            "Leaving stops it. Nothing that is done is lost; ",
            (f"rosetta sweep resume {repeats[0].run_id}" if repeats else "rosetta resume", "bold"),
            " continues later.",
        )

        def stop_and_leave() -> None:
            for control in controls:
                control.stop()
            self.exit()

        confirm(self, question, "Stop and leave", stop_and_leave)

    def action_help_quit(self) -> None:
        self.notify("ctrl+q leaves Rosetta.", timeout=3, markup=False)

    # The clipboard

    def copy_to_clipboard(self, text: str) -> None:
        """Copy what is selected, cut or copied in a field or on a screen."""
        self._copy(text, "Text")

    @on(Copied)
    def _copied(self, message: Copied) -> None:
        self._copy(message.text, message.what, cleared=message.cleared)

    def _copy(self, text: str, what: str, *, cleared: bool = False) -> None:
        why = refusal(text)
        if not cleared and getattr(self.screen, "holds_secret", False):
            why = "This text is of a secret entry and is not copied."
        if why:
            self.notify(why, severity="warning", markup=False)
            return
        super().copy_to_clipboard(harmless(text))
        self.notify(copied_words(what, text), timeout=3, markup=False)

    @on(ExportAsked)
    def _export(self, message: ExportAsked) -> None:
        if not message.cleared and getattr(self.screen, "holds_secret", False):
            why = "Texts of secret entries stand here; they are not exported."
            self.notify(why, severity="warning", markup=False)
            return
        from rosetta_tui.toolkit.dialogs.choose import ExportScreen

        home = self.store_path.parent
        self.push_screen(ExportScreen(home, message.records, message.name, message.page))

    @on(ReportAsked)
    def _report(self, message: ReportAsked) -> None:
        from rosetta_tui.app.reporting import ask_report

        ask_report(self.screen, self.store_path, message)

    # Help, jumping and palette

    def action_keys(self) -> None:
        screen = self.screen
        about = getattr(screen, "HELP", "")
        self.push_screen(HelpScreen(f"{screen.TITLE or self.TITLE}: keys", about, keys_of(screen)))

    def action_jump(self) -> None:
        def chosen(target: Widget | None) -> None:
            if target is not None:
                target.focus()

        self.push_screen(JumpScreen(targets_of(self.screen)), chosen)

    def action_colours(self) -> None:
        choose(self, "Colours", THEME_WORDS, self.theme, self.use_colours)

    def use_colours(self, name: str) -> None:
        """Use the colours of a theme, now and from now on."""
        self.theme = name
        self._look.write({"theme": name})

    @on(PaneToggled)
    def _pane_toggled(self, message: PaneToggled) -> None:
        self.pane_open = message.opened
        self._look.write({"pane": "" if message.opened else "closed"})

    @on(ColumnsChosen)
    def _columns_chosen(self, message: ColumnsChosen) -> None:
        others = [word for word in self.table_columns.split() if kind_of_column(word) != message.kind]
        self.table_columns = " ".join([*others, message.columns]).strip()
        self._look.write({"columns": self.table_columns})

    async def action_home(self) -> None:
        while len(self.screen_stack) > 2:
            await self.pop_screen()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:  # noqa: ARG002  Textual's form
        """Offer what belongs to the app; what belongs to a screen comes from its bindings."""
        yield SystemCommand("Go to: Home", "Recent runs and what waits", self.action_home)
        for name, place in places().items():
            go = partial(self.action_place, name)
            yield SystemCommand(f"Go to: {place.title}", place.about, go)
        about = "Dark, light, high contrast, your own"
        yield SystemCommand("Colours (theme)", about, self.action_colours)
        for name, words in THEME_WORDS.items():
            use = partial(self.use_colours, name)
            yield SystemCommand(f"Theme: {words}", "Use these colours", use, discover=False)
        yield SystemCommand("Keys", "Show every key of this screen", self.action_keys)
        yield SystemCommand("Jump", "Letters on what can have the focus", self.action_jump)
        yield SystemCommand("Quit", "Leave Rosetta", self.action_leave)
