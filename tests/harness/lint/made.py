"""Sentences of Esperanto words that are like no other, and a canary."""

import random

WORDS = [
    "bela", "granda", "urbo", "tago", "suno", "maro", "birdo", "kanto", "vintro", "arbo", "domo",
    "libro", "floro", "rivero", "monto", "vento",
]  # fmt: skip

CANARY = "canary 7c9e6679-7425-40de-944b-e07fc1f90ae7"


def sentence(seed: int, words: int = 8) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))
