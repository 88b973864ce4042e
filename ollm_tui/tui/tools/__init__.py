"""Tools on the screen: approvals, running calls, the loop bar."""
