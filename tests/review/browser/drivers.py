"""Real browsers, driven over the protocols that they bring: Chromium (CDP), Firefox (WebDriver BiDi), WebKitGTK (WebDriver)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from socket import socket
from typing import Any

import aiohttp

PATIENCE = int(os.environ.get("PATIENCE", "60"))  # Seconds; a browser on a busy machine sometimes never answers
NAMES = {"Enter": "\ue007", "Escape": "\ue00c", "Backspace": "\ue003", "Tab": "\ue004"}
CODES = {"Enter": (13, "\r"), "Escape": (27, ""), "Backspace": (8, ""), "Tab": (9, "")}


class Browser:
    """One window of one browser."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    async def open(self, page: Path) -> None:
        raise NotImplementedError

    async def run(self, script: str) -> Any:
        """Return the value of an expression; of a promise, what it resolves to."""
        raise NotImplementedError

    async def key(self, key: str) -> None:
        """Press and release a key: a character, or a name of ``NAMES``."""
        raise NotImplementedError

    async def picture(self) -> bytes:
        raise NotImplementedError

    # what pages are driven by

    async def until(self, condition: str) -> Any:
        """Wait until an expression is true, and return its value; what is shown is in the error."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    with suppress(RuntimeError):  # between two pages
                        if value := await self.run(condition):
                            return value
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{condition}: never true of {await self.run('document.body.innerText')!r}") from None

    async def press(self, name: str) -> None:
        """Click the button that does something (``data-act``), or whose words these are."""
        found = (
            f"[...document.querySelectorAll('button,summary')].find(b => b.dataset.act === {json.dumps(name)}"
            f" || b.querySelector('span')?.textContent === {json.dumps(name)} || b.textContent === {json.dumps(name)})"
        )
        await self.until(f"!!({found}) && !({found}).disabled")
        await self.run(f"({found})?.click()")

    async def fill(self, box: str, text: str) -> None:
        await self.until(f"!!document.querySelector({json.dumps(box)})")
        await self.run(
            f"(b => {{ b.value = {json.dumps(text)}; b.dispatchEvent(new Event('input', {{bubbles: true}})) }})"
            f"(document.querySelector({json.dumps(box)}))"
        )

    def kill(self) -> None:
        """End the browser and all its processes at once, as a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class _Socket(Browser):
    def __init__(self, process: subprocess.Popen[bytes], socket: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__(process)
        self.socket, self._ids = socket, count(1)
        self.events: list[dict[str, Any]] = []
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self.socket:
            said = json.loads(message.data)
            if (waiting := self._answers.pop(said.get("id") or 0, None)) is None:
                self.events.append(said)
            elif not waiting.done():
                waiting.set_result(said)

    async def send(self, method: str, **facts: Any) -> Any:
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send_json({"id": number, "method": method, "params": facts, **self.extra(method)})
        said = await asyncio.wait_for(self._answers[number], PATIENCE)
        if "error" in said:
            raise RuntimeError(f"{method}: {said}")
        return said["result"]

    def extra(self, method: str) -> dict[str, Any]:
        return {}


class Chromium(_Socket):
    session = ""

    def extra(self, method: str) -> dict[str, Any]:
        return {"sessionId": self.session} if self.session and not method.startswith("Target.") else {}

    async def begin(self, downloads: Path) -> None:
        targets = (await self.send("Target.getTargets"))["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = await self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            await self.send(f"{domain}.enable")
        await self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    async def size(self, width: int, height: int, *, touch: bool = False, dark: bool = False) -> None:
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch
        )
        await self.send("Emulation.setTouchEmulationEnabled", enabled=touch)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.send("Emulation.setEmulatedMedia", features=[theme])

    async def open(self, page: Path) -> None:
        await self.send("Page.navigate", url=page.as_uri())

    async def tab(self, page: Path) -> None:
        """Open a page in another tab, and drive that from now on."""
        target = (await self.send("Target.createTarget", url=page.as_uri()))["targetId"]
        self.session = (await self.send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]

    async def before(self, script: str) -> None:
        """Run a script in every page before its own."""
        await self.send("Page.addScriptToEvaluateOnNewDocument", source=script)

    async def run(self, script: str) -> Any:
        said = await self.send(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            allowUnsafeEvalBlockedByCSP=False,
        )
        if "exceptionDetails" in said:
            raise RuntimeError(str(said["exceptionDetails"].get("exception", {}).get("description", said)))
        return said["result"].get("value")

    async def key(self, key: str) -> None:
        code, text = CODES.get(key, (0, key))
        facts = {"key": key, "windowsVirtualKeyCode": code} | ({"text": text} if text else {})
        await self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **facts)
        await self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def picture(self) -> bytes:
        return b64decode((await self.send("Page.captureScreenshot", format="png"))["data"])


class Firefox(_Socket):
    context = ""

    async def begin(self) -> None:
        await self.send("session.new", capabilities={})
        self.context = (await self.send("browsingContext.getTree"))["contexts"][0]["context"]

    async def open(self, page: Path) -> None:
        await self.send("browsingContext.navigate", context=self.context, url=page.as_uri(), wait="complete")

    async def run(self, script: str) -> Any:
        said = await self.send(
            "script.evaluate",
            expression=f"Promise.resolve({script}).then(v => JSON.stringify(v) ?? 'null')",
            target={"context": self.context}, awaitPromise=True,
        )  # fmt: skip
        if said["type"] == "exception":
            raise RuntimeError(str(said["exceptionDetails"]["text"]))
        return json.loads(said["result"]["value"])

    async def key(self, key: str) -> None:
        acts = [{"type": kind, "value": NAMES.get(key, key)} for kind in ("keyDown", "keyUp")]
        await self.send(
            "input.performActions", context=self.context, actions=[{"type": "key", "id": "k", "actions": acts}]
        )

    async def picture(self) -> bytes:
        return b64decode((await self.send("browsingContext.captureScreenshot", context=self.context))["data"])


class WebKit(Browser):
    def __init__(self, process: subprocess.Popen[bytes], client: aiohttp.ClientSession, address: str) -> None:
        super().__init__(process)
        self._client, self._address = client, address

    async def send(self, method: str, path: str, **facts: Any) -> Any:
        asked = None if method == "GET" else facts
        async with self._client.request(method, self._address + path, json=asked) as answer:
            said = (await answer.json(content_type=None))["value"]
        if isinstance(said, dict) and said.get("error"):
            raise RuntimeError(f"{said['error']}: {said.get('message', '')}")
        return said

    async def begin(self) -> None:
        made = await self.send("POST", "/session", capabilities={"alwaysMatch": {}})
        self._address += f"/session/{made['sessionId']}"

    async def open(self, page: Path) -> None:
        await self.send("POST", "/url", url=page.as_uri())

    async def run(self, script: str) -> Any:
        body = "const done = arguments[0]; Promise.resolve().then(() => (%s)).then(v => done([v ?? null]), e => done([null, String(e)]))"
        said = await self.send("POST", "/execute/async", script=body % script, args=[])
        if len(said) > 1:
            raise RuntimeError(said[1])
        return said[0]

    async def key(self, key: str) -> None:
        acts = [{"type": kind, "value": NAMES.get(key, key)} for kind in ("keyDown", "keyUp")]
        await self.send("POST", "/actions", actions=[{"type": "key", "id": "k", "actions": acts}])

    async def picture(self) -> bytes:
        return b64decode(await self.send("GET", "/screenshot"))


PROGRAMS = {"chromium": "chromium", "firefox": "firefox-esr", "webkit": "WebKitWebDriver"}
# As people have it, and not as it is set for those who drive a browser: each path is another origin
_FIREFOX = """
user_pref("security.fileuri.strict_origin_policy", true);
user_pref("browser.download.folderList", 2);
user_pref("browser.download.dir", "{downloads}");
user_pref("browser.helperApps.neverAsk.saveToDisk", "application/octet-stream");
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("remote.active-protocols", 1);
user_pref("toolkit.startup.max_resumed_crashes", -1);
user_pref("browser.sessionstore.resume_from_crash", false);
"""


@asynccontextmanager
async def browser(name: str, profile: Path, downloads: Path, preferences: str = "") -> AsyncIterator[Any]:
    """Start a browser with a profile folder, which may be one of before; it is ended in any case.

    ``preferences`` are more lines of Firefox's user.js.
    """
    profile.mkdir(parents=True, exist_ok=True)
    downloads.mkdir(parents=True, exist_ok=True)
    program = shutil.which(PROGRAMS[name]) or ""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "start_new_session": True}
    port_file = profile / "DevToolsActivePort"
    port_file.unlink(missing_ok=True)
    if name == "chromium":
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        quiet["stderr"] = subprocess.DEVNULL
        words = [program, *options, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    elif name == "firefox":
        (profile / "user.js").write_text(_FIREFOX.format(downloads=downloads) + preferences)
        words = [
            program,
            "--headless",
            "--no-remote",
            "--remote-debugging-port=0",
            "--profile",
            str(profile),
            "about:blank",
        ]
    else:
        with socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = ["xvfb-run", "-a", program, f"--port={port}"]
        port_file.write_text(str(port))
        quiet["stderr"] = subprocess.DEVNULL
    (profile / "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{downloads}"\n')
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(profile))
    # without any font, as the window's tests have it, Chromium shows nothing and answers nobody
    environment = {key: value for key, value in os.environ.items() if key != "FONTCONFIG_FILE"}
    process = subprocess.Popen(words, env={**environment, **homes}, **quiet)  # type: ignore[call-overload]
    try:
        async with aiohttp.ClientSession() as client:
            yield await _connected(name, process, client, port_file, downloads)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


async def _connected(
    name: str, process: subprocess.Popen[bytes], client: aiohttp.ClientSession, port_file: Path, downloads: Path
) -> Browser:
    async with asyncio.timeout(PATIENCE):
        if name == "chromium":
            while not (port_file.is_file() and len(lines := port_file.read_text().split()) > 1):
                await asyncio.sleep(0.02)
            chromium = Chromium(
                process, await client.ws_connect(f"ws://127.0.0.1:{lines[0]}{lines[1]}", max_msg_size=0)
            )
            await chromium.begin(downloads)
            return chromium
        if name == "firefox":
            address = await asyncio.to_thread(_said_address, process)
            firefox = Firefox(process, await client.ws_connect(f"{address}/session", max_msg_size=0))
            await firefox.begin()
            return firefox
        webkit = WebKit(process, client, f"http://127.0.0.1:{port_file.read_text()}")
        while True:
            with suppress(aiohttp.ClientConnectionError):
                await webkit.begin()
                return webkit
            await asyncio.sleep(0.05)


def _said_address(process: subprocess.Popen[bytes]) -> str:
    """Return the address that a browser prints once it listens."""
    assert process.stderr is not None
    for line in process.stderr:
        if b"listening on" in line:
            return line.split()[-1].decode()
    raise RuntimeError("the browser ended before it listened")
