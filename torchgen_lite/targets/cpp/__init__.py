"""Views that the C++ targets share. No option and no template of one target is known here."""
