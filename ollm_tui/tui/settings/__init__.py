"""The settings screen and the theme picker."""
