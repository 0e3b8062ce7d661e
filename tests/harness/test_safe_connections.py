"""Connections that cannot be made safe are named as what they are."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from harness.failures import Refused
from tests.harness.test_wire import failure, request


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


def test_a_certificate_that_nobody_vouches_for_is_named(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            with suppress(OSError):
                other, _ = listening.accept()
                with other, context.wrap_socket(other, server_side=True):
                    pass

        threading.Thread(target=greet, daemon=True).start()
        found = failure(request(f"https://127.0.0.1:{listening.getsockname()[1]}/v1"))
    assert isinstance(found, Refused)
    assert "certificate is not one that this computer trusts" in str(found)


def self_signed(folder: Path) -> Path:
    """Write a certificate for this machine that only its own key vouches for, and the key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(secret + made.public_bytes(Encoding.PEM))
    return path
