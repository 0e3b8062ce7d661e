"""A batch as one page that any browser opens without installation."""
