"""The client against a real server that misbehaves, and connections that several runs share."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.core.failures import (
    ErrorClass,
    HarnessError,
    NoCredit,
    RateLimited,
    Refused,
    RunState,
    Transient,
)  # fmt: skip
from harness.endpoint import client, offline
from harness.endpoint.client import Connections, EndpointClient, OverlappingConnections
from harness.endpoint.endpoints import is_loopback
from harness.endpoint.transport import MOST_BYTES
from harness.run.final_scores import unconnected
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.app import display
from rosetta_tui.cli import main
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.leaderboard import leaderboard
from tests.harness.endpoint.sending import ANYWHERE, GOOD, HERE, KEY, SECRET_SOURCE, failure, request, send
from tests.harness.evaluation import chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer, serving, translated
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import times


def test_good_reply_comes_back_and_secrets_stay_out(endpoint: Scripted) -> None:
    text = "ᓀᐦᐃᔭᐍᐏᐣ \U0001f9ed \x00 e\u0301 \ud800"
    messages = [{"role": "user", "content": text}]
    endpoint.answer = lambda _: json_answer(completion("tânisi"), 201)
    reply, status = send(request(endpoint.url, body={"messages": messages}))
    assert (reply.text, status) == ("tânisi", 201)
    [asked] = endpoint.asked
    assert (asked.body, asked.path) == ({"messages": messages}, "/v1/chat/completions")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"
    secret = request(endpoint.url, body={"q": "x"}, body_secrets={"api_key": KEY})
    send(secret)
    assert (endpoint.asked[1].body, secret.body) == ({"q": "x", "api_key": KEY}, {"q": "x"})


def test_statuses_are_refusals_or_tried_again(endpoint: Scripted) -> None:
    for kind, error_class, statuses in (
        (Refused, ErrorClass.REQUEST, (400, 404, 413, 422)), (Refused, ErrorClass.AUTH, (401, 403)),
        (NoCredit, ErrorClass.REQUEST, (402,)), (Transient, ErrorClass.TIMEOUT, (408,)),
        (RateLimited, ErrorClass.RATE_LIMIT, (429,)),
        (Transient, ErrorClass.SERVER, (425, 500, 502, 503, 529, 599)),
    ):  # fmt: skip
        for status in statuses:
            told = error(status, "the words of the endpoint", headers={"Retry-After": "17"})
            endpoint.answer = lambda _, told=told: told  # type: ignore[misc]
            found = failure(request(endpoint.url))
            assert type(found) is kind
            assert (found.error_class, found.status) == (error_class, status)
            assert str(found) == f"HTTP {status}: the words of the endpoint"
            assert status not in {429, 503} or found.retry_after == 17
    # OpenAI answers 429 where the account is empty: waiting would not help
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    endpoint.answer = lambda _: json_answer(body, 429)
    found = failure(request(endpoint.url))
    assert (type(found), found.status) == (NoCredit, 429)


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(("answer", "error_class"), [
    (Answer(body=GOOD, cut_after=20), ErrorClass.TRUNCATED),
    (Answer(body=GOOD, cut_after=0), ErrorClass.CONNECTION),
    (Answer(body=b""), ErrorClass.MALFORMED),
    (Answer(body=b"<html>Bad gateway</html>"), ErrorClass.MALFORMED),
    (Answer(body=b'{"choices": ['), ErrorClass.MALFORMED),
    (Answer(body=b"\xff\xfe\x00"), ErrorClass.MALFORMED),
    (Answer(body=b"[" * 200_000), ErrorClass.MALFORMED),
    (Answer(body=b"null"), ErrorClass.MALFORMED),
    (Answer(body=b'{"choices": [{"message": {"content": 7}}]}'), ErrorClass.MALFORMED),
    (Answer(body=b"9" * 5000), ErrorClass.MALFORMED),
    (Answer(raw=b"I am no HTTP server\r\n\r\n"), ErrorClass.MALFORMED),
    (Answer(raw=HEAD + b"broken header\r\n\r\n"), ErrorClass.MALFORMED),
    (Answer(raw=HEAD + b"x: " + b"y" * 70_000 + b"\r\n\r\n"), ErrorClass.MALFORMED),
    (Answer(raw=HEAD + b"content-length: x\r\n\r\n"), ErrorClass.MALFORMED),
    (Answer(raw=b"HTTP/1.1 401 Non autoris\xe9\r\n\r\n"), ErrorClass.MALFORMED),
    (Answer(raw=HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n"), ErrorClass.MALFORMED),
    (Answer(raw=b""), ErrorClass.CONNECTION),
    (Answer(body=b"no gzip", headers={"content-encoding": "gzip"}), ErrorClass.MALFORMED),
    (Answer(body=GOOD, seconds=30), ErrorClass.TIMEOUT),
    (Answer(body=GOOD, drip=0.05), ErrorClass.TIMEOUT),
], ids=lambda value: str(value)[:60])  # fmt: skip
def test_broken_replies_named(endpoint: Scripted, answer: Answer, error_class: ErrorClass) -> None:
    endpoint.answer = lambda _: answer
    timeout = 0.3 if error_class is ErrorClass.TIMEOUT else 60.0
    found = failure(request(endpoint.url), timeout=timeout)
    assert isinstance(found, Transient)
    assert found.error_class is error_class
    assert KEY not in str(found)
    assert SECRET_SOURCE not in str(found)


def test_no_server_no_url_and_redirects_are_failures(endpoint: Scripted) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        found = failure(request(f"http://127.0.0.1:{port}/v1"))
    assert isinstance(found, Transient)
    assert found.error_class is ErrorClass.CONNECTION
    assert str(found) == f"No connection to 127.0.0.1:{port}."
    for url in (
        "http://", "http://[::1", f"http://user:{KEY}@127.0.0.1:9/", "ftp://127.0.0.1/x", "no url",
        "http://a b/", "http://127.0.0.1\n/",
    ):  # fmt: skip
        found = failure(request(url))
        assert isinstance(found, Refused | Transient)
        assert KEY not in str(found)
    # it could lead the key and the text to another machine
    with serving() as elsewhere:
        target = {"location": f"{elsewhere.url}/chat/completions"}
        endpoint.answer = lambda _: Answer(307, headers=target)
        found = failure(request(endpoint.url))
    assert isinstance(found, Refused)
    assert (found.status, elsewhere.asked) == (307, [])
    endpoint.answer = lambda _: Answer(body=b" " * (MOST_BYTES + 2**16))
    found = failure(request(endpoint.url))
    assert found.error_class is ErrorClass.MALFORMED
    assert "16 MiB" in str(found)


def test_keys_and_secret_entries_are_never_quoted(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: error(401, f"Incorrect API key provided: {KEY}. See\nthe docs.")
    told = "HTTP 401: Incorrect API key provided: •••. See the docs."
    assert str(failure(request(endpoint.url))) == told
    endpoint.answer = lambda _: Answer(403, f"bad key {KEY}!".encode())
    found = failure(request(endpoint.url, headers={}, body_secrets={"api_key": KEY}))
    assert str(found) == "HTTP 403: bad key •••!"
    endpoint.answer = lambda _: error(500, "\ud800 long " * 1000)
    message = str(failure(request(endpoint.url)))
    assert len(message) < 230
    assert message.encode("utf-8")
    for status in (200, 400, 429, 500):
        endpoint.answer = lambda a, s=status: error(s, f"cannot do {a.source}")  # type: ignore[misc]
        told = str(failure(request(endpoint.url, cacheable=False)))
        assert not [words for words in (SECRET_SOURCE, "cannot do") if words in told]


@pytest.mark.parametrize("form", ["text", "error", "error in a good reply"])
def test_no_beginning_of_a_key_is_left_where_words_are_cut(endpoint: Scripted, form: str) -> None:
    for before in range(150, 210, times(10, 5)):
        words = f"{'x' * before} {KEY} and more words after it " + "y" * 600
        status = {"text": 401, "error": 401}.get(form, 200)
        told = Answer(401, words.encode()) if form == "text" else error(status, words)
        endpoint.answer = lambda _, told=told: told  # type: ignore[misc]
        message = str(failure(request(endpoint.url)))
        assert KEY[:2] not in message
        assert len(message) < 300


def test_offline_refuses_another_machine_before_any_connection() -> None:
    for host in [
        "localhost.evil.example", "127.0.0.1.evil.example", "evil.example", "10.0.0.1", "0.0.0.0",
        "127.0.0.1@evil.example", "[::ffff:93.184.216.34]", "[2001:db8::1]",
        "xn--localhost-.example", "ⓛocalhost.example", "169.254.169.254",
    ]:  # fmt: skip
        found = failure(request(f"http://{host}:9/v1"), offline=True)
        assert isinstance(found, Refused)
        assert found.error_class is ErrorClass.OFFLINE
        assert not is_loopback(f"http://{host}:9/v1")


def test_proxies_are_for_others_alone(endpoint: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("localhost", "127.0.0.1", "127.8.9.1", "[::1]", "LOCALHOST"):
        assert is_loopback(f"http://{host}:11434/v1")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:3128")
    endpoint.answer = lambda _: json_answer(completion("y"))
    for here_alone in (True, False):
        assert send(request(endpoint.url), offline=here_alone)[0].text == "y"
    monkeypatch.setenv("http_proxy", endpoint.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    endpoint.answer = lambda _: json_answer(completion("by proxy"))
    assert send(request("http://model.example/v1"))[0].text == "by proxy"
    assert endpoint.asked[2].path == "http://model.example/v1/chat/completions"
    monkeypatch.setenv("http_proxy", endpoint.url.replace("//", "//me:pass@").removesuffix("/v1"))
    send(request("http://model.example/v1"))
    assert endpoint.asked[3].headers["proxy-authorization"] == "Basic bWU6cGFzcw=="
    monkeypatch.setenv("no_proxy", ".example")
    assert failure(request("http://model.example/v1")).error_class is ErrorClass.CONNECTION
    monkeypatch.delenv("no_proxy", raising=False)
    for proxy in ("127.0.0.1:3128", "socks5://127.0.0.1:1080", "ftp://127.0.0.1"):
        monkeypatch.setenv("http_proxy", proxy)
        found = failure(request("http://model.example/v1"))
        assert isinstance(found, Refused)
        assert found.error_class is ErrorClass.REQUEST
        assert "The proxy that the environment names" in str(found)


def test_offline_allows_this_machine_over_ipv6() -> None:
    try:
        with serving(lambda _: json_answer(completion("six")), host="::1") as six:
            assert send(request(six.url), offline=True)[0].text == "six"
    except (OSError, AssertionError):
        pytest.skip("this machine has no IPv6 loopback")


def test_passwords_of_netrc_and_cookies_are_not_sent(
    endpoint: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password hunter2hunter2")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    endpoint.answer = lambda _: json_answer(completion("y"))
    send(request(endpoint.url, headers={}))
    send(request(endpoint.url))
    assert "authorization" not in endpoint.asked[0].headers
    assert endpoint.asked[1].headers["authorization"] == f"Bearer {KEY}"
    endpoint.answer = lambda _: json_answer(completion("y"), headers={"set-cookie": "id=1"})

    async def main() -> None:
        client = EndpointClient(HERE, timeout_seconds=20)
        try:
            for _ in range(2):
                await client.send(request(endpoint.url.replace("127.0.0.1", "localhost")))
        finally:
            await client.close()

    asyncio.run(main())
    assert len(endpoint.asked) == 4
    assert "cookie" not in endpoint.asked[3].headers


def test_many_calls_are_open_at_once(endpoint: Scripted) -> None:
    """No limit of the library's holds the pace of a run back."""
    answer = json_answer(completion("y"), until=lambda: len(endpoint.asked) == 150)
    endpoint.answer = lambda _: answer

    async def main() -> None:
        client = EndpointClient(HERE, timeout_seconds=20)
        try:
            await asyncio.gather(*(client.send(request(endpoint.url)) for _ in range(150)))
        finally:
            await client.close()

    asyncio.run(main())
    assert endpoint.most_under_way == 150


REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(GOOD), GOOD)


class CountingServer:
    """Answers every request, and counts the connections that it took."""

    def __init__(self, listening: socket.socket) -> None:
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        self.taken: list[socket.socket] = []
        self._listening = listening
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                self.taken.append(self._listening.accept()[0])
            except OSError:
                return
            threading.Thread(target=self._answer, args=(self.taken[-1],), daemon=True).start()

    def _answer(self, taken: socket.socket) -> None:
        try:
            while data := taken.recv(65536):
                if data.endswith(b"}"):
                    taken.sendall(REPLY)
        except OSError:
            return


@contextmanager
def counting() -> Iterator[CountingServer]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        server = CountingServer(listening)
        try:
            yield server
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for each in server.taken:
                each.close()


async def ask(ways: Connections, url: str) -> str:
    client = ways.client(ANYWHERE, timeout_seconds=20.0)
    return (await client.send(request(url)))[0].text


def test_later_runs_use_an_open_connection_of_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with counting() as server, closing(Connections()) as ways:
        assert [ways.run(ask(ways, server.url)) for _ in range(3)] == ["whole"] * 3
        assert len(server.taken) == 1
        server.taken[0].shutdown(socket.SHUT_RDWR)
        assert (ways.run(ask(ways, server.url)), len(server.taken)) == ("whole", 2)
    with closing(Connections()) as ways:
        own = ways.client(ANYWHERE, timeout_seconds=20.0)
        assert ways.client(ANYWHERE, timeout_seconds=20.0) is own
        assert ways.client(HERE, timeout_seconds=20.0) is not own
        assert ways.client(ANYWHERE, timeout_seconds=5.0) is not own
    with counting() as server, closing(Connections()) as ways:
        ways.run(ask(ways, server.url))
        monkeypatch.setattr(offline, "why", lambda: offline.SECRET)
        refuses(Refused, "nothing may leave", ways.run, ask(ways, "http://192.0.2.1/v1"))
        assert ways.run(ask(ways, server.url)) == "whole"

    async def wrong() -> None:
        raise LookupError

    with counting() as server, closing(OverlappingConnections()) as ways:
        refuses(LookupError, "", ways.run, wrong())
        assert [ways.run(ask(ways, server.url)) for _ in range(3)] == ["whole"] * 3
        assert len(server.taken) == 1


def test_what_a_run_leaves_behind_is_broken_off() -> None:
    broken: list[str] = []

    async def left() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            broken.append("left")
            raise

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(left())
        await asyncio.sleep(0)
        return task

    with closing(Connections()) as ways:
        assert ways.run(begin()).cancelled()
        assert broken == ["left"]


def test_runs_that_overlap_share_a_loop_and_break_off_only_what_is_their_own() -> None:
    broken: list[str] = []
    met = asyncio.Event()

    async def left(name: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            broken.append(name)
            raise

    async def one() -> list[str]:
        behind = asyncio.create_task(left("of the one"))
        await asyncio.wait_for(met.wait(), 20)
        assert not behind.done()
        return list(broken)

    async def other() -> asyncio.Task[None]:
        behind = asyncio.create_task(left("of the other"))
        await asyncio.sleep(0)
        return behind

    async def meet() -> None:
        met.set()

    with closing(OverlappingConnections()) as ways, ThreadPoolExecutor(1) as threads:
        whole = threads.submit(ways.run, one())
        ways.run(other())
        ways.run(meet())
        assert (whole.result(20), broken) == (["of the other"], ["of the other", "of the one"])


def test_calls_of_an_ended_loop_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ending() -> None:
        asyncio.get_running_loop().stop()
        await asyncio.Event().wait()

    monkeypatch.setattr(client, "ALIVE_SECONDS", 0.01)
    ways = OverlappingConnections()
    refuses(HarnessError, "broke off", ways.run, ending())
    ways.close()


DEAD = Answer(cut_after=0)
WORDS = "3 entries failed because there is no connection; they count as 0"


def dead_for(*numbers: int) -> Any:
    """Answer all but these entries; for those the connection breaks."""

    def answer(asked: Asked) -> Answer:
        found = re.search(r"entry number (\d+)", asked.source)
        return DEAD if found and int(found[1]) in numbers else translated(asked)

    return answer


@pytest.fixture
def home(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    return store_path


class Cut:
    """A run of 12 of which 3 entries met a dead server, in a store that tests copy, and the server alive again."""

    def __init__(self, folder: Path, endpoint: Scripted) -> None:
        self.endpoint, self.store = endpoint, folder / "rosetta.sqlite"
        endpoint.answer = dead_for(2, 5, 7)
        self.heard = run_corpus(self.store, corpus(12), chat_plan(endpoint.url))


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cut]:
    with serving() as endpoint:
        yield Cut(tmp_path_factory.mktemp("cut"), endpoint)


@pytest.fixture
def cut(once: Cut, home: Path) -> Cut:
    home.parent.mkdir(exist_ok=True)
    with closing(open_store(once.store)) as store:
        store.execute("VACUUM INTO ?", (str(home),))
    once.endpoint.answer = translated
    once.endpoint.asked.clear()
    return once


def called(*arguments: str) -> Result:
    return CliRunner().invoke(rosetta, list(arguments))


def test_run_and_resume_seal_no_failed_entries_unasked(
    cut: Cut, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    end = cut.heard.finished
    assert (end.state, end.card_hash, end.done, end.failed) == (RunState.STOPPED, None, 12, 3)
    assert (end.reason or "").startswith(WORDS)
    told = str(called("resume", "last").exception)
    assert [part in told for part in (WORDS, "--retry-failed", "--keep-failed")] == [True] * 3
    assert called("resume", "last", "--retry-failed", "--keep-failed").exit_code == 2
    assert cut.endpoint.asked == []
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].card is None
    with Path("/dev/null").open(encoding="utf-8") as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        left = refuses(SystemExit, "", main, ["resume", "last"])
    assert left.code == 2
    assert WORDS in capsys.readouterr().err


def test_scripts_keep_failed_entries(cut: Cut, home: Path) -> None:
    kept = called("resume", "last", "--keep-failed", "--plain")
    assert (kept.exit_code, cut.endpoint.asked) == (0, []), kept.output
    with closing(open_store(home)) as store:
        [run] = list_runs(store)
    assert (run.failed, dict(run.failures)) == (3, {"connection": 3})
    assert "3 connection" in called("runs", "list").stdout
    [listed] = json.loads(called("runs", "list", "--json").stdout)
    assert listed["failures"] == {"connection": 3}


def test_scripts_ask_for_failed_entries_again(cut: Cut, home: Path) -> None:
    again = called("resume", "last", "--retry-failed", "--plain")
    assert (again.exit_code, len(cut.endpoint.asked)) == (0, 3), again.output
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].failed == 0


@pytest.mark.parametrize(("answer", "asked"), [("\n", 3), ("n\n", 0)])
def test_terminal_asks_and_enter_asks_again(
    cut: Cut, home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, asked: int
) -> None:
    monkeypatch.setattr(display, "can_be_asked", lambda style: style != "json-lines")
    done = CliRunner().invoke(rosetta, ["resume", "last", "--plain"], input=answer)
    assert done.exit_code == 0, done.output
    assert f"{WORDS}. Ask for them again? [Y/n]" in done.output
    assert len(cut.endpoint.asked) == asked
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].failed == 3 - asked


def test_kept_run_is_not_asked_about_twice(cut: Cut, home: Path) -> None:
    with closing(open_store(home)) as store:
        run = find_run(store, "last")
        store.execute("UPDATE runs SET plan = json_set(plan, '$.run.keep_failed', json('true'))")
    done = called("resume", run.run_id, "--plain")
    assert done.exit_code == 0, done.output


def test_kept_run_seals_at_once_as_do_other_failures(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = dead_for(2, 5)
    plan = chat_plan(endpoint.url, run={"keep_failed": True})
    assert run_corpus(home, corpus(12), plan).finished.card_hash
    endpoint.answer = dead_for(2)
    done = called("retry", "last", "--plain")
    assert done.exit_code == 1
    assert "1 entry failed because there is no connection" in done.stderr
    endpoint.answer = lambda asked: json_answer(completion("")) if "number 3" in asked.source else translated(asked)
    other = corpus(2, source="number 3")
    assert run_corpus(home, other, chat_plan(endpoint.url)).finished.card_hash
    with closing(open_store(home)) as store:
        assert unconnected(store, find_run(store, "last").id) == 0
    assert "2 empty" in called("runs", "list").stdout


def test_server_that_is_still_dead_leaves_the_run_unsealed(cut: Cut, home: Path) -> None:
    cut.endpoint.answer = dead_for(5)
    end = resume(home, retry_failed=True).finished
    assert (end.state, end.failed) == (RunState.STOPPED, 1)
    assert (end.reason or "").startswith("1 entry failed because there is no connection; it counts as 0")


def test_run_is_ranked_with_one_dead_entry_of_twenty(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = dead_for(7)
    plan = chat_plan(endpoint.url, run={"keep_failed": True})
    for size, failed in ((19, True), (20, False)):
        number = run_corpus(home, corpus(size), plan).finished.run_id
        boards = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)
        [run] = [each for board in boards for each in board["runs"] if each["run_id"] == number]
        assert (run["rank"] is None, run["failures"]) == (failed, {"connection": 1})
        if failed:
            assert f"1 of {size} entries failed because there is no connection" in run["unranked"]
            assert f"rosetta retry {number[:8]}" in run["unranked"]
