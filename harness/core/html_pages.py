"""HTML from templates, in which a text from outside can only show.

Whatever a template writes goes through ``plain`` (or ``readable``) and then through Jinja's escaping, in one place: the environment.
So a template has no way to write a text from outside as it is; none of them says ``safe``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from corpora.text.visible import plain


def filled(package: str, template: str, show: Callable[[str], str] = plain, /, **facts: object) -> str:
    """Return a template of a package's folder ``templates`` with these facts, byte by byte reproducible.

    ``show``: makes what acts in a text visible, by default each control and every unusual space. Raises jinja2.UndefinedError where a fact is missing.
    """
    return _environment(package, show).get_template(template).render(facts)


@cache
def _environment(package: str, show: Callable[[str], str]) -> Environment:
    def harmless(value: object) -> object:
        """Make what acts in a text visible; what a macro has written already went through here."""
        return show(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
