"""The vault: secret texts sealed at rest, opened in memory only, with a record of every opening (DESIGN V2)."""
