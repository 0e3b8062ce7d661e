"""Languages: their tags and names, and the cards that say how each is written."""
