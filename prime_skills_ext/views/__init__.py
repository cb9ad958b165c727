"""How values look, as text and as HTML."""
