"""What analyses show about words: their tags, how two words differ, and which sentences say the same."""
