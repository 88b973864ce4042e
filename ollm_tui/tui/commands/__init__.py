"""What commands do: a module a group, a function a command, named as in the command table."""
