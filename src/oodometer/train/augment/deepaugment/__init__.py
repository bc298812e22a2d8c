"""DeepAugment (Hendrycks et al. 2021): images through networks whose weights and activations are distorted."""
