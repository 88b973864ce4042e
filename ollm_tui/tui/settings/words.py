"""The texts of the settings and the theme picker."""

from __future__ import annotations

# Said in screen

FIND_PLACEHOLDER = "Type to find a setting"

# Said in theme_picker

THEME_KEYS = "Enter use   ↑↓ preview   Esc cancel"
