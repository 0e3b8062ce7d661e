"""One reviewer's sitting: what is shown next and what each key does, without any screen."""
