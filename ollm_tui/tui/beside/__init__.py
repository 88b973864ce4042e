"""Another session beside the one at hand, to read and to take from."""
