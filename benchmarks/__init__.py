"""How fast the simulator is, measured on the machine at hand."""
