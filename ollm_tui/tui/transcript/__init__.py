"""The chat stream: every message of a session as lines, laid out when they are looked at."""
