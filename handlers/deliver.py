"""`deliver`: to come."""
