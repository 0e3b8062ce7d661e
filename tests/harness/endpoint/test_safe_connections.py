"""Connections that cannot be made safe are named as what they are, and no entry pays for them."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from harness.core.failures import Refused
from harness.core.run_state import RunState
from tests.harness.endpoint.sending import failure, request
from tests.harness.evaluation import chat_plan, corpus, run_corpus


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
        .sign(signs, hashes.SHA256())
    )
