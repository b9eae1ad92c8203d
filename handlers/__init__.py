"""The Lambda bundle: one module a function at its top; domain, operations and adapters beneath."""
