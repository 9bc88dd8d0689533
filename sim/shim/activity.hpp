// Types of a model's public variables. Verilator tells the shim where they are, but not how long packed arrays of several
// dimensions are: the code that registers them is compiled with this header, which notes the size of each.
#ifndef GRAMER_ACTIVITY_HPP
#define GRAMER_ACTIVITY_HPP

#include <cstddef>
#include <unordered_map>

#include "verilated.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"

// Bytes of each variable, by its address.
std::unordered_map<const void*, size_t>& activity_sizes();

template <class T>
T* activity_note(T* variable) {
  activity_sizes()[variable] = sizeof(T);
  return variable;
}

#define varInsert(finalize, name, variable, ...) \
  varInsert(finalize, name, activity_note(variable), __VA_ARGS__)

#endif
