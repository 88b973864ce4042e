"""The words of the chat in plain lines."""

USAGE = """\
Type a message and press Enter. End a line with \\ to continue it.
@file attaches a file, !command runs a command, // sends text that begins with /.
Ctrl+C stops an answer or a command, Ctrl+D quits.
"""
NOTHING_ACTIVE = "No goal. /goal TEXT sets one."
NOTHING_DECIDED = "No decisions. /decide TEXT records one."
NO_SESSIONS = "No sessions yet."
NO_JOBS = "No jobs."
NO_SNAPSHOTS = "No snapshots. /snapshot takes one."
NO_MATCHES = "No matches. Use fewer words or remove a filter."
NO_MESSAGES = "No messages yet."
NOT_DOWNLOADED = "not downloaded"
RUN_FIRST = "Run this first and send the output? yes/no: "
NOTHING_SENT = "Nothing sent."
