"""Which skills count here, and how each stands."""
