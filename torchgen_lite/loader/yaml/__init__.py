"""YAML text into nodes that know their place, and what is likely wrong with text that is none."""
