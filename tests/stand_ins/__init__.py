"""Servers on loopback that stand in for real ones, faults included."""
