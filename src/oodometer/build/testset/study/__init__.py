"""What a new test set shows about itself: accuracies by frequency and revision, drops, a discriminator, splits."""
