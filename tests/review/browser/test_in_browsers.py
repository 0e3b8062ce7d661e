"""The page in real browsers: from the double click to ratings that the office takes; what is kept, and who can read it."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from corpora.text.visible import readable
from review.files.batch import make_batch
from review.files.ratings import open_ratings
from review.log.event import read_event
from review.log.payloads import Translate
from review.office.intake.importing import find_ratings, import_files
from review.office.intake.speaking import FileOutcome
from review.office.making.texts import review_texts
from review.rating import Rating
from tests.review.browser.drivers import Browser, Chromium
from tests.review.browser.sitting import PASSPHRASE, Sitting, answers, written
from tests.review.files import made
from tests.review.office.made import Desk, vouch_for

pytestmark = pytest.mark.costly("it starts a browser")


async def test_a_whole_open_batch_comes_back(window: Browser, reviewed: Desk, tmp_path: Path) -> None:
    sitting = Sitting(window, written(reviewed.batch, tmp_path), tmp_path / "downloads")
    await sitting.begin(reviewed.review.code(reviewed.codes[0]))
    total = await window.run("rosettaPage.session.view.total")
    for number in range(total):
        await sitting.rate("1234"[number % 4])
        if await window.run("rosettaPage.session.view.phase === 'rest'"):
            await window.key("Enter")
    await sitting.place(f"{total} of {total}")
    words, file = await sitting.hand_over()
    renamed = file.with_name("ratings (1).txt")
    file.rename(renamed)
    data = renamed.read_bytes()
    vouch_for(reviewed.office, reviewed.identity, data)
    files = find_ratings([renamed.parent]).files
    [report] = import_files(reviewed.office, [reviewed.identity.age], files, now=datetime.now(UTC))
    assert (report.outcome, [*report.damaged, *report.aside], report.phrase) == (FileOutcome.TAKEN, [], words)
    found = open_ratings(data, [reviewed.identity.age])
    assert answers(found) == [list(Rating)[number % 4] for number in range(total)]
    assert report.added == found.manifest.events


async def test_a_sealed_batch_opens_with_the_words_of_the_card(window: Browser, tmp_path: Path) -> None:
    batch = made.batch(secret=True)
    sitting = Sitting(window, written(batch, tmp_path, PASSPHRASE), tmp_path / "downloads")
    await window.open(sitting.page)
    await sitting.says("secret words")
    await window.fill("#typed", "other words than those")
    await window.key("Enter")
    await sitting.says("This file does not open.")
    await sitting.begin(made.REVIEWERS[0], secret=PASSPHRASE.upper())
    for _ in range(3):
        await sitting.rate("4")
    words, file = await sitting.hand_over()
    ratings = open_ratings(file.read_bytes(), [made.ORGANISATION.age])
    assert (ratings.phrase(), answers(ratings)) == (words, [Rating.EXCELLENT] * 3)


async def test_everything_that_can_be_said_comes_back(window: Browser, small: Path, tmp_path: Path) -> None:
    sitting = Sitting(window, small, tmp_path / "downloads")
    await sitting.begin(made.REVIEWERS[0])
    await window.key("c")
    await window.fill("#box", "  one\u0085 <b>word</b> ")
    await window.key("Enter")
    await sitting.says("Your comment is saved.")
    await window.key("e")
    await sitting.says("May the better translations that you write be used?")
    await window.key("1")
    await window.fill("#box", "a better one")
    await window.key("Escape")
    await sitting.says("Your better translation, not saved yet:")
    await sitting.rate("2")
    await window.key(",")
    await sitting.says("What is wrong with it?")
    await window.key("4")
    await sitting.says("Saved: The grammar is wrong.")
    await sitting.painted()
    await window.key("s")
    await sitting.place("Sentence 3")
    await sitting.painted()
    await window.key("!")
    await window.key("Enter")
    await sitting.says("You marked this as harmful.")
    await window.key("0")
    await window.key("é")  # 2 of a French keyboard
    await sitting.place("2 of 3")
    await window.key("Enter")
    await sitting.place("Once more: 1 of 1")
    await sitting.rate("3")
    await window.key("u")
    await sitting.says("You took back your answer")
    await sitting.rate("4")
    _, file = await sitting.hand_over()
    ratings = open_ratings(file.read_bytes(), [made.ORGANISATION.age])
    payloads = [payload for line in ratings.lines if (payload := read_event(line).payload)]
    assert [str(payload.kind) for payload in payloads] == [
        "consent", "session", "relation", "comment", "consent", "suggest", "rate", "reasons", "skip", "harm", "cannot_judge",
        "rate", "undo", "rate",
    ]  # fmt: skip
    said = [payload.model_dump(exclude={"wall"}) for payload in payloads]
    assert (said[0]["share_corrections"], said[4]["share_corrections"]) == (False, True)
    assert (said[3]["text"], said[5]["text"]) == ("one\u0085 <b>word</b>".replace("\u0085", ""), "a better one")
    assert (said[6]["rating"], said[7]["reasons"], said[10]["why"], said[13]["rating"]) == (
        "gist", ("grammar",), "unclear_source", "excellent",
    )  # fmt: skip
    assert (said[6]["face"], said[6]["font"]) == ("browser", "Noto 20")


async def test_translations_come_back(window: Browser, tmp_path: Path) -> None:
    items = [item.model_copy(update={"candidate": ""}) for item in made.items()]
    manifest = made.manifest(task="translate", letters=["ŋ", "ɓ"])
    batch = make_batch(manifest, items, [], made.ORGANISATION, made.SALT)
    sitting = Sitting(window, written(batch, tmp_path), tmp_path / "downloads")
    await window.open(sitting.page)
    await window.fill("#typed", made.REVIEWERS[0])
    await window.key("Enter")
    await sitting.place("Before you begin")
    await window.key("Enter")
    await sitting.says("May your translations be used?")
    await window.key("2")
    for number in range(3):
        await sitting.place(f"Sentence {number + 1}")
        await sitting.painted()
        await window.fill("#box", f"mi{number}")
        await window.run("document.querySelector('.letters button').click()")
        await window.key("Enter")
    await sitting.says("That was the last one.")
    _, file = await sitting.hand_over()
    events = [read_event(line).payload for line in open_ratings(file.read_bytes(), [made.ORGANISATION.age]).lines]
    assert [event.text for event in events if isinstance(event, Translate)] == ["mi0ŋ", "mi1ŋ", "mi2ŋ"]


async def test_what_is_taken_back_is_gone(window: Browser, small: Path, tmp_path: Path) -> None:
    sitting = Sitting(window, small, tmp_path / "downloads")
    await sitting.begin(made.REVIEWERS[0])
    await sitting.rate("2")
    await sitting.painted()
    await window.key("w")
    await sitting.place("Take back")
    await window.key("2")
    await window.press("erase")
    await sitting.place("Taken back")
    assert await window.run("rosettaPage.store.changes().then(all => all.length)") == 1
    assert "gist" not in await window.run("rosettaPage.store.changes().then(JSON.stringify)")
    _, file = await sitting.hand_over()
    payloads = [read_event(line).payload for line in open_ratings(file.read_bytes(), [made.ORGANISATION.age]).lines]
    assert [str(payload.kind) for payload in payloads if payload] == ["withdraw"]
    await window.press("back")
    await window.press("settings")
    await window.press("erase")
    await window.run("document.getElementById('sure').click()")
    await window.press("delete")
    await sitting.place("Everything is deleted")
    await window.open(small)
    await sitting.says("Which code")


async def test_other_pages_and_the_disk_show_nothing(chromium: Chromium, small: Path, tmp_path: Path) -> None:
    sitting = Sitting(chromium, small, tmp_path / "downloads")
    await sitting.begin(made.REVIEWERS[0])
    await chromium.key("c")
    await chromium.fill("#box", "Whispered comment")
    await chromium.key("Enter")
    await sitting.says("Your comment is saved.")
    await sitting.rate("3")
    seed = await chromium.run("rosettaPage.laptop.identity.seed")
    other = tmp_path / "other.html"
    other.write_text("<p>other</p>")
    await chromium.open(other)
    dump = """new Promise(done => { indexedDB.databases().then(([db]) => { const open = indexedDB.open(db.name);
      open.onsuccess = () => { const all = open.result.transaction('change').objectStore('change').getAll();
      all.onsuccess = () => done(all.result.map(bytes => Array.from(bytes, byte => String.fromCharCode(byte)).join(''))) } }) })"""
    records = await chromium.run(dump)
    assert len(records) > 4
    await chromium.send("Browser.close")
    chromium.process.wait()
    planted = [
        "Whispered",
        "acceptable",
        "cannot_judge",
        "share_corrections",
        str(seed),
        made.SOURCES[0],
        made.REVIEWERS[0],
    ]
    kept = [path for path in (tmp_path / "profile").rglob("*") if path.is_file()]
    assert any("indexeddb" in str(path).lower() for path in kept)
    for text in planted:
        assert not any(text in record for record in records)
        for form in (text.encode(), text.encode("utf-16-le")):
            assert [path for path in kept if form in path.read_bytes()] == []


async def test_nothing_is_fetched_and_nothing_foreign_runs(chromium: Chromium, tmp_path: Path) -> None:
    text = "</script><script>globalThis.ran = 1</script><img src=x onerror='globalThis.ran = 2'>\u202eabc"
    items = [item.model_copy(update={"source": text, "candidate": text}) for item in made.items()]
    manifest = made.manifest(title=text, consent=text, guide=text)
    batch = make_batch(manifest, items, made.training(), made.ORGANISATION, made.SALT)
    sitting = Sitting(chromium, written(batch, tmp_path), tmp_path / "downloads")
    await sitting.begin(made.REVIEWERS[0])
    shown = await chromium.run("document.getElementById('candidate').textContent")
    assert shown == readable(text)
    await sitting.rate("1")
    plant = (
        "(async () => { const script = document.createElement('script'); script.textContent = 'globalThis.ran = 3';"
        " document.body.append(script); document.body.insertAdjacentHTML('beforeend', \"<img src=x onerror='globalThis.ran = 4'>\");"
        " const tried = await Promise.allSettled([fetch('http://127.0.0.1:9/'), (async () => eval('globalThis.ran = 5'))()]);"
        " return tried.map(one => one.status).join() })()"
    )
    assert await chromium.run(plant) == "rejected,rejected"
    assert await chromium.run("globalThis.ran ?? 'nothing'") == "nothing"
    asked = [
        event["params"]["request"]["url"]
        for event in chromium.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] in ([], ["http://127.0.0.1:9/"])
    failed = [event for event in chromium.events if event.get("method") == "Network.responseReceived"]
    assert all(event["params"]["response"]["url"].startswith(("file:", "data:", "blob:")) for event in failed)


async def test_first_answer_needs_six_keys_and_few_words(chromium: Chromium, reviewed: Desk, tmp_path: Path) -> None:
    """From the double click to the first answer that counts; what is folded is not counted, nor are the sentences and their context.

    Seen: 38, 77, 26 and 53 words on the four pages, the names of keys among them.
    """
    page, code = written(reviewed.batch, tmp_path), reviewed.review.code(reviewed.codes[0])
    await chromium.size(1280, 800)
    await chromium.open(page)
    sitting = Sitting(chromium, page, tmp_path / "downloads")
    counts: list[int] = []

    async def read() -> None:
        await chromium.run("document.querySelectorAll('.text p').forEach(text => text.replaceChildren('')), 1")
        texts = str(await chromium.run("main.innerText"))
        counts.append(len(re.sub("Original( · .*)+", "Original", texts).split()))

    await sitting.says("Which code")
    await read()
    await chromium.fill("#typed", code)
    keys = ["Enter", "Enter", "3", "s", "3"]
    for key, words in zip(
        keys, ("Before you begin", "Did you take part", "Practice", "Sentence 1", "Sentence 2"), strict=True
    ):
        if words.startswith("Sentence"):
            await sitting.painted()
        await chromium.key(key)
        await sitting.says(words)
        if words == "Before you begin":
            assert "cannot be called back" in str(await chromium.run("document.querySelector('details').textContent"))
        if words not in {"Practice", "Sentence 2"}:
            await read()
    assert len(keys) <= 6
    assert sum(counts) <= 200, counts


async def test_first_answer_on_a_phone_needs_six_taps(chromium: Chromium, reviewed: Desk, tmp_path: Path) -> None:
    page = written(reviewed.batch, tmp_path)
    await chromium.size(360, 740, touch=True)
    await chromium.open(page)
    sitting = Sitting(chromium, page, tmp_path / "downloads")
    await sitting.says("Which code")
    await chromium.fill("#typed", reviewed.review.code(reviewed.codes[0]))
    taps = {
        "footer .main": "I agree", "footer .main span": "Did you take part", ".choices button:last-child": "Practice",
        "[data-act=skip]": "Sentence 1", ".answers button:nth-child(3)": "Sentence 2",
    }  # fmt: skip
    for button, comes in taps.items():
        if comes.startswith("Sentence"):
            await sitting.painted()
        await chromium.run(f"document.querySelector('{button}').click()")
        await sitting.says(comes)  # after one tap: nothing has to be scrolled before
    assert len(taps) <= 6


FACTS = """(() => { const page = document.documentElement, seen = [...document.querySelectorAll('button,summary,input,textarea')]
  .filter(one => one.offsetParent && one.type !== 'checkbox').map(one => [one.innerText || one.id, one.getBoundingClientRect()]);
  return [page.scrollWidth - page.clientWidth, seen.filter(([, box]) => box.width < 43.5 || box.height < 43.5).map(([name]) => name),
    [...document.querySelectorAll('button,p,h1,label,th,td')].filter(one => one.offsetParent && one.scrollWidth > one.clientWidth + 1)
      .map(one => one.innerText)] })()"""

AXE = os.environ.get("ROSETTA_AXE", "")
"""Path of axe.min.js (npm: axe-core), with which each page is examined, too."""
VIOLATIONS = "axe.run().then(found => found.violations.map(one => [one.id, one.impact, one.nodes[0].html]))"


@pytest.mark.parametrize(
    ("width", "height", "size"), [(360, 740, 1), (320, 640, 1), (256, 150, 1), (360, 740, 5)],
    ids=["phone", "small phone", "400 % zoom", "largest letters"],
)  # fmt: skip
async def test_pages_fit_every_screen(chromium: Chromium, tmp_path: Path, width: int, height: int, size: int) -> None:
    arabic = "هذه الجملة ترجمة طويلة بعض الشيء لنرى كيف تظهر على الشاشة الصغيرة، وفيها رقم 2026."
    items = [
        item.model_copy(update={"source": "The road is closed. " * 4, "candidate": arabic}) for item in made.items()
    ]
    manifest = made.manifest(
        target_language="ar", letters=list("ابتثجحخد"), consent=review_texts("en").consent, language="en"
    )
    batch = make_batch(manifest, items, made.training(), made.ORGANISATION, made.SALT)
    await chromium.size(width, height, touch=True)
    await chromium.send("Page.setBypassCSP", enabled=bool(AXE))
    sitting = Sitting(chromium, written(batch, tmp_path), tmp_path / "downloads")
    await chromium.before(
        f"addEventListener('DOMContentLoaded', () => {{ rosettaPage.size = {size}; rosettaPage.look() }})"
    )
    await chromium.open(sitting.page)
    found: dict[str, object] = {}

    async def check(name: str, words: str) -> None:
        await sitting.says(words)
        if (facts := await chromium.run(FACTS)) != [0, [], []]:
            found[name] = facts
        if AXE and (violations := await chromium.run(f"void 0; {Path(AXE).read_text('utf-8')}; {VIOLATIONS}")):
            found[f"axe: {name}"] = violations

    await check("code", "Which code")
    await sitting.begin(made.REVIEWERS[0], asked=True)
    assert await chromium.run("getComputedStyle(document.getElementById('candidate')).direction") == "rtl"
    for key, words in (
        ("?", "Every key has a button"), ("Escape", "Original"), ("c", "Your comment"), ("Escape", "Original"), ("e", "be used?"),
        ("1", "A better translation"), ("Escape", "Original"), ("0", "Why can you not"), ("Escape", "Original"),
        ("!", "hurting our culture"), ("Escape", "Original"), ("w", "What do you want to take back"), ("Escape", "Original"),
        ("x", "These six words"), ("Escape", "Original"),
    ):  # fmt: skip
        await chromium.key(key)
        await check(f"{key} {words}", words)
    await chromium.press("settings")
    await check("settings", "Size of the letters")
    assert found == {}
