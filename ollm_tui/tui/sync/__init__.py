"""What the screen says about syncing with other machines."""
