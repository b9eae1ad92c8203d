"""The edges: the only modules of the bundle that hold an AWS client."""
