"""The wire shapes of translation services, one file each."""
