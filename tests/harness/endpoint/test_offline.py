"""The door that is shut, and connections that cannot be made safe: no code reaches another machine."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from harness.core.failures import ErrorClass, HarnessError, Refused
from harness.core.run_state import RunState
from harness.endpoint import offline
from tests.harness.endpoint.sending import failure, request
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Scripted

ELSEWHERE = "192.0.2.1"
"""An address that is reserved for documentation: nobody is there."""


def connect(address: object, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(family, kind) as opened:
        opened.settimeout(0.01)
        opened.connect(address)  # type: ignore[arg-type]


def send_to(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"x", address)


def send_message(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendmsg([b"x"], [], 0, address)


def listen(host: str) -> None:
    with socket.socket() as opened:
        opened.bind((host, 0))


async def open_stream() -> None:
    await asyncio.open_connection(ELSEWHERE, 9)


class Said(str):  # noqa: SLOT000
    """A text that says another thing when it is asked twice."""

    def lower(self) -> str:
        return "127.0.0.1"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Pair(tuple[object, ...]):  # noqa: SLOT001
    """An address that shows this machine to Python, and another one to the system."""

    def __getitem__(self, place: object) -> object:  # type: ignore[override]
        return "127.0.0.1"


WAYS: dict[str, Callable[[], object]] = {
    "tcp": lambda: connect((ELSEWHERE, 9)),
    "tcp over IPv6": lambda: connect(("2001:db8::1", 9), socket.AF_INET6),
    "mapped IPv4": lambda: connect(("::ffff:192.0.2.1", 9), socket.AF_INET6),
    "udp": lambda: send_to((ELSEWHERE, 9)),
    "udp message": lambda: send_message((ELSEWHERE, 9)),
    "connected udp": lambda: connect((ELSEWHERE, 9), kind=socket.SOCK_DGRAM),
    "a name is looked up": lambda: socket.getaddrinfo("secret.elsewhere.example", 80),
    "a name as bytes": lambda: socket.getaddrinfo(b"elsewhere.example", 80),
    "the old look-up": lambda: socket.gethostbyname("secret.elsewhere.example"),
    "the old look-up, more": lambda: socket.gethostbyname_ex("secret.elsewhere.example"),
    "an address is looked up": lambda: socket.gethostbyaddr(ELSEWHERE),
    "localhost in a longer name": lambda: socket.getaddrinfo("localhost.evil.example", 80),
    "a tuple of another type": lambda: connect(Pair((ELSEWHERE, 9))),
    "a text of another type": lambda: connect((Said(ELSEWHERE), 9)),
    "a name of another type": lambda: socket.getaddrinfo(Said(ELSEWHERE), 80),
    "an address as bytes that change": lambda: connect((bytearray(b"192.0.2.1"), 9)),
    "the name of an address": lambda: socket.getnameinfo((ELSEWHERE, 9), 0),
    "a name below localhost": lambda: socket.getaddrinfo("secret.localhost", 80),
    "listening to others": lambda: listen("192.0.2.1"),
    "asyncio": lambda: asyncio.run(open_stream()),
    "urllib": lambda: urllib.request.urlopen(f"http://{ELSEWHERE}:9/", timeout=0.01),
}


@pytest.mark.parametrize("reason", [offline.SECRET, offline.OFFLINE])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_out_is_shut(way: str, reason: str) -> None:
    offline.shut(reason)
    with pytest.raises(Refused) as caught:
        WAYS[way]()
    assert caught.value.error_class is ErrorClass.OFFLINE
    assert str(caught.value).startswith(reason)


def test_this_machine_stays_reachable(endpoint: Scripted) -> None:
    offline.shut(offline.SECRET)
    for host in ("127.0.0.1", "localhost"):
        with socket.create_connection((host, endpoint.port), timeout=5):
            pass
    first, second = socket.socketpair()
    first.close()
    second.close()
    with suppress(OSError):
        connect("/nowhere/at/all", socket.AF_UNIX)


def test_the_door_is_open_until_it_is_shut_and_says_why() -> None:
    assert offline.why() == ""
    with suppress(OSError):
        connect((ELSEWHERE, 9))
    offline.shut(offline.OFFLINE)
    assert offline.why() == offline.OFFLINE
    offline.shut(offline.SECRET)
    offline.shut(offline.OFFLINE)
    assert offline.why() == offline.SECRET


def test_a_door_whose_hook_is_not_taken_cannot_be_relied_on() -> None:
    with pytest.raises(HarnessError, match="cannot be refused"):
        offline.door(lambda _hook: None).shut(offline.SECRET)


TAKES_IT_APART = """
import atexit, ipaddress, socket, sys
from harness.endpoint import endpoints, offline
from harness.core import failures

offline.shut(offline.SECRET)
offline.shut = offline.why = offline._judge = offline.door = lambda *_: None
endpoints.is_this_machine = endpoints.is_loopback = lambda *_: True
offline._EVENTS = offline._REACHES = offline._LOOKS_UP = frozenset()
ipaddress.IPv4Address.is_loopback = property(lambda self: True)
socket.inet_pton = lambda *_: bytes([127, 0, 0, 1])
failures.Refused = KeyError
sys.addaudithook = lambda *_: None

def tried(when):
    opened = socket.socket()
    opened.settimeout(0.01)
    try:
        opened.connect(("192.0.2.1", 9))
    except OSError:
        print(when, "went out")
    except BaseException as error:
        print(when, type(error).__name__)

tried("now")
atexit.register(tried, "at the end")
"""


def test_a_module_that_is_patched_does_not_open_it() -> None:
    done = subprocess.run([sys.executable, "-c", TAKES_IT_APART], capture_output=True, check=True)
    assert done.stdout.split(b"\n")[:2] == [b"now Refused", b"at the end Refused"]


def test_a_server_without_tls_is_not_called_absent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            other, _ = listening.accept()
            with other:
                other.recv(4096)
                other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=refuse, daemon=True).start()
        found = failure(request(f"https://127.0.0.1:{listening.getsockname()[1]}/v1"))
    assert isinstance(found, Refused)
    assert "Is it http:// instead of https://?" in str(found)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("self-signed", "not one that this computer trusts (self-signed, or of an unknown maker)"),
        ("expired", "certificate has expired"),
        ("not yet", "certificate is not valid yet"),
        ("other name", "certificate is for another name"),
        ("other address", "certificate is for another name"),
    ],
)
def test_what_is_wrong_with_a_certificate_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, words: str
) -> None:
    with tls_server(tmp_path, monkeypatch, kind) as address:
        found = failure(request(f"{address}/v1"))
    assert isinstance(found, Refused)
    assert words in str(found)
    assert "No connection" not in str(found)


def test_a_certificate_stops_the_run_at_its_first_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_path: Path
) -> None:
    with tls_server(tmp_path, monkeypatch, "expired") as address:
        heard = run_corpus(store_path, corpus(20), chat_plan(f"{address}/v1"))
    end = heard.finished
    assert (end.state, end.done, end.failed) == (RunState.STOPPED, 0, 0)
    assert "certificate has expired" in (end.reason or "")


@contextmanager
def tls_server(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> Iterator[str]:
    """Listen with a certificate of this kind; this program trusts the maker of all but the self-signed one."""
    maker_key = ec.generate_private_key(ec.SECP256R1())
    maker = certificate("A maker", maker_key, "A maker", maker_key)
    trusted = folder / "trusted.pem"
    trusted.write_bytes(maker.public_bytes(Encoding.PEM))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    key = ec.generate_private_key(ec.SECP256R1())
    signs = key if kind == "self-signed" else maker_key
    days = {"expired": (-9, -2), "not yet": (2, 9)}.get(kind, (-1, 1))
    name = "elsewhere.example" if kind == "other name" else "localhost"
    own = certificate(name, key, "localhost" if signs is key else "A maker", signs, days)
    chain = folder / "server.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain.write_bytes(secret + own.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            with suppress(OSError):
                while True:
                    other, _ = listening.accept()
                    with suppress(OSError), context.wrap_socket(other, server_side=True):
                        pass

        threading.Thread(target=greet, daemon=True).start()
        host = "127.0.0.1" if kind == "other address" else "localhost"
        yield f"https://{host}:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, key_cert_sign=signs, crl_sign=False,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip


def certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    maker: str,
    signs: ec.EllipticCurvePrivateKey,
    days: tuple[int, int] = (-1, 1),
) -> x509.Certificate:
    """Make a certificate that holds between two days from now, for a name of which the maker is a CA."""
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, maker)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name.replace(" ", "-"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=name == maker, path_length=None), critical=True)
        # from Python 3.13 on these are looked for
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signs.public_key()), critical=False
        )
        .add_extension(usage(signs=name == maker), critical=True)
        .sign(signs, hashes.SHA256())
    )
