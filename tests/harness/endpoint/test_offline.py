"""The door that is shut, certificates, and whether a computer has a way to other machines."""

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
from itertools import product
from pathlib import Path
from tempfile import mkdtemp

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from harness.core.failures import ErrorClass, HarnessError, Refused, RunState, UsageError
from harness.endpoint import offline
from harness.endpoint.offline import bsd_routes, linux_routes, require_none, windows_routes
from harness.endpoint.offline import network_routes as looked_for
from tests.harness.endpoint.sending import failure, request
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Scripted
from tests.harness.sealed.refusals import refuses

ELSEWHERE = "192.0.2.1"
"""An address that is reserved for documentation: nobody is there."""


def connect(address: object, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(family, kind) as opened:
        opened.settimeout(0.01)
        opened.connect(address)  # type: ignore[arg-type]


def datagram(send: Callable[[socket.socket], object]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        send(opened)


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
    "udp": lambda: datagram(lambda it: it.sendto(b"x", (ELSEWHERE, 9))),
    "udp message": lambda: datagram(lambda it: it.sendmsg([b"x"], [], 0, (ELSEWHERE, 9))),
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


def test_every_way_out_is_shut() -> None:
    for reason, way in product((offline.OFFLINE, offline.SECRET), WAYS.values()):
        offline.shut(reason)
        caught = refuses(Refused, "", way)
        assert caught.error_class is ErrorClass.OFFLINE
        assert str(caught).startswith(reason)


def test_door_stays_open_for_this_machine_and_until_shut(endpoint: Scripted) -> None:
    assert offline.why() == ""
    with suppress(OSError):
        connect((ELSEWHERE, 9))
    offline.shut(offline.OFFLINE)
    assert offline.why() == offline.OFFLINE
    offline.shut(offline.SECRET)
    offline.shut(offline.OFFLINE)
    assert offline.why() == offline.SECRET
    offline.shut(offline.SECRET)
    for host in ("127.0.0.1", "localhost"):
        with socket.create_connection((host, endpoint.port), timeout=5):
            pass
    first, second = socket.socketpair()
    first.close()
    second.close()
    with suppress(OSError):
        connect("/nowhere/at/all", socket.AF_UNIX)
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


@pytest.mark.parametrize(("kind", "words"), [
    ("self-signed", "not one that this computer trusts (self-signed, or of an unknown maker)"),
    ("expired", "certificate has expired"), ("not yet", "certificate is not valid yet"),
    ("other name", "certificate is for another name"),
    ("other address", "certificate is for another name"),
])  # fmt: skip
def test_wrong_certificate_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, words: str) -> None:
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


Key = ec.EllipticCurvePrivateKey


def certificate(name: str, key: Key, maker: str, signs: Key, days: tuple[int, int] = (-1, 1)) -> x509.Certificate:
    """Make a certificate that holds between two days from now, for a name of which the maker is a CA."""
    now, shown = datetime.now(UTC), [x509.DNSName(name.replace(" ", "-"))]
    maker_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(signs.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, maker)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(x509.SubjectAlternativeName(shown), critical=False)
        .add_extension(x509.BasicConstraints(ca=name == maker, path_length=None), critical=True)
        # from Python 3.13 on these are looked for
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(maker_id, critical=False)
        .add_extension(usage(signs=name == maker), critical=True)
        .sign(signs, hashes.SHA256())
    )


HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
NONE, DEFAULT, NEAR = "", "00000000\t0100A8C0\t0003", "0000A8C0\t00000000\t0001"
NO_ADDRESS = "00000000000000000000000000000000"
LOOPBACK_6 = f"{NO_ADDRESS[:-1]}1 80 {NO_ADDRESS} 00 {NO_ADDRESS} 00000000 1 0 80200001 lo\n"


def linux(root: Path, routes: dict[str, str], routes_6: str = LOOPBACK_6, carrier: str = "1\n") -> list[str]:
    """Return what is found in tables of the kernel with these routes by interface, each with such a line."""
    (root / "proc/net").mkdir(parents=True)
    rows = "".join(f"{name}\t{route}\t0\t0\t0\t00000000\t0\t0\t0\n" for name, route in routes.items())
    (root / "proc/net/route").write_text(HEAD + rows)
    (root / "proc/net/ipv6_route").write_text(routes_6)
    for name in {*routes, "eth6"} - {"lo", "tun0"}:
        (root / "sys/class/net" / name).mkdir(parents=True)
        (root / "sys/class/net" / name / "carrier").write_text(carrier)
    return list(linux_routes(root))


def test_tables_of_linux_and_ipv6_are_read(tmp_path: Path) -> None:
    for routes, carrier, found in [
        ({}, "1\n", []),
        ({"lo": NEAR}, "1\n", []),
        ({"eth0": DEFAULT}, "1\n", ["eth0"]),
        ({"eth0": NEAR, "lo": NEAR}, "1\n", ["eth0"]),
        ({"docker0": NEAR}, "0\n", []),
        ({"tun0": NEAR}, "", ["tun0"]),  # an interface of which the system tells no line
        ({"eth0": "00000000\t00000000\t0201"}, "1\n", []),  # a route that rejects
        ({"eth0": "00000000\t00000000\t0000"}, "1\n", []),  # and one that is not up
    ]:
        root = Path(mkdtemp(dir=tmp_path))
        assert linux(root, routes, carrier=carrier) == found
    for destination, flags, found in [
        (f"{NO_ADDRESS} 00", "00000003", ["eth6"]),
        ("fe800000000000000000000000000000 40", "00000001", ["eth6"]),
        ("ff000000000000000000000000000000 08", "00000001", []),
        (f"{NO_ADDRESS} 00", "00200200", []),
    ]:
        row = f"{destination} {NO_ADDRESS} 00 {NO_ADDRESS} 00000400 1 0 {flags}     eth6\n"
        assert linux(Path(mkdtemp(dir=tmp_path)), {}, LOOPBACK_6 + row) == found
    assert list(linux_routes(tmp_path)) == ["/proc/net/route cannot be read"]


WINDOWS_ALONE = """
Interface List
  1...........................Software Loopback Interface 1

IPv4 Route Table
Active Routes:
Network Destination        Netmask          Gateway       Interface  Metric
        127.0.0.0        255.0.0.0         On-link         127.0.0.1    331
        127.0.0.1  255.255.255.255         On-link         127.0.0.1    331
  127.255.255.255  255.255.255.255         On-link         127.0.0.1    331
        224.0.0.0        240.0.0.0         On-link         127.0.0.1    331
  255.255.255.255  255.255.255.255         On-link         127.0.0.1    331
Persistent Routes:
  None

IPv6 Route Table
Active Routes:
 If Metric Network Destination      Gateway
  1    331 ::1/128                  On-link
  1    331 ff00::/8                 On-link
"""
WINDOWS_NEAR = "      192.168.1.0    255.255.255.0   Auf Verbindung      192.168.1.23    281\n"
WINDOWS_DEFAULT = "          0.0.0.0          0.0.0.0      192.168.1.1     192.168.1.23     25\n"
WINDOWS_SIX = " 12    281 2001:db8:1::/64          On-link\n"


def test_what_windows_and_macos_print_is_read() -> None:
    for more, found in [
        ("", set()), (WINDOWS_NEAR, {"192.168.1.23"}),
        (WINDOWS_DEFAULT + WINDOWS_NEAR, {"192.168.1.23"}), (WINDOWS_SIX, {"interface 12"}),
        ("  224.0.0.0   240.0.0.0   On-link   192.168.1.23   281\n", set()),
    ]:  # fmt: skip
        assert set(windows_routes(WINDOWS_ALONE + more)) == found
    for more, found in [
        ("", set()),
        ("default            192.168.1.1        UGScg                 en0       \n", {"en0"}),
        ("192.168.1          link#6             UCS                   en0      !\n", {"en0"}),
        ("169.254            link#6             UCS                   en0      !\n", {"en0"}),
        ("224.0.0/4          link#6             UmCS                  en0      !\n", set()),
        ("255.255.255.255/32 link#6             UCS                   en0      !\n", set()),
        ("10.8/16            10.8.0.1           UGSc                utun4\n", {"utun4"}),
        ("10.9/16            127.0.0.1          UGRS                  en0\n", set()),
    ]:
        assert set(bsd_routes(MACOS_ALONE + more)) == found


MACOS_ALONE = """Routing tables

Internet:
Destination        Gateway            Flags               Netif Expire
127                127.0.0.1          UCS                   lo0
127.0.0.1          127.0.0.1          UH                    lo0

Internet6:
Destination                             Gateway                                 Flags               Netif Expire
default                                 fe80::%utun0                            UGcIg               utun0
::1                                     ::1                                     UHL                   lo0
fe80::%lo0/64                           fe80::1%lo0                             UcI                   lo0
fe80::%utun0/64                         fe80::1c2d:3e4f:5061:7283%utun0         UcI                 utun0
ff01::%lo0/32                           ::1                                     UmCI                  lo0
ff02::%utun0/32                         fe80::1c2d:3e4f:5061:7283%utun0         UmCI                utun0
"""


ALONE = """
import socket, sys
from harness.endpoint.offline import network_routes
from tests.without_network import leave_network
print(*network_routes())
try:
    leave_network()
except OSError:
    sys.exit(7)
print("alone:", *network_routes())
"""


def test_a_machine_that_is_alone_is_known_by_its_own_kernel() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE], check=False, capture_output=True, text=True,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    if done.returncode == 7:
        pytest.skip("this system gives no namespace")
    assert done.stdout.endswith("\nalone:\n"), done.stderr


def test_ways_out_are_found_without_sending_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "routed", lambda: iter(()))
    monkeypatch.setattr(offline, "NOBODYS", ((socket.AF_INET, "127.0.0.1"),))
    assert looked_for() == ("a route that the table does not show",)
    monkeypatch.setattr(offline, "NOBODYS", ((socket.AF_INET, "192.0.2.1"),))
    offline.shut(offline.SECRET)  # the door answers in the kernel's place
    assert looked_for() == ()
    # a socket of UDP that is connected here would have its packet heard
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.setblocking(False)
        place = heard.getsockname()
        monkeypatch.setattr(offline, "routed", lambda: iter(()))
        monkeypatch.setattr(offline, "PORT", place[1])
        monkeypatch.setattr(offline, "NOBODYS", ((socket.AF_INET, place[0]),))
        assert looked_for() != ()
        refuses(BlockingIOError, "", heard.recv, 1)
    monkeypatch.setattr(offline, "network_routes", lambda: ("wlan0",))
    for reason in ("", "  "):
        refuses(UsageError, r"\(wlan0\).*Pull the cable.*--despite-network", require_none, reason)
    assert require_none("the cable is cut, I looked") == "the cable is cut, I looked"
    monkeypatch.setattr(offline, "network_routes", lambda: ())
    assert require_none("") == ""
    assert require_none("not needed") == "", "there is nothing to note"
