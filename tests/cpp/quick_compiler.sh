#!/bin/sh
# g++ for the builds of tests, which takes half of its time: it does not optimize, and has read PyTorch's headers before.
# They are the precompiled header of `with_torch` in compiling.py, of which options and macros have to be the same. Code
# for the stable ABI may not include these headers. What compiles with g++ compiles with it, but for an `#include` that
# is missing, which tests of headers alone find.
left=$#
headers=
compiles=
while [ $left -gt 0 ]; do
  argument=$1
  shift
  left=$((left - 1))
  case $argument in
    -O? | -g | -DNDEBUG) continue ;;
    -std=gnu++20) argument=-std=c++20 ;;
    -c) compiles=yes ;;
    *torch/include) headers=${headers:-known} ;;
    -DTORCH_TARGET_VERSION=*) headers=refused ;;
  esac
  set -- "$@" "$argument"
done
if [ "$headers$compiles" = knownyes ]; then
  set -- -D_GLIBCXX_USE_CXX11_ABI=1 -O0 -fPIC --param=ggc-min-heapsize=2097152 \
    -include "$TORCHGEN_LITE_TESTS_FOLDER/g++/precompiled.h" "$@"
fi
exec g++ "$@"
