"""Target `command`: files that programs of the author make, in any language, from the export."""
