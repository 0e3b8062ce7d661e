"""The pages of an organiser, from asking speakers to the certificate."""
