"""The screens in a browser: each tab is the program in a terminal of its own."""
