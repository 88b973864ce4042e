"""Everything on disk: this package knows the formats and decides nothing."""
