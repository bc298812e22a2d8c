"""The ImageNet-C family: exact, keyed, fast."""
