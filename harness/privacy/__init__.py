"""What keeps secret texts on this machine."""
