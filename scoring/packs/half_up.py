"""Numbers as pages print them: rounded half up on the decimal that a number is written with.

Rounding the binary number instead prints 0.3565 as 0.356, for it lies a hair below.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

_EXACT = Context(prec=400)
"""More digits than any finite float has before its point."""


def half_up(value: float, digits: int) -> Decimal:
    """Round a finite value to some digits after the point, a half away from zero."""
    return Decimal(repr(float(value))).quantize(_step(digits), ROUND_HALF_UP, _EXACT)


def half_even(value: float, digits: int) -> Decimal:
    """Round a finite value as Python prints it: the binary number, and a half to the even digit."""
    return Decimal(float(value)).quantize(_step(digits), ROUND_HALF_EVEN, _EXACT)


def _step(digits: int) -> Decimal:
    return Decimal(1).scaleb(-digits)
