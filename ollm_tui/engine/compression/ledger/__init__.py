"""The ledger of a checkpoint: facts read from messages without a model."""
