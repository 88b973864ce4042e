"""What holds the commands of the model: bubblewrap, Landlock, or nothing but limits."""
