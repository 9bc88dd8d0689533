// What the benches of search plans share: a graph's image for plans, words, and the operations between the modules
// of gramer_set_plan.
#pragma once

#include "bench.hpp"
#include "gramer_pkg.hpp"
#include "set_widths.hpp"

constexpr uint32_t ID = (1u << ID_W) - 1, NONE = ~0u;
constexpr uint32_t SET_LINES = LISTS * LIST_LINES;
constexpr unsigned PLACED = PLAN_LEVELS;

/// Quarter-lines of a size.
inline uint32_t quarters_of(uint32_t size) {
  return size < SIZE_ROUNDED ? size : (4 + size % 4) << ((size - SIZE_ROUNDED) / 4 + 3);
}

/// A graph by its rows, as it lies in memory.
struct Image {
  std::vector<uint32_t> words, entries;
  explicit Image(const std::vector<std::vector<uint32_t>> &rows) {
    uint32_t at = 0;
    for (auto &row : rows) {
      uint32_t size = 1;
      while (quarters_of(size) * 4 < row.size()) ++size;
      const uint32_t q = quarters_of(size);
      if (at % 4 + q > 4) at = (at + 3) & ~3u;
      entries.push_back(at | size << ID_W);
      at += q;
    }
    words.assign((at + 3) / 4 * 16, NONE);
    for (size_t v = 0; v < rows.size(); ++v)
      for (size_t e = 0; e < rows[v].size(); ++e) words[(entries[v] & ID) * 4 + e] = entries[rows[v][e]];
  }
  std::vector<uint32_t> list(uint32_t entry) const {
    std::vector<uint32_t> all;
    for (uint32_t e = 0; e < quarters_of(entry >> ID_W) * 4; ++e)
      if (words[(entry & ID) * 4 + e] != NONE) all.push_back(words[(entry & ID) * 4 + e]);
    return all;
  }
};

/// A word of a plan.
struct Word {
  unsigned kind = 0, difference = 0, pairs = 0, stored = 0, streams = 0, of = 0, from = 0, to = 0, bounds = 0,
           conflicts = 0, label = 0, term = 0;
  uint64_t bits() const {
    return uint64_t(kind) << IN_WORD_KIND_AT | uint64_t(difference) << IN_WORD_DIFFERENCE_AT
           | uint64_t(pairs) << IN_WORD_PAIRS_AT | uint64_t(stored) << IN_WORD_STORED_AT
           | uint64_t(streams) << IN_WORD_STREAMS_AT | uint64_t(of) << IN_WORD_OF_AT
           | uint64_t(from) << IN_WORD_FROM_AT | uint64_t(to) << IN_WORD_TO_AT
           | uint64_t(bounds) << IN_WORD_BOUNDS_AT | uint64_t(conflicts) << IN_WORD_CONFLICTS_AT
           | uint64_t(label) << IN_WORD_LABEL_AT | uint64_t(term) << IN_WORD_TERM_AT;
  }
};

/// Bits of a word.
constexpr unsigned WORD_BITS = IN_WORD_TERM_AT + IN_WORD_TERM_BITS;

/// What is done with what a word counts.
enum Term { TERM_SUM, TERM_FIRST, TERM_SECOND, TERM_LAST };

/// The ids of each label, [low, high): 0 is any label, others are random, and some have no vertex.
struct Labels {
  std::vector<uint32_t> low = std::vector<uint32_t>(PLAN_LABELS), high = std::vector<uint32_t>(PLAN_LABELS, ID);
  Labels() = default;
  Labels(Bench &b, uint32_t end) {
    for (unsigned l = 1; l < PLAN_LABELS; ++l) {
      low[l] = b.random(end + 1);
      high[l] = low[l] + b.random(end + 1 - low[l]) * b.random(5) / 4;
    }
  }
  bool has(unsigned label, uint32_t entry) const { return (entry & ID) >= low[label] && (entry & ID) < high[label]; }
};
/// Hands a module the ranges and the words of a plan, as the distributor does.
template <class D> inline void write_plan(Bench &b, D &d, const Labels &labels, const std::vector<Word> &words) {
  d.word_write_i = 1;
  for (unsigned at = 0; at < PLAN_LABELS + words.size(); ++at) {
    const uint64_t range = at < PLAN_LABELS
        ? uint64_t(labels.low[at]) << IN_LABEL_LOW_AT | uint64_t(labels.high[at]) << IN_LABEL_HIGH_AT : 0;
    d.word_at_i = at, d.word_i = at < PLAN_LABELS ? range : words[at - PLAN_LABELS].bits();
    b.tick();
  }
  d.word_write_i = 0;
}

/// Bits of a walker's number, one where there is one walker.
constexpr unsigned walker_bits() {
  unsigned bits = 1;
  while (1u << bits < PLAN_WALKERS) ++bits;
  return bits;
}

/// A set to make, to count, or a line of one to walk along: `set_op_t`.
struct Operation {
  Word word;
  uint32_t walker = 0, at = 0, source = 0, low = 0, limit = ID;
  std::vector<uint32_t> images = std::vector<uint32_t>(PLACED);
};

/// Bits of a place in the memory for sets.
constexpr unsigned place_bits() { return bits_of(SET_LINES); }

/// The fields of `set_op_t`.
inline std::vector<unsigned> operation_widths() {
  std::vector<unsigned> widths{walker_bits(), WORD_BITS, place_bits(), ID_W + SIZE_W, ID_W, ID_W};
  widths.insert(widths.end(), PLACED, ID_W);
  return widths;
}
template <class P> inline void drive_operation(P &pin, const Operation &o) {
  std::vector<Field> fields{{o.walker, walker_bits()}, {o.word.bits(), WORD_BITS}, {o.at, place_bits()}, {o.source, ID_W + SIZE_W}, {o.low, ID_W}, {o.limit, ID_W}};
  for (unsigned v = PLACED; v-- > 0;) fields.push_back({o.images[v], ID_W});
  pack(pin, fields);
}
/// Walker, word, place, source, range, then the images from the last one on.
template <class P> inline bool is_operation(const P &pin, const Operation &o) {
  const auto got = unpack(pin, operation_widths());
  bool same = got[0] == o.walker && got[1] == o.word.bits() && got[2] == o.at && got[3] == o.source && got[4] == o.low && got[5] == o.limit;
  for (unsigned v = 0; v < PLACED; ++v) same &= got[6 + v] == o.images[PLACED - 1 - v];
  return same;
}
