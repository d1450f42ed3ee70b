"""What PyTorch derives from a schema file: variants, groups, views, tags.

Pure functions of the functions read; nothing is looked up by an operator's name. `analysis.resolve` calls
them, and the rest are facts about one function that the dialects need.
"""
