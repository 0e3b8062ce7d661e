"""The reviewer's window: the same sessions as in the terminal, drawn by Qt; the only package that knows Qt."""
