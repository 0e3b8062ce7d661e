"""Takes off a reply only what is provably wrapping, so that no method is flattered or hurt by it.

Quotation marks, introductions (“Here is the translation:”) and everything else stay and are scored:
whether they belong to the translation cannot be told from outside.
"""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"\A```[^\n`]*\n(?P<inside>.*?)\n?```\Z", re.DOTALL)


def cleaned(reply: str) -> str:
    """Return the reply without reasoning at its head, one code fence around all of it, outer white space.

    Reasoning is a leading ``<think>…</think>``, also where a chat template has already opened it.
    Reasoning that never ends leaves nothing: the answer was not reached.
    """
    text = _THOUGHT.sub("", reply)
    head, closed, tail = text.partition("</think>")
    if closed and "<think>" not in head:
        text = tail
    text = text.strip()
    fenced = _FENCE.match(text)
    if fenced and "```" not in fenced["inside"]:
        return fenced["inside"].strip()
    return text
