"""Consent: what was withdrawn, by whom, what of it is believed here, and where a text may be sent."""
