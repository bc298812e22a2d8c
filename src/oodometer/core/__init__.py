"""The nouns of Oodometer, keyed randomness, the registry and the errors."""
