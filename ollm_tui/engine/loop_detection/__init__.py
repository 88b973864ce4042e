"""Finding out that the model goes round in circles: pure, fed with what happens in a turn."""
