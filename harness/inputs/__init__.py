"""Files that people bring for a method: prompts, dictionaries, coaching data, outputs."""
