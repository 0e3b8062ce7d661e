"""Publishing: run cards in a PostgreSQL database or a folder for a pull request, and the lists made of them again."""
