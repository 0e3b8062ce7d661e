"""Text and numbers as people read them, without Textual."""
