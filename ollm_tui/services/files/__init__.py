"""The files of a project: found, watched, matched, and compared before and after tools."""
