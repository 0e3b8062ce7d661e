"""What a person sees: one widget, one file. Widgets know no screen."""
