"""What a community holds itself, against a certificate: a batch file that it kept, and six words of a hand-over."""

from __future__ import annotations

from review.files.batch import Batch
from review.sealed.keys import says_key
from review.sealed.phrase import says
from review.verdict.certificate.certificate import Certificate
from review.verdict.certificate.commitments import of_batch
from review.verdict.certificate.evidence import Evidence
from review.verdict.certificate.signed import LESS_THAN_BOUND, Attested, CertificateCheck


def check_kept_batch(evidence: Evidence, stated: Certificate, kept: Batch) -> CertificateCheck:
    """Hold policy, answer key and people of the evidence against a batch that somebody kept since it went out."""
    batch, key = kept.manifest.batch, evidence.key
    signer = stated.organisation.signing_key
    if stated.batches.get(batch) != kept.sha256 or key.batch_sha256.get(batch) != kept.sha256:
        return CertificateCheck(
            "your batch", False, "the certificate does not rest on the batch that you kept"
        )
    if stated.version == 1 and kept.manifest.version != 1:
        return CertificateCheck("your batch", False, LESS_THAN_BOUND)
    named = {kept.manifest.place(who): order for who, order in key.orders.items()}
    wrong = list(of_batch(key, evidence.policy_sha256, kept.signed, kept.manifest, batch, signer))
    if any(named.get(place) != order for place, order in kept.manifest.orders.items()):
        wrong.append("the people whom it asks, or their items, are not those of the evidence")
    if wrong:
        return CertificateCheck("your batch", False, "; ".join(wrong))
    more = (
        "" if kept.manifest.version != 1 else ", though not to the answer key: it is of version 1"
    )
    words = f"the certificate rests on the batch that you kept, which commits to its policy{more}"
    return CertificateCheck("your batch", True, words)


def check_hand_over(attested: Attested, part: Evidence, words: str) -> CertificateCheck:
    """Say whether what a laptop handed over when it showed six words is part of what was certified."""
    name = f"hand-over {words}"
    found = [each for each in attested.hand_overs if says(words, each.signed.sha256)]
    if not found and not attested.hand_overs:
        said = "the evidence is of an earlier version, which kept no hand-overs"
        return CertificateCheck(name, None, said, earlier=True)
    if not found and any(says_key(words, key) for key in part.devices.values()):
        said = "these are the words of a laptop, by which it is enrolled; each hand-over shows six of its own"
        return CertificateCheck(name, False, said)
    if not found:
        said = (
            "NOT in the evidence. It was left out, or never taken in, or the words were written down otherwise: "
            "ask the organisation"
        )
        return CertificateCheck(name, False, said)
    own = {device for each in found for device in attested.own(each)}
    tips = {tip for each in found for device in own for tip in each.tips.get(device, ())}
    certified = {event.id for event in part.events}
    if not tips or not certified.issuperset(tips):
        said = "came too late: not all of it is in what was certified"
        return CertificateCheck(name, False, said)
    return CertificateCheck(
        name, True, f"all {found[0].manifest.events:,} events of it are in what was certified"
    )
