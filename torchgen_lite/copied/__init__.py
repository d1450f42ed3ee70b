"""Files that generated code contains a copy of, in the folder of the target that copies them."""
