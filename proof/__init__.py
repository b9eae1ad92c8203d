"""The search for a counterexample: every schedule of the real code, up to a bound (docs/adr/0111)."""
