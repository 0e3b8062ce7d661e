"""What the guard of canaries brings, does and searches."""
