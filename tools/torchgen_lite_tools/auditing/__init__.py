"""What is in a library that has been built: symbols, registrations, and what they promise."""
