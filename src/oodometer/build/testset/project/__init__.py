"""A test set in the making: a folder with its images, and a database that knows what was done with each."""
