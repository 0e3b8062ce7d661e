"""Questions that any screen may ask."""
