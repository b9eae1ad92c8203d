"""`notify`: to come."""
