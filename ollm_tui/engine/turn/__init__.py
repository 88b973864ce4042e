"""One turn, from the message of the user to the end of the reply."""
