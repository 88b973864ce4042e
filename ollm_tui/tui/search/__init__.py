"""History search and the activity calendar."""
