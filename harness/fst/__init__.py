"""Morphological analysers: files that are checked before they are trusted, and engines that read them."""
