"""Widgets of the window that know no page."""
