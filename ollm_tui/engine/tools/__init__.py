"""The tools of a conversation: offered, judged, asked about, run, recorded."""
