"""What operators do, a module for each device."""
