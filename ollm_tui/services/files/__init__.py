"""The files of a project: finding, watching and matching them, and tracking what tools change."""
