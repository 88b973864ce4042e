"""The tools of a conversation: which are offered, and how calls are judged, run and recorded."""
