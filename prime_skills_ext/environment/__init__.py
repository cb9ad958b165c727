"""Making skills importable: environments, plans and installs."""
