"""`fulfil`: to come."""
