"""Two versions of the operators: what callers of the old one lose in the new one."""
