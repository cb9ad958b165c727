"""What the launcher becomes, and what it remembers of that."""
