"""The app: its screens and how one leads to the other."""
