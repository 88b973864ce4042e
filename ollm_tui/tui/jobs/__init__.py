"""Jobs on the screen: the panel, their output, the shell line."""
