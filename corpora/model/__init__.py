"""What a corpus is: its envelope, its entries, and where their texts may go."""
