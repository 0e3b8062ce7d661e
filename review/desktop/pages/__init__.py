"""The pages before and after the sentences."""
