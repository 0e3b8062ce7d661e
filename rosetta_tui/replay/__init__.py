"""A finished run played back as it happened."""
