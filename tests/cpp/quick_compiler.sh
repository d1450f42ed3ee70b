#!/bin/sh
# `quick_compiler.sh COMPILER HEADER ARGUMENT...`: a compiler for the builds of tests, which takes half of its time or less:
# it does not optimize, and has read PyTorch's headers before. They are the precompiled HEADER of compiling.py, of which
# options and macros have to be the same. Code for the stable ABI may not include them. What compiles otherwise
# compiles with it, but for an `#include` that is missing, which tests of headers alone find.
compiler=$1
header=$2
shift 2
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
  case $compiler in
    # Python has options of its own for g++, such as `-fwrapv`, which change nothing of what is declared.
    *clang*) set -- -Xclang -fno-validate-pch "$@" ;;
    *) set -- --param=ggc-min-heapsize=2097152 "$@" ;;
  esac
  set -- -D_GLIBCXX_USE_CXX11_ABI=1 -O0 -fPIC -include "$header" "$@"
fi
exec "$compiler" "$@"
