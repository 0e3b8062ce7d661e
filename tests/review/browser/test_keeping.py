"""What the page keeps: through kills, in moved files and private windows, beside other windows, and on the way elsewhere."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.office.intake.importing import find_ratings, import_files
from review.office.intake.speaking import FileOutcome
from review.rating import Rating
from tests.review.browser.drivers import Browser, Chromium, Firefox, browser
from tests.review.browser.sitting import BROWSERS, Sitting, answers, written
from tests.review.files import made
from tests.review.office.made import Desk, vouch_for
from tests.review.session.scenes import CODE, CUSTODIANS, batch_of, items_of, training_of
from tests.review.thorough import times

pytestmark = pytest.mark.costly("it starts a browser")


@pytest.mark.parametrize("name", BROWSERS[:2])
async def test_killed_browser_loses_nothing_that_was_shown(name: str, tmp_path: Path) -> None:
    """Each kill comes as soon as an answer is shown as kept, or as taken back: every fourth is."""
    kills, given = times(10, 200), 0
    page = written(batch_of(items_of(kills), training_of([Rating.GIST]), salt=bytes(32)), tmp_path)
    rated: list[Rating] = []
    for kill in range(kills + 1):
        async with browser(name, tmp_path / "profile", tmp_path / "downloads") as window:
            sitting = Sitting(window, page, tmp_path / "downloads")
            if kill == 0:
                await sitting.begin(CODE)
            else:
                await window.open(page)
                await sitting.place("Welcome back")
                await sitting.says(f"{given} of {kills}")
                await window.press("This is my card")
            if kill == kills:
                _, file = await sitting.hand_over()
            elif kill % 4 == 3:
                await sitting.painted()
                await window.key("u")
                await sitting.says("You took back your answer")
                given -= 1
            else:
                rated.append([*Rating][kill % 4])
                await sitting.rate("1234"[kill % 4])
                given += 1
            window.kill()
    ratings = open_ratings(file.read_bytes(), CUSTODIANS[:1])
    assert answers(ratings) == rated
    assert [len(chain.tips) for chain in ratings.manifest.chains.values()] == [1]


async def test_trouble_with_the_store_is_said_and_nothing_advances(
    chromium: Chromium, small: Path, tmp_path: Path
) -> None:
    full = "void (IDBObjectStore.prototype.add = () => { throw new DOMException('', 'QuotaExceededError') })"
    free = "void (IDBObjectStore.prototype.add = IDBObjectStore.prototype.real)"
    sitting = Sitting(chromium, small, tmp_path / "downloads")
    await chromium.open(small)
    await chromium.run("IDBObjectStore.prototype.real = IDBObjectStore.prototype.add")
    await sitting.says("Which code")
    await chromium.fill("#typed", made.REVIEWERS[0])
    await chromium.key("Enter")
    await sitting.place("Before you begin")
    await chromium.run(full)
    await chromium.press("I agree")
    await sitting.says("the computer's disk is full")
    await chromium.run(free)
    await sitting.agree()
    await chromium.run(full)
    await sitting.painted()
    await chromium.key("3")
    await sitting.says("the computer's disk is full")
    assert await chromium.run("rosettaPage.session.view.done") == 0
    await chromium.run(free)
    await sitting.rate("3")
    name = f"rosetta-{made.identifier('batch')}"
    await chromium.run(f"new Promise(done => indexedDB.deleteDatabase('{name}').onsuccess = done).then(() => 1)")
    await sitting.painted()
    await chromium.key("4")
    await sitting.says("the file with your answers was moved, or its disk is gone")
    assert await chromium.run("rosettaPage.session.view.done") == 1


async def test_another_window_waits(chromium: Chromium, small: Path, tmp_path: Path) -> None:
    sitting = Sitting(chromium, small, tmp_path / "downloads")
    await sitting.begin(made.REVIEWERS[0])
    first = chromium.session
    await chromium.tab(small)
    await sitting.says("This page is open in another window.")
    chromium.session = first
    await chromium.open(tmp_path)
    [second] = [
        event["params"]["sessionId"] for event in chromium.events
        if event.get("method") == "Target.attachedToTarget" and event["params"]["sessionId"] != first
    ]  # fmt: skip
    chromium.session = second
    again = "[...document.querySelectorAll('button')].find(each => each.innerText.includes('Try again'))?.click()"
    await chromium.until(
        f"document.body.innerText.includes('Welcome back') || void {again}"
    )  # once the first one is closed


async def test_windows_that_cannot_hold_the_store_do_not_overwrite_each_other(
    chromium: Chromium, small: Path, tmp_path: Path
) -> None:
    sitting, windows = Sitting(chromium, small, tmp_path / "downloads"), [chromium.session]
    unlocked = "Object.defineProperty(Navigator.prototype, 'locks', {value: undefined})"
    await chromium.before(unlocked)
    await sitting.begin(made.REVIEWERS[0])
    await chromium.tab(tmp_path)
    windows.append(chromium.session)
    await chromium.send("Page.enable")
    await chromium.before(unlocked)
    await chromium.open(small)
    await chromium.press("This is my card")
    await sitting.rate("4")
    chromium.session = windows[0]
    await chromium.send("Page.bringToFront")
    await sitting.painted()
    await chromium.key("1")
    await sitting.says("the program is open in another window")
    assert await chromium.run("rosettaPage.session.view.done") == 0
    await chromium.open(small)
    await sitting.says("1 of 3 done")


async def test_moved_page_says_where_the_answers_are(window: Browser, small: Path, tmp_path: Path) -> None:
    sitting, moved = Sitting(window, small, tmp_path / "downloads"), tmp_path / "stick" / small.name
    await sitting.begin(made.REVIEWERS[0])
    await sitting.rate("3")
    moved.parent.mkdir()
    moved.write_bytes(small.read_bytes())
    await window.open(moved)
    if isinstance(window, Firefox):  # to which each path is a place of its own
        await window.press("I began before")
        await sitting.says("If you moved the page, put it back.")
        await window.open(small)
    await sitting.says("1 of 3 done")


@pytest.mark.parametrize("lacking", ["globalThis.indexedDB", "IDBTransaction.prototype.durability"])
async def test_browser_that_keeps_nothing_says_so_and_reminds(
    chromium: Chromium, reviewed: Desk, tmp_path: Path, lacking: str
) -> None:
    await chromium.before(f"delete {lacking}")
    sitting = Sitting(chromium, written(reviewed.batch, tmp_path), tmp_path / "downloads")
    await chromium.open(sitting.page)
    await sitting.place("This browser keeps nothing")
    await chromium.press("Continue here")
    await sitting.begin(reviewed.review.code(reviewed.codes[0]), asked=True)
    for _ in range(10):
        await sitting.rate("3")
    await sitting.place("Hand in your answers")
    await chromium.press("save")
    assert open_ratings(
        (await sitting.saved("*.rosetta-ratings")).read_bytes(), [reviewed.identity.age]
    ).manifest.events
    await chromium.press("Continue")
    await sitting.place("Sentence 11")
    await chromium.key("q")
    await sitting.says("Your answers are only in this window")


@pytest.mark.parametrize("name", BROWSERS[1:2])
async def test_private_window_keeps_nothing(name: str, small: Path, tmp_path: Path) -> None:
    """Chromium does not let a page know; the help and the guide say it there."""
    private = 'user_pref("browser.privatebrowsing.autostart", true);'
    async with browser(name, tmp_path / "profile", tmp_path / "downloads", private) as window:
        await window.open(small)
        await Sitting(window, small, tmp_path).place("This browser keeps nothing")


async def test_sent_file_is_one_that_messengers_carry(chromium: Chromium, reviewed: Desk, tmp_path: Path) -> None:
    await chromium.before(
        "navigator.canShare = ({files}) => files.every(file => file.type === 'text/plain');"
        " navigator.share = ({files: [file]}) => globalThis.willing ? (globalThis.sent = file, Promise.resolve())"
        " : Promise.reject(new DOMException('', 'AbortError'))"
    )
    sitting = Sitting(chromium, written(reviewed.batch, tmp_path), tmp_path / "downloads")
    await sitting.begin(reviewed.review.code(reviewed.codes[0]))
    await sitting.rate("3")
    await sitting.painted()
    await chromium.key("x")
    await chromium.press("send")  # and changes their mind
    await chromium.run("globalThis.willing = true")
    assert not await chromium.run("document.body.innerText.includes('The file is saved')")
    await chromium.press("send")
    await sitting.says("The file is saved")
    name = str(await chromium.run("sent.name"))
    content = await chromium.run("sent.arrayBuffer().then(data => [...new Uint8Array(data)])")
    assert name.endswith(".rosetta-ratings.txt")
    carried = tmp_path / "messenger" / "document-17.txt"
    carried.parent.mkdir()
    carried.write_bytes(bytes(content))
    vouch_for(reviewed.office, reviewed.identity, carried.read_bytes())
    files = find_ratings([carried.parent]).files
    [report] = import_files(reviewed.office, [reviewed.identity.age], files, now=datetime.now(UTC))
    assert (report.outcome, report.damaged) == (FileOutcome.TAKEN, ())


@pytest.mark.parametrize("name", BROWSERS[:2])
async def test_what_was_begun_elsewhere_goes_on(name: str, reviewed: Desk, tmp_path: Path) -> None:
    """Two people at one page; one of them goes on elsewhere, with nothing of the other."""
    page, [one, other] = written(reviewed.batch, tmp_path), [reviewed.review.code(code) for code in reviewed.codes]
    async with browser(name, tmp_path / "profile", tmp_path / "downloads") as window:
        sitting = Sitting(window, page, tmp_path / "downloads")
        await sitting.begin(one)
        await sitting.rate("4")
        for code in (other, one):
            await sitting.painted()
            await window.key("q")
            await window.press("I have another card")
            await window.fill("#typed", code)
            await window.key("Enter")
            if code == other:
                await sitting.agree()
                await sitting.rate("1")
        await sitting.painted()
        await window.key("x")
        await window.press("resume")
        await window.fill("#typed", one.lower())
        await window.key("Enter")
        saved = await sitting.saved("*.rosetta-resume")
        _, first = await sitting.hand_over()
    async with browser(name, tmp_path / "other", tmp_path / "elsewhere") as window:
        sitting = Sitting(window, page, tmp_path / "elsewhere")
        await window.open(page)
        await sitting.says("Which code")
        await window.press("restore")
        await window.until("!!document.getElementById('file')")
        content = b64encode(saved.read_bytes()).decode()
        await window.run(
            "(() => { const files = new DataTransfer();"
            f" files.items.add(new File([Uint8Array.from(atob('{content}'), c => c.charCodeAt(0))], 'x.rosetta-resume'));"
            " document.getElementById('file').files = files.files })()"
        )
        for code, words in ((other, "does not open with this code"), (one, "Welcome back")):
            await window.fill("#typed", code)
            await window.press("Continue")
            await sitting.says(words)
        await sitting.says("1 of ")
        people = "new Set(rosettaPage.laptop.events.map(({ payload }) => payload?.reviewer).filter(Boolean)).size"
        assert await window.run(people) == 1
        await window.press("This is my card")
        await sitting.rate("3")
        await sitting.painted()
        _, second = await sitting.hand_over()
    rated = []
    for file in (first, second):
        vouch_for(reviewed.office, reviewed.identity, file.read_bytes())
        rated.append(sorted(answers(open_ratings(file.read_bytes(), [reviewed.identity.age]))))
    assert rated == [sorted([Rating.EXCELLENT, Rating.REJECT]), sorted([Rating.EXCELLENT, Rating.ACCEPTABLE])]
    files = find_ratings([first.parent, second.parent]).files
    for report in import_files(reviewed.office, [reviewed.identity.age], files, now=datetime.now(UTC)):
        assert (report.outcome, [*report.damaged, *report.aside]) == (FileOutcome.TAKEN, [])
