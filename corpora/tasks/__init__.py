"""Tasks: what a record of each must have, what a method sees of it, and what is the answer."""
