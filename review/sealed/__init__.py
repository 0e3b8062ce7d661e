"""Archives, signatures, encryption and the words people compare: what keeps a file whole and closed."""
