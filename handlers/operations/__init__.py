"""The operations of the API, one module each, found by the REST resource that they serve."""
