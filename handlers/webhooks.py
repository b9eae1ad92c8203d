"""`webhooks`: to come."""
