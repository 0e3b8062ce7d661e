"""What analyses tell of words: their tags, how two words differ, and which sentences say the same."""
