"""Functions that derivative formulas call. They consist of operators, so that they can be differentiated again."""
