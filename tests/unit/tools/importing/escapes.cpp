TORCH_LIBRARY(mylib, m) {
  m.def("letters(str s='\x41\101\u0042\U0001F600') -> ()");
  m.def("\x66oo(str s='\xC3\xA9 é') -> ()");
  m.def("not_text(str s='\xff') -> ()");
  m.def("no_character(str s='\ud800') -> ()");
  m.def("too_large(str s='\777') -> ()");
}
