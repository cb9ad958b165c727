"""The agent host: the kernel's half of the bridge to it."""
