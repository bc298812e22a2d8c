"""Who perturbs training images, one file each: from noise that knows nothing to ten steps along the gradient."""
