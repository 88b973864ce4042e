"""The plain front end: a chat in lines, for screen readers and simple terminals."""
