"""Archives, signatures, encryption, hash chains and the words people compare: what keeps a file whole and closed."""
