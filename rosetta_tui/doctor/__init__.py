"""The doctor's screen: what it found on this computer, and what to do about it."""
