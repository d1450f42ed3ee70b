"""What PyTorch derives from a schema file: variants, groups, views, tags.

Pure functions of the entries; nothing is looked up by operator name. `analysis.resolve` calls most
of them; the rest are facts about a single function that the languages need.
"""
