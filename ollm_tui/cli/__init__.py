"""The command line, with one module per command group."""
