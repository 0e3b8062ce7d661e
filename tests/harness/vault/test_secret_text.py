"""A secret text goes nowhere by accident, and comes out of a sealed one whole or not at all."""

import copy
import dataclasses
import json
import logging
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import msgpack
import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileError
from harness.vault.data_key import STEP, DataKey, SealedPlace
from harness.vault.secret_text import SecretText
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

CANARY = "kanariobirdo"
TEXT = SecretText(CANARY)

WAYS_OUT: dict[str, Callable[[], Any]] = {
    "str": lambda: str(TEXT),
    "repr": lambda: repr(TEXT),
    "repr of what holds it": lambda: repr([TEXT]),
    "format": lambda: f"{TEXT}",
    "format with a form": lambda: format(TEXT, ">20"),
    "percent": lambda: "%s" % TEXT,  # noqa: UP031
    "join": lambda: " ".join(["a", *[TEXT]]),  # type: ignore[list-item]
    "adding": lambda: "" + TEXT,
    "bytes": lambda: bytes(TEXT),  # type: ignore[call-overload]
    "iterating": lambda: list(TEXT),  # type: ignore[call-overload]
    "json": lambda: json.dumps({"text": TEXT}),
    "json of pydantic": lambda: TypeAdapter(Any).dump_json(TEXT),
    "msgpack": lambda: msgpack.packb([TEXT]),
    "copy": lambda: copy.copy(TEXT),
    "deep copy": lambda: copy.deepcopy({"text": TEXT}),
    "state": TEXT.__getstate__,
    "vars": lambda: vars(TEXT),
    **{f"pickle {n}": partial(pickle.dumps, TEXT, n) for n in range(6)},
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_way_out_but_by_its_name(way: str) -> None:
    error = refuses((TypeError, ValueError), "", WAYS_OUT[way])
    assert CANARY not in "".join(traceback.format_exception(error))
    assert TEXT.reveal() == CANARY
    assert SecretText(CANARY) != TEXT  # a comparison would confirm a guess


def test_log_or_record_that_holds_it_does_not_show_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", True)
    logger = logging.Logger("secrets")
    logger.addHandler(logging.StreamHandler(sys.stderr))
    logger.warning("translating %s of %r", TEXT, TEXT)
    told = capsys.readouterr()
    assert CANARY not in told.out + told.err
    record = dataclasses.make_dataclass("Record", ["text"])(TEXT)
    refuses(TypeError, "", dataclasses.asdict, record)
    refuses(TypeError, "", repr, record)


CORES = """
import resource
from harness.vault.secret_text import no_core_dumps
no_core_dumps()
print(resource.getrlimit(resource.RLIMIT_CORE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_no_core_is_dumped_once_a_vault_is_open() -> None:
    done = subprocess.run([sys.executable, "-c", CORES], capture_output=True, text=True, check=True)
    assert done.stdout == "(0, 0)\n"


KEY = DataKey(bytes(range(32)))
PLACE = SealedPlace("c" * 16, "e" * 16, "source")


@examples(30, 100)
@given(st.text(max_size=300))
def test_sealed_text_comes_back(text: str) -> None:
    sealed = KEY.seal_text(text, PLACE)
    assert KEY.open_text(sealed, PLACE).reveal() == text
    assert (len(sealed) - 28) % STEP == 0
    assert len(text) < 12 or text.encode() not in sealed


def test_sealed_text_keeps_its_end_and_its_place_and_every_byte() -> None:
    for text in ("", "\0", "a\0\0", "\x80", "\ud800", "x" * 63, "x" * 64):
        assert KEY.open_text(KEY.seal_text(text, PLACE), PLACE).reveal() == text
    sealed = KEY.seal_text(CANARY, PLACE)
    for at in range(len(sealed)):
        for bit in range(8):
            changed = sealed[:at] + bytes([sealed[at] ^ 1 << bit]) + sealed[at + 1 :]
            refuses(FileError, "damaged", KEY.open_text, changed, PLACE)
        refuses(FileError, "damaged", KEY.open_text, sealed[:at], PLACE)

    for part in SealedPlace._fields:
        elsewhere = PLACE._replace(**{part: "another"})
        refuses(FileError, "another place", KEY.open_text, sealed, elsewhere)
    refuses(FileError, "damaged", DataKey.make().open_text, sealed, PLACE)


def test_digest_tells_a_text_again_and_confirms_no_guess() -> None:
    assert KEY.digest("Tānisi, nitōtēm!") == KEY.digest("ta\u0304nisi NITŌTĒM")
    assert KEY.digest("one") != KEY.digest("two")
    assert KEY.digest("one") != DataKey.make().digest("one")
    # HKDF written out with the standard library's HMAC, and b2sum's function keyed with it
    assert KEY.digest("one").hex() == "79286de85f3cd07efc9b8844fbebc2f2"


def test_form_of_a_sealed_text_is_pinned_and_another_is_refused() -> None:
    # sealed by hand: a nonce of zeros, the derived key as HMAC gives it, the text filled up to 64 bytes
    key = bytes.fromhex("a3a2e0b49409f1dc8afe82704df0c39c259cb287eb6a27ec3147b1a4b2322f0a")
    place, nonce = b'["cccccccccccccccc","eeeeeeeeeeeeeeee","source"]', bytes(12)
    filled = CANARY.encode() + b"\x80" + bytes(STEP - len(CANARY) - 1)
    by_hand = nonce + ChaCha20Poly1305(key).encrypt(nonce, filled, place)
    assert KEY.open_text(by_hand, PLACE).reveal() == CANARY
    assert KEY.seal_text(CANARY, PLACE) != KEY.seal_text(CANARY, PLACE)  # never the same bytes
    no_text = ChaCha20Poly1305(key).encrypt(nonce, b"\xff" + CANARY.encode() + b"\x80", place)
    error = refuses(FileError, "damaged", KEY.open_text, nonce + no_text, PLACE)
    assert CANARY not in "".join(traceback.format_exception(error))


def test_key_is_opened_by_each_recipient_alone_and_nobody_else() -> None:
    one, two, other = (AgeIdentity.make() for _ in range(3))
    sealed = KEY.sealed_for([one.recipient, two.recipient])
    assert DataKey.opened(sealed, [one]).secret == DataKey.opened(sealed, [two]).secret
    refuses(FileError, "", DataKey.opened, sealed, [other])
    assert KEY.secret.hex() not in repr(KEY)
    assert repr(KEY.secret)[2:-1] not in repr(KEY)
