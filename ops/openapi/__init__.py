"""The OpenAPI document of the API, made from the routes and the operations (pure: a document from data)."""
