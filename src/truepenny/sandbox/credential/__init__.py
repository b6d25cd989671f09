"""Which process gets which secret: clean environments, the three-way split, the lookup socket."""
