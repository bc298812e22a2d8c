"""Training of small networks: what is tested is never trained on."""
