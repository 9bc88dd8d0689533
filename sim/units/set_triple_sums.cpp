// set_triple_sums against sums over random lists, of which the map says in each cycle which entries are marked and tagged.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include <deque>

namespace {
struct Set {
  bool triangle;
  uint32_t a, b, c, ab, bc, ac, abc;
};
struct List {
  uint32_t all = 0, hits = 0, near = 0, both = 0;
};
} // namespace

int main(int argc, char **argv) {
  Bench b("set_triple_sums",
          {"a set", "a triangle", "a triangle from another vertex", "lists of one line", "lists of many lines",
           "lines follow each other", "several sets of one first vertex", "crowded"},
          argc, argv);
  auto &d = *b.dut;
  d.valid_i = d.asked_i = d.done_i = 0;
  b.reset(d.rst_i);
  std::deque<Set> expected;
  unsigned under = 0, waiting = 0; // sets that are in flight, and that may be taken
  bool slow = false;
  uint64_t came = 0;
  auto tick = [&] {
    d.done_i = waiting && b.chance(slow ? 15 : 60);
    if (d.done_i) --waiting, --under;
    b.settle();
    b.rise();
    d.valid_i = d.asked_i = 0;
    if (d.valid_o) {
      b.check(!expected.empty(), "a set that isn't one");
      const Set &s = expected.front();
      uint64_t got[7];
      auto bits = [&](unsigned at, unsigned n) {
        uint64_t value = 0;
        for (unsigned i = 0; i < n; ++i) value |= uint64_t(d.triple_o[(at + i) / 32] >> (at + i) % 32 & 1) << i;
        return value;
      };
      for (unsigned f = 0; f < 7; ++f) got[f] = bits(NEAR_W * (6 - f), NEAR_W);
      b.equal(bits(7 * NEAR_W, 1), s.triangle, "triangle");
      const uint32_t wanted[] = {s.a, s.b, s.c, s.ab, s.bc, s.ac, s.abc};
      static const char *names[] = {"a", "b", "c", "ab", "bc", "ac", "abc"};
      for (unsigned f = 0; f < 7; ++f) b.equal(got[f], wanted[f], names[f]);
      expected.pop_front();
      ++waiting;
      ++came;
    }
    b.check(under <= TRIPLES, "%u sets are under way", under);
  };
  // A list, in cycles of some entries of one line; fields of a line: meets, first, fresh, tags, triples, is and others.
  auto list = [&](bool tags, bool first, bool meets, uint32_t root, bool common) {
    List sum;
    const unsigned lines = slow || b.chance(50) ? 1 : 1 + b.random(20), met = b.random(lines);
    b.hit("lists of one line", lines == 1);
    b.hit("lists of many lines", lines > 10);
    for (unsigned l = 0; l < lines; ++l) {
      const unsigned parts = slow ? 1 : 1 + b.random(4);
      for (unsigned p = 0; p < parts; ++p) {
        while (d.crowded_o) b.hit("crowded"), tick();
        const uint32_t hit = b.random(1 << MAP_BANKS), near = b.random(1 << MAP_BANKS) | (common && !l && !p);
        const unsigned entries = p ? 0 : 1 + b.random(16);
        const bool last = l + 1 == lines && p + 1 == parts;
        const uint32_t top = uint32_t(meets && l == met) << 4 | uint32_t(first) << 3 | uint32_t(tags && !l && !p) << 2 |
                             uint32_t(tags) << 1 | 1;
        d.wedge_i = top << (7 + __builtin_ctz(MAP_BANKS)) | 1u << (6 + __builtin_ctz(MAP_BANKS));
        d.hit_i = hit;
        d.near_i = near;
        d.entries_i = entries;
        d.last_i = last;
        d.root_degree_i = root;
        d.valid_i = 1;
        d.asked_i = last && !tags;
        if (d.asked_i) ++under;
        sum.all += entries;
        sum.hits += __builtin_popcount(hit);
        sum.near += __builtin_popcount(near);
        sum.both += __builtin_popcount(hit & near);
        tick();
        if (b.chance(15)) tick();
        else b.hit("lines follow each other");
      }
    }
    return sum;
  };
  for (int n = 0; n < 600; ++n) {
    slow = n % 3 == 0;
    const uint32_t root = 1 + b.random(28672);
    const List a = list(true, false, b.chance(50), root, false);
    const unsigned sets = b.random(slow ? 40 : 6);
    b.hit("several sets of one first vertex", sets > 1);
    for (unsigned s = 0; s < sets; ++s) {
      const bool first = b.chance(50), triangle = b.chance(40);
      if (triangle && !first) b.hit("a triangle from another vertex");
      else b.hit(triangle ? "a triangle" : "a set");
      // What comes out is known once the list is: it is put where its cycle can find it.
      const List c = list(false, first, triangle, root, true);
      if (triangle && !first) --under;
      else expected.push_back({triangle, a.all, root, c.all, a.hits, c.hits, c.near, c.both});
    }
  }
  for (int i = 0; i < 400; ++i) tick();
  b.check(expected.empty() && under == 0, "%zu sets did not come", expected.size());
  b.check(came > 500, "%llu sets", (unsigned long long)came);
  return b.end();
}
