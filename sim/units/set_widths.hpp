// Widths of messages between modules of the set core (gramer_set_types_pkg), for benches that unpack them.
// Behind gramer_pkg.hpp, whose sizes it is made of.
#pragma once

/// Bits that tell this many things apart.
constexpr unsigned bits_of(unsigned things) {
  unsigned bits = 0;
  while (1u << bits < things) ++bits;
  return bits;
}

/// Bits of an id in a line on chip (KEPT_W).
constexpr unsigned kept_bits() {
  const unsigned placed = bits_of(PARTITIONS * PARTITION_LINES * LINE_QUARTERS) + 1;
  return REACHED == 0 && placed < ID_W ? placed : ID_W;
}

/// Bits of an entry on chip, of a line of entries, and the words for one.
constexpr unsigned entry_bits() { return kept_bits() + SIZE_W; }
constexpr unsigned kept_line_bits() { return LINE_ENTRIES * entry_bits(); }
constexpr unsigned kept_line_words() { return (kept_line_bits() + 31) / 32; }

/// A random line as it lies on chip, the bits above it 0.
inline Line random_kept_line(Bench &b) {
  Line line = random_line(b, kept_line_words());
  if (kept_line_bits() % 32 != 0) line.back() &= (1u << kept_line_bits() % 32) - 1;
  return line;
}

/// Bits of a line of a list, and of an entry of it.
constexpr unsigned line_bits() { return bits_of(LIST_LINES); }
constexpr unsigned member_bits() { return line_bits() + bits_of(LINE_ENTRIES); }

/// Bits of `step_t` behind `compare` and the lanes of both lines: held line, member, three flags, place, and of the root
/// where its rows begin, their size, its last line, k and its sum.
constexpr unsigned step_rest_bits() {
  return line_bits() + member_bits() + 3 + 4 + bits_of(ROW_WORDS) + 2 + line_bits() + 5 + bits_of(PLANS);
}
