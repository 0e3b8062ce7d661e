"""The second verifier, which travels in every evidence file and shares no line with the rest."""
