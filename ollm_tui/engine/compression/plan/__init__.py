"""Plans of compressions: what they have to work with, and what they will do with it."""
