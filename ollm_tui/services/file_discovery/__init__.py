"""Finding the files of a project as git would, keeping the list fresh, matching what is typed."""
