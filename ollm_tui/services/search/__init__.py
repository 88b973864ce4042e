"""Finding what was said: queries, the index behind them, and what they find."""
