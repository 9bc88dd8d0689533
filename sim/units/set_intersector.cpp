// set_intersector against the ids of two lines compared one by one.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include "set_widths.hpp"
#include <deque>

int main(int argc, char **argv) {
  Bench b("set_intersector",
          {"no match", "all match", "equal ids of other sizes", "equal but not held", "equal but not streamed",
           "padding on both sides", "padding with the last id", "every cycle", "nothing to compare",
           "first lane with last"},
          argc, argv);
  auto &d = *b.dut;
  struct Expected {
    uint64_t at;
    uint32_t match;
  };
  std::deque<Expected> expected;
  d.valid_i = 0;
  b.reset(d.rst_i);
  unsigned row = 0;
  const unsigned ids = PARTITIONS * PARTITION_LINES * LINE_QUARTERS; // of blocks in the partitions
  // The fields of the step: compare, held, streamed are its highest bits, as the package has them.
  const int bits = 1 + 16 + 16 + step_rest_bits();
  auto set = [&](int high, int width, uint32_t value) {
    for (int i = 0; i < width; ++i) {
      const int at = high - width + 1 + i;
      const uint32_t bit = 1u << at % 32;
      d.step_i[at / 32] = (d.step_i[at / 32] & ~bit) | ((value >> i & 1) ? bit : 0);
    }
  };
  for (int n = 0; n < 20000; ++n) {
    const bool valid = n % 1000 < 500 || b.chance(60);
    row = valid ? row + 1 : 0;
    const unsigned range = n % 3 == 0 ? 4 : n % 3 == 1 ? 40 : ids;
    uint32_t held[16], streamed[16];
    for (int l = 0; l < 16; ++l) {
      held[l] = b.random(range) | b.random(64) << 26;
      streamed[l] = b.random(range) | b.random(64) << 26;
    }
    if (b.chance(5)) for (int l = 0; l < 16; ++l) streamed[15 - l] = held[l] ^ 1u << 31;
    if (b.chance(20)) held[15] = streamed[15] = ~0u;
    const bool last = b.chance(5);
    if (last) held[15] = ~0u, streamed[14] = ids - 1;
    if (b.chance(5)) streamed[15] = held[0];
    const bool compare = !b.chance(10);
    const uint32_t h = b.chance(50) ? 0xffff : b.random(65536), some = b.chance(50) ? 0xffff : b.random(65536);
    const uint32_t s = streamed[15] == ~0u ? some & 0x7fff : some; // padding isn't streamed
    uint32_t match = 0, equal = 0, other = 0;
    for (int x = 0; x < 16; ++x)
      for (int y = 0; y < 16; ++y)
        if ((held[x] & 0x3ffffff) == (streamed[y] & 0x3ffffff)) {
          equal |= 1u << x;
          if (h >> x & 1 && s >> y & 1) match |= 1u << x;
          if (held[x] != streamed[y]) other |= 1u << x;
          b.hit("equal but not streamed", valid && compare && (h >> x & 1) && !(s >> y & 1));
          b.hit("first lane with last", valid && compare && x == 0 && y == 15 && match & 1);
        }
    if (!compare) match = 0;
    d.valid_i = valid;
    for (int l = 0; l < 16; ++l) d.held_i[l] = held[l], d.streamed_i[l] = streamed[l];
    for (auto &word : d.step_i.m_storage) word = b.random();
    set(bits - 1, 1, compare);
    set(bits - 2, 16, h);
    set(bits - 18, 16, s);
    if (valid) {
      expected.push_back({b.cycle + 2, match});
      b.hit("no match", compare && !match);
      b.hit("all match", match == 0xffff);
      b.hit("equal ids of other sizes", compare && other & match);
      b.hit("equal but not held", compare && equal & ~h & 0xffff);
      b.hit("padding on both sides", held[15] == ~0u && streamed[15] == ~0u && compare && !(s >> 15));
      b.hit("padding with the last id", last && compare && h >> 15 && s >> 14 & 1);
      b.hit("every cycle", row > 100);
      b.hit("nothing to compare", !compare);
    }
    b.tick();
    d.valid_i = 0;
    d.clk_i = 0;
    d.eval();
    const bool due = !expected.empty() && expected.front().at == b.cycle;
    b.equal(d.valid_o, due, "valid_o");
    if (due) {
      b.equal(d.match_o, expected.front().match, "match_o");
      expected.pop_front();
    }
  }
  return b.end();
}
