"""The words of the chat in plain lines."""

USAGE = """\
Type a message and press Enter. A line that ends with \\ continues on the next one.
@file attaches a file, !command runs one, // sends a message that begins with /.
Ctrl+C stops an answer or a command, Ctrl+D quits.
"""
NOTHING_ACTIVE = "No goal. /goal and words set one."
NOTHING_DECIDED = "No decisions. /decide and words make one."
NO_SESSIONS = "No sessions yet."
NO_JOBS = "No jobs."
NO_SNAPSHOTS = "No snapshots. /snapshot takes one."
NO_MATCHES = "No matches. Use fewer words or remove a filter."
NO_MESSAGES = "No messages yet."
