// The packed structs of gramer_types_pkg, for benches whose modules take or give them.
#pragma once

#include "bench.hpp"
#include "gramer_pkg.hpp"

constexpr unsigned clog2(uint64_t n) {
  unsigned bits = 0;
  while ((1ull << bits) < n) ++bits;
  return bits;
}
const unsigned SIZE_W = clog2(DEPTH + 1), POS_W = clog2(DEPTH), SLOT_W = clog2(SLOTS),
               KEY_W = clog2(DICTIONARY), NUMBER_W = clog2(COUNTERS), LABEL_W = LABEL_BITS,
               LAMBDA_W = clog2(LAMBDA_MOST + 1), SLOTS_W = clog2(SLOTS + 1), EDGE_W = 40, ELINE_W = EDGE_W - 4;

/// Set of a cache with `all` sets, of which `used` are in use, for a line by its number in the
/// partition: the low bits of the number in reverse order, scaled to the sets in use.
inline unsigned cache_set(uint64_t line, unsigned used, unsigned all) {
  uint64_t reversed = 0;
  for (unsigned bit = 1; bit < all; bit *= 2) reversed = 2 * reversed + (line / bit & 1);
  return unsigned(reversed * used / all);
}

enum App { CLIQUE, MOTIF, FSM };

/// config_t
struct Config {
  unsigned app = CLIQUE, k = 3, ascending = 0, stealing = 0, lru = 0, lists = 0, filters = 0, selects = 0,
           lambda = 8, slots = SLOTS, vertex_sets = VERTEX_SETS, edge_sets = EDGE_SETS;
  uint64_t vertex_bound = 0, edge_bound = 0;
  template <class P> void drive(P &pin) const {
    pack(pin, {{app, 2}, {k, SIZE_W}, {ascending, 1}, {stealing, 1}, {lru, 1}, {lists, 1}, {filters, 1},
               {selects, 1}, {lambda, LAMBDA_W}, {slots, SLOTS_W}, {vertex_bound, 31}, {edge_bound, 37},
               {vertex_sets, 32}, {edge_sets, 32}});
  }
};

/// filter_word_t; as a number, a word of the in-stream.
struct FilterWord {
  enum Left { NEW_LABEL, NEW_DEGREE, LEFT_CONSTANT, SIZE };
  enum Right { OTHER_LABEL, OTHER_DEGREE, ADJACENT, RIGHT_CONSTANT };
  enum Relation { EQUAL, LESS, GREATER };
  static const unsigned BITS = 42;
  unsigned left = 0, relation = 0, right = 0;
  uint32_t constant = 0;
  bool negated = false, ends = false, pairs = false, last = false;
  uint64_t number() const {
    return constant | uint64_t(left) << 32 | uint64_t(right) << 34 | uint64_t(relation) << 36 |
           uint64_t(negated) << 38 | uint64_t(ends) << 39 | uint64_t(pairs) << 40 | uint64_t(last) << 41;
  }
};

/// record_t, cursor_t
struct Record {
  uint64_t offset = 0;
  uint32_t degree = 0, label = 0;
  bool operator==(const Record &o) const {
    return offset == o.offset && degree == o.degree && label == o.label;
  }
};
struct Cursor {
  unsigned i = 0, last = 0;
  uint64_t lo = 0, hi = 0;
  bool operator==(const Cursor &o) const {
    return i == o.i && last == o.last && lo == o.lo && hi == o.hi;
  }
};

/// found_t, and result_t with `accept` instead of `last` and `mask`
struct Found {
  unsigned slot = 0, size = 0, last = 0, mask = 0, key = 0, accept = 0;
  uint32_t vertex = 0;
  Record record;
  Cursor cursor;
  template <class P> void drive(P &pin) const {
    pack(pin, {{slot, SLOT_W}, {size, SIZE_W}, {last, 1}, {vertex, 32}, {mask, unsigned(DEPTH)},
               {record.offset, EDGE_W}, {record.degree, 32}, {record.label, LABEL_W}, {key, KEY_W},
               {cursor.i, POS_W}, {cursor.last, POS_W}, {cursor.lo, EDGE_W}, {cursor.hi, EDGE_W}});
  }
};

/// edge_request_t
struct EdgeRequest {
  unsigned slot = 0;
  uint64_t line = 0;
  uint32_t rank = 0;
  template <class P> void drive(P &pin) const { pack(pin, {{slot, SLOT_W}, {line, ELINE_W}, {rank, 32}}); }
  template <class P> static EdgeRequest of(const P &pin) {
    const auto f = unpack(pin, {SLOT_W, ELINE_W, 32});
    return {unsigned(f[0]), f[1], uint32_t(f[2])};
  }
};

/// vertex_request_t
struct VertexRequest {
  unsigned slot = 0;
  uint32_t vertex = 0;
  template <class P> void drive(P &pin) const { pack(pin, {{slot, SLOT_W}, {vertex, 32}}); }
  template <class P> static VertexRequest of(const P &pin) {
    const auto f = unpack(pin, {SLOT_W, 32});
    return {unsigned(f[0]), uint32_t(f[1])};
  }
};

/// edge_answer_t: the line is in the low bits.
struct EdgeAnswer {
  unsigned slot = 0;
  Line line;
  template <class P> void drive(P &pin) const {
    ::drive(pin, line);
    pin[line.size()] = slot;
  }
  template <class P> static EdgeAnswer of(const P &pin) { return {unsigned(pin[16]), line_of(pin)}; }
};

/// vertex_answer_t
struct VertexAnswer {
  unsigned slot = 0;
  Record record;
  template <class P> void drive(P &pin) const {
    pack(pin, {{slot, SLOT_W}, {record.offset, EDGE_W}, {record.degree, 32}, {record.label, LABEL_W}});
  }
  template <class P> static VertexAnswer of(const P &pin) {
    const auto f = unpack(pin, {SLOT_W, EDGE_W, 32, LABEL_W});
    return {unsigned(f[0]), {f[1], uint32_t(f[2]), uint32_t(f[3])}};
  }
};
