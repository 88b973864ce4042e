"""The sandbox for commands of the model: bubblewrap, Landlock, or nothing but limits."""
