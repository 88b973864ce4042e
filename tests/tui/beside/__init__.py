"""A session beside another one."""
