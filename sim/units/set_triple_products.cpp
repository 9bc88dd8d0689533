// set_triple_products against products of the numbers outside random sets of three vertices, which are drawn first: what the
// module is told follows from them.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include <algorithm>
#include <array>

namespace {
using Wide = unsigned __int128;
// By code the neighbour sets that a factor adds up, a bit for each.
const uint32_t MASKS[] = {MASKS_0, MASKS_1, MASKS_2, MASKS_3, MASKS_4,  MASKS_5,
                          MASKS_6, MASKS_7, MASKS_8, MASKS_9, MASKS_10, MASKS_11};
const uint32_t CODES[] = {PRODUCTS_0, PRODUCTS_1, PRODUCTS_2, PRODUCTS_3, PRODUCTS_4, PRODUCTS_5};
} // namespace

int main(int argc, char **argv) {
  Bench b("set_triple_products",
          {"a triangle", "no triangle", "sets follow each other", "the queue is full", "after a pause", "nothing outside",
           "as many neighbours as there can be", "all in common", "dropped", "cleared", "a sum that doesn't fit"},
          argc, argv);
  auto &d = *b.dut;
  d.valid_i = d.clear_i = 0;
  d.at_i = SUMS;
  b.reset(d.rst_i);
  const Wide most = (Wide(1) << COUNT_W) - 1;
  std::array<Wide, PRODUCTS> sums{};
  bool saturated = false;
  unsigned under = 0, largest_under = 0;
  auto tick = [&] {
    b.settle();
    if (d.done_o) --under;
    b.rise();
    d.valid_i = 0;
    largest_under = std::max(largest_under, under);
  };
  // Fields of the package, highest first: triangle, a, b, c, ab, bc, ac, abc.
  auto drive_set = [&](const std::vector<uint64_t> &fields, bool triangle) {
    uint32_t words[4] = {};
    unsigned at = 0;
    auto put = [&](uint64_t value, unsigned bits) {
      for (unsigned i = 0; i < bits; ++i, ++at) words[at / 32] |= uint32_t(value >> i & 1) << at % 32;
    };
    for (size_t f = fields.size(); f-- > 0;) put(fields[f], NEAR_W);
    put(triangle, 1);
    for (unsigned w = 0; w < 4; ++w) d.triple_i[w] = words[w];
  };
  auto one = [&](unsigned largest) {
    const bool triangle = b.chance(40);
    uint64_t g[8] = {};
    for (unsigned m = 1; m < 8; ++m) g[m] = b.chance(20) ? 0 : b.random(largest / 4);
    if (b.chance(5)) std::fill(g, g + 8, 0);
    if (b.chance(5)) {
      std::fill(g, g + 8, 0);
      g[7] = largest - 2;
    }
    const auto of = [&](unsigned bits) {
      uint64_t sum = 0;
      for (unsigned m = 1; m < 8; ++m) if ((m & bits) == bits) sum += g[m];
      return sum;
    };
    const unsigned t = triangle;
    const std::vector<uint64_t> fields = {of(1) + 1 + t, of(2) + 2,     of(4) + 1 + t, of(3) + t,
                                          of(6) + t,     of(5) + 1,     of(7)};
    b.hit("as many neighbours as there can be", *std::max_element(fields.begin(), fields.end()) > 28000);
    b.hit("all in common", g[7] > 28000);
    b.hit("nothing outside", of(1) + of(2) + of(4) == 0);
    b.hit(triangle ? "a triangle" : "no triangle");
    drive_set(fields, triangle);
    d.valid_i = 1;
    ++under;
    for (unsigned p = triangle ? PRODUCTS_OPEN : 0; p < (triangle ? PRODUCTS : PRODUCTS_OPEN); ++p) {
      const uint32_t codes = CODES[p / MULTIPLIERS] >> FACTOR_W * (p % MULTIPLIERS), code = (1 << FACTOR_W) - 1;
      const unsigned first = codes & code, second = codes >> FACTOR_W * MULTIPLIERS & code;
      Wide x = 0, y = 0;
      for (unsigned m = 1; m < 8; ++m) x += MASKS[first] >> m & 1 ? g[m] : 0;
      for (unsigned m = 1; m < 8; ++m) y += MASKS[second] >> m & 1 ? g[m] : 0;
      if (first == second) y = y ? y - 1 : 0;
      sums[p] += x * y;
      if (sums[p] > most) saturated = true;
    }
  };
  auto read = [&] {
    while (d.busy_o || under) tick(), b.settle();
    for (int i = 0; i < 3; ++i) tick();
    for (unsigned p = 0; p < PRODUCTS; ++p) {
      d.at_i = SUMS + p;
      tick();
      b.settle();
      b.equal(d.sum_o, uint64_t(std::min(sums[p], most)), "sum_o");
    }
    b.equal(d.saturated_o, saturated, "saturated_o");
    b.hit("a sum that doesn't fit", saturated);
  };
  auto clear = [&] {
    d.clear_i = 1;
    tick();
    d.clear_i = 0;
    sums = {};
    saturated = false;
    b.hit("cleared");
  };
  for (int run = 0; run < 60; ++run) {
    clear();
    const unsigned gaps = b.chance(40) ? 0 : b.random(90), largest = run % 3 ? 60 : 28672;
    const unsigned sets = b.random(400);
    for (unsigned n = 0; n < sets; ++n) {
      while (under == TRIPLES) b.hit("the queue is full"), tick();
      const bool before = under > 0;
      one(largest);
      b.hit("sets follow each other", before);
      b.hit("after a pause", !before);
      tick();
      while (b.chance(gaps)) tick();
    }
    read();
    if (run % 10 == 0) {
      // What is in flight is dropped: some of it may have been added, and nothing more comes.
      for (int n = 0; n < 5; ++n) one(largest), tick();
      d.rst_i = 1;
      tick();
      d.rst_i = 0;
      under = 0;
      b.settle();
      for (int i = 0; i < 40; ++i) tick();
      b.check(!d.busy_o, "something is under way after a reset");
      b.hit("dropped");
    }
  }
  return b.end();
}
