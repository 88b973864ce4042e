"""The texts of syncing."""

NOT_SYNCED = "Not synced: {}"
