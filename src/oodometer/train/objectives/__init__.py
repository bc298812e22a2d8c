"""What is learned from a batch, one file each: the number that training makes small."""
