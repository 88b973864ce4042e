"""The context gauge: how full the window is, and with what."""
