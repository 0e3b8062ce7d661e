"""What came out of a review: tables, corpora, certificates and the community's page."""
