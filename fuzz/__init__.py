"""`make fuzz`: inputs that nobody would write, for everything that reads what others send or store."""
