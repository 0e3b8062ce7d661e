"""A corpus with faults."""

from __future__ import annotations

from tests.corpora.making import entry

FAULTY = [
    entry(1, source="Good morning!", reference="Bonan matenon!", segment="development"),
    entry(2, source="Good morning!", reference="Bonan matenon!", segment="development"),
    entry(3, source="Thank you!", reference="Dankon!", register="Formal ", difficulty=2),
    entry(4, source="Secret night", reference="Sekreta nokto", segment="held_out", difficulty=2),
]
