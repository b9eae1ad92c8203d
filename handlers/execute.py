"""`execute`: to come."""
