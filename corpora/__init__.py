"""What is translated: entries, corpus files, segments and the requirements that a corpus must meet."""
