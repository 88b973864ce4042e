"""Goals and decisions on the screen."""
