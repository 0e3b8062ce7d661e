"""Values that were packed to be kept; here, at the bottom, for all that pack something and all that keep it."""

from __future__ import annotations


class StoredValueError(ValueError):
    """A stored value cannot be unpacked, is no JSON, or is not what it was when it was stored.

    Its words, where it has any, say the mend and quote nothing of the value.
    """
