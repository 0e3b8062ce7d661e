"""The page of one sentence, its keys, and the pages between the sentences."""
