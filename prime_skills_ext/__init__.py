"""Any Agent Skill becomes a function of your kernel."""

__version__ = "0.1.0"
