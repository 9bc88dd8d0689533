// ancestor_buffer against an array of entries.
#include "bench.hpp"
#include <algorithm>

int main(int argc, char **argv) {
  Bench b("ancestor_buffer",
          {"deepest level", "first level", "every entry written", "read while written",
           "same level of another slot", "rewritten at once"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned slots = 4, depth = 16;
  std::vector<Line> model(slots * depth);
  unsigned last = 0;
  bool wrote = false;
  for (unsigned n = 0; n < 30000; ++n) {
    // First every entry once, so that each one is known.
    const bool first = n < slots * depth;
    d.slot_i = first ? n / depth : b.random(slots);
    d.level_i = first ? n % depth : b.chance(30) ? depth - 1 : b.random(depth);
    d.write_i = first || b.chance(50);
    const unsigned at = d.slot_i * depth + d.level_i;
    Line cursor = random_line(b, 3);
    cursor[2] &= 0xffffff; // 2 positions of 4 bits, 2 of 40
    drive(d.cursor_i, cursor);
    b.settle();
    if (!model[at].empty())
      b.check(line_of(d.cursor_o, 3) == model[at], "entry %u differs from what was written", at);
    b.hit("deepest level", d.write_i && d.level_i == depth - 1);
    b.hit("first level", d.write_i && d.level_i == 0);
    b.hit("read while written", d.write_i && !model[at].empty());
    b.hit("same level of another slot", wrote && last % depth == d.level_i && last != at);
    b.hit("rewritten at once", wrote && d.write_i && last == at);
    if (d.write_i) model[at] = cursor;
    b.hit("every entry written",
          std::none_of(model.begin(), model.end(), [](auto &m) { return m.empty(); }));
    wrote = d.write_i;
    last = at;
    b.rise();
  }
  return b.end();
}
