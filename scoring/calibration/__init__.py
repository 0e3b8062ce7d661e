"""What metrics show about people's ratings, and what the ratings say of weights and thresholds."""
