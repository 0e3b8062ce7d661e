"""The words that reviewers see, the same in every face."""
