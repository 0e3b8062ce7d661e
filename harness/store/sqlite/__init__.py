"""The store as one SQLite file: opened, upgraded, examined, written all or nothing."""
