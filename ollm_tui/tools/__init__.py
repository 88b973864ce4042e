"""The tools a model can call: one module each, with its description for the model beside it."""
