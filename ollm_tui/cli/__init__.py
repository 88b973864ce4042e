"""The command line: arguments to settings to a front end; one module per command group."""
