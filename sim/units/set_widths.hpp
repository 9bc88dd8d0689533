// Widths of messages between modules of the set core (gramer_set_types_pkg), for benches that unpack them.
// Behind gramer_pkg.hpp, whose sizes it is made of.
#pragma once

/// Bits that tell this many things apart.
constexpr unsigned bits_of(unsigned things) {
  unsigned bits = 0;
  while (1u << bits < things) ++bits;
  return bits;
}

/// Bits of a line of a list, and of an entry of it.
constexpr unsigned line_bits() { return bits_of(LIST_LINES); }
constexpr unsigned member_bits() { return line_bits() + bits_of(LINE_ENTRIES); }

/// Bits of `step_t` behind `compare` and the lanes of both lines: held line, member, three flags, place, and of the root
/// where its rows begin, their size, its last line and k.
constexpr unsigned step_rest_bits() {
  return line_bits() + member_bits() + 3 + 4 + bits_of(ROW_WORDS) + 2 + line_bits() + 5;
}
