"""Files that people write: decoded, and what is wrong in them told with its line and its fix."""
