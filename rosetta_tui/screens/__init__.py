"""The pages of the app: one screen, one file. Screens know no app."""
