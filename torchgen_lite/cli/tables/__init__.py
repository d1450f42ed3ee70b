"""`table` and `why`: computed dispatch tables, and the rules behind them, from names alone."""
