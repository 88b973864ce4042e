"""Model servers, one a module."""
