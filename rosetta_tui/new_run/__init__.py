"""The form of a new run, with a look ahead at what it will ask and cost."""

from rosetta_tui.toolkit.places import Place

PLACE = Place("new_run", "New run", "Fill in a form", "rosetta_tui.new_run.screen", "NewRunScreen", order=1)
