"""Ed25519 against the vectors of RFC 8032, and what must not verify."""

import pytest

from review.sealed.signature import new_seed, public_key, public_pem, sign, verify

# RFC 8032, section 7.1: seed, public key, message, signature
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
]


@pytest.mark.parametrize(("seed", "public", "message", "signature"), VECTORS)
def test_the_vectors_of_the_rfc(seed: str, public: str, message: str, signature: str) -> None:
    assert public_key(bytes.fromhex(seed)) == public
    assert sign(bytes.fromhex(seed), bytes.fromhex(message)).hex() == signature
    assert verify(public, bytes.fromhex(message), bytes.fromhex(signature))


def test_other_bytes_keys_and_signatures_do_not_verify() -> None:
    seed = new_seed()
    public, signature = public_key(seed), sign(seed, b"text")
    assert verify(public, b"text", signature)
    assert not verify(public, b"texts", signature)
    assert not verify(public_key(new_seed()), b"text", signature)
    assert not verify("no key", b"text", signature)
    assert not verify(public[:-2], b"text", signature)
    assert not verify(public, b"text", b"")
    # the order of the group added to the second half: the same equation, another encoding
    order = 2**252 + 27742317777372353535851937790883648493
    second = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    assert not verify(public, b"text", signature[:32] + second)


def test_the_text_form_is_that_of_rfc_8410() -> None:
    # RFC 8410, section 10.1
    assert public_pem("19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1") == (
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
        "-----END PUBLIC KEY-----\n"
    )
