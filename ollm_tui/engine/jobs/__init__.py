"""Jobs of the user and of the model: started, read as safe text, recorded."""
