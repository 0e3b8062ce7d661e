"""The form of a new run, with a look ahead at what it will ask and cost."""
