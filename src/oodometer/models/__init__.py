"""Models of any runtime: from a specification to a function from uint8 pixels to logits."""
