"""One entry of native_functions.yaml: its fields, how each is read, and the model of it."""
