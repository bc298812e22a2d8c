"""Small networks in torch, one file per family; a file is imported, and torch with it, when its network is built."""
