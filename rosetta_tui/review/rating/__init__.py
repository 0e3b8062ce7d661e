"""The reviewer's side in the terminal: on screens, or as lines that are read aloud."""
