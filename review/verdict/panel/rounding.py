"""Numbers of a verdict: six decimal places, so that what is compared is what is printed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

Number = Fraction | Decimal | float | int


def six(value: Number) -> Decimal:
    """Round to six decimal places, exact ties to the even digit; ``str`` of it always shows all six.

    A verdict that compared hidden digits could not be repeated from its own certificate. Raises
    ValueError or OverflowError for what is no finite number.
    """
    return Decimal(round(Fraction(value) * 1_000_000)).scaleb(-6)
