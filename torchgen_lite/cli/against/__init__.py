"""The other side of a comparison: what `--against` names, as schema files alone or as a whole project."""
