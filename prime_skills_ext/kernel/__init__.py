"""Skills in the live kernel: importing, binding, reloading."""
