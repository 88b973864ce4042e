"""Sessions: recording, listing, opening, following, bundling and clearing them up."""
