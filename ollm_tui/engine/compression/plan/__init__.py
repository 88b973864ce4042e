"""What a compression will do, before anything is done."""
