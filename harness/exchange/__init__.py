"""What computers without a common network hand to each other: a folder on a stick, with what each put in and took out."""
