"""Lines to type and boxes to tick, for forms and dialogs."""
