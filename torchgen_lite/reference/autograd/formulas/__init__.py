"""Functions that derivative formulas call, made of operators, so that they can be differentiated again."""
