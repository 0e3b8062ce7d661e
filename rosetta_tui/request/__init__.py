"""What a run is asked with: its options, as the command line and the form read them."""
