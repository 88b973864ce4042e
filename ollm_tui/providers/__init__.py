"""The providers: one module for each kind of model server."""
