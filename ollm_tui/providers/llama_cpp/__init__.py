"""llama.cpp in a child process: its server, its model files and their download."""
