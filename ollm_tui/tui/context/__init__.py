"""The context screen: what fills the window, and what can be changed about it."""
