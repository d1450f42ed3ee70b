// Functions that nanobind binds, in two files of one library: this one declares what it binds.
at::Tensor halves(const at::Tensor& x);

NB_MODULE(nano, m) {
  m.def("halves", &halves, nb::arg("x"), "Two of it.");
}
