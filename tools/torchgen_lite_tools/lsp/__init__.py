"""`lsp`: a language server for schema files, one file for each feature.

Features are functions of an `Analysis`, which is made of the texts that stand in the editor, and a `Place`, which is
where the cursor is. They know nothing of the connection; `server` knows nothing of operators.
"""
