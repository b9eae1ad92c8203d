"""The operations of the API, one module each, in the tables `accepted` and `executed`.

Nothing is imported here: a function's bundle has the libraries of its own operations only.
"""
