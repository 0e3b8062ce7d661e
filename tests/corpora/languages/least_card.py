"""The least that a language card must say."""

LEAST = """tag = "crk"
name = "Mine"
default_script = "Latn"

[writings.Latn]
letters = "a b"
cased = false

[sources]
"""
