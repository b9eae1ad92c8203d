"""`reconcile`: to come."""
