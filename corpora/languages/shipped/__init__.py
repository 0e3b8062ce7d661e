"""The language cards that ship with the program, and the analyser of one of them."""
