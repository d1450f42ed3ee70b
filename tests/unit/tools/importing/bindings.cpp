// Functions that pybind11 binds: entries are proposed, and questions asked.
#include <torch/extension.h>

at::Tensor fwd(at::Tensor x, float s) {
  return x * s;
}
void upd(at::Tensor& x, const at::Tensor& y, std::optional<at::Tensor>& z) {
  TORCH_CHECK(x.is_cuda());
}
void fill(at::Tensor out, std::vector<int> sizes, double value);
std::tuple<at::Tensor, at::Tensor> halves(const at::Tensor& x) {
  return {x, x};
}
int64_t version() {
  return 2;
}
at::Tensor take(const at::Tensor& x, py::object y);
at::Tensor wide(
    c10::List<int> sizes,
    at::ArrayRef<int> steps,
    int& count,
    long double scale,
    const std::optional<float>& by);
template <typename T>
at::Tensor cast(const at::Tensor& x);
int64_t over(int64_t x);
double over(double x);

void bind_more(py::module& m);

#ifdef WITH_MORE
#define DEVICE_NAME "cuda"
#else
#define DEVICE_NAME "cpu"
#endif

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "operators";
  m.def(
      "forward",
      &fwd,
      "x * s",
      py::arg("x"),
      py::kw_only(),
      py::arg("s") = 1.0f);
  m.def(
      "upd",
      torch::wrap_pybind_function(upd),
      "y"_a,
      py::arg("b").none(false),
      py::arg("c") = py::none());
  // Fills a tensor.
  m.def(
      "fill",
      &fill,
      "out"_a,
      "sizes"_a = std::vector<int>{1, -2},
      "value"_a = -1e-3,
      py::call_guard<py::gil_scoped_release>(),
      py::return_value_policy::move);
  m.def("halves", &halves).def("version", &version);
#ifdef WITH_MORE
  bind_more(m);
#endif
  auto inner = m.def_submodule("inner", "more");
  inner.def("halves", &halves);
  m.def("lambda", [](int64_t x) { return x; });
  m.def(
      "typed",
      [](at::Tensor& x,
         std::vector<int> sizes,
         unsigned char n) -> std::pair<at::Tensor, float> { return {x, 1}; },
      py::arg("x"),
      py::arg("sizes"),
      py::arg("n") = 1);
  m.def("nothing", [](const at::Tensor& x, double y) {
    auto sign = [](double value) { return value < 0; };
    if (sign(y)) {
      return;
    }
  });
  m.def("forwarding", [] { return version(); });
  m.def("capturing", [=] { return version(); });
  m.def("named", &version, "for a " DEVICE_NAME " device");
  m.def("any", [](auto x) -> at::Tensor { return x; });
  m.def("wide", &wide);
  m.def("few", &fwd, py::arg("x"));
  m.def("take", &take);
  m.def("cast", &cast<float>);
  m.def("over", &over);
  m.def("nowhere", &elsewhere::f);
  m.def("forward", &halves);
  m.def("computed", &fwd, py::arg("x"), py::arg("s") = scale());
  py::class_<Box>(m, "Box").def(py::init<>()).def("size", &Box::size);
  py::enum_<Kind>(m, "Kind").value("A", Kind::A);
  m.attr("VALUE") = 3;
}

void bind_more(py::module& module) {
  module.def("twice", &fwd);
  module.def("both", &both);
}

std::pair<at::Tensor, float> both(const at::Tensor& x) {
  return {x, 1};
}
