"""Making a review and handing it out."""
