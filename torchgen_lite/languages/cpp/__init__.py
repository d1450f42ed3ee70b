"""One operator in C++: types and signatures as values, and a module for each way of calling it."""
