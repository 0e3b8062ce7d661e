"""A certificate as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from review.verdict.certificate.certificate import Certificate
from review.verdict.certificate.certificate_text import HOW_TO_CHECK, facts, findings, seals
from review.verdict.certificate.html_page import document, outside
from review.verdict.gate.reasons import OUTCOMES


def certificate_html(certificate: Certificate) -> str:
    """Write the page: no script, nothing fetched, every text from outside escaped."""
    body = "\n".join(
        (
            "<h1>Certificate of a community review</h1>",
            f'<p class="answer">{escape(OUTCOMES[certificate.outcome])}</p>',
            _table(facts(certificate)),
            "<h2>What it rests on</h2>",
            "<ul>",
            *(_finding(words, listed) for words, listed in findings(certificate)),
            "</ul>",
            "<h2>Seals</h2>",
            _table(seals(certificate), code=True),
            f'<p class="quiet">{escape(HOW_TO_CHECK)}</p>',
        )
    )
    return document(f"Certificate: {certificate.review}", body)


def _finding(words: str, listed: Iterable[str]) -> str:
    controls = "".join(f"<li>{outside(each)}</li>" for each in listed)
    return f"<li>{outside(words)}{f'<ul>{controls}</ul>' if controls else ''}</li>"


def _table(rows: Iterable[tuple[str, str]], *, code: bool = False) -> str:
    lines = (
        f'<tr><th scope="row">{escape(name)}</th><td>{_cell(value, code)}</td></tr>'
        for name, value in rows
    )
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _cell(value: str, code: bool) -> str:
    return f"<code>{outside(value)}</code>" if code else outside(value)
