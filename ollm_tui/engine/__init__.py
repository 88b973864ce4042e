"""What happens when the user sends something."""
