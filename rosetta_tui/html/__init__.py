"""Reports: one page of HTML each, which holds all that it shows and fetches nothing."""
