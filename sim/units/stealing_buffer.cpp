// stealing_buffer against a bounded queue that drops what does not fit.
#include "bench.hpp"
#include <deque>

int main(int argc, char **argv) {
  Bench b("stealing_buffer",
          {"empty", "full", "dropped", "push and pop together", "push and pop while full",
           "wrap-around", "cleared with candidates"},
          argc, argv);
  auto &d = *b.dut;
  const size_t depth = 4;
  std::deque<unsigned> model;
  unsigned pushed = 0;
  d.clear_i = d.push_i = d.pop_i = 0;
  b.reset(d.rst_i);
  for (int n = 0; n < 20000; ++n) {
    const unsigned phase = (n / 40) % 3;
    d.clear_i = b.chance(1) && b.chance(40);
    d.push_i = !d.clear_i && b.chance(phase == 0 ? 90 : phase == 1 ? 20 : 60);
    d.pop_i = !d.clear_i && !model.empty() && b.chance(phase == 0 ? 20 : phase == 1 ? 90 : 60);
    d.slot_i = b.random(4);
    b.settle();
    b.equal(d.valid_o, !model.empty(), "valid_o");
    if (!model.empty()) b.equal(d.slot_o, model.front(), "slot_o");
    const bool full = model.size() == depth;
    b.hit("empty", model.empty());
    b.hit("full", full);
    b.hit("dropped", full && d.push_i && !d.pop_i);
    b.hit("push and pop together", d.push_i && d.pop_i && !full);
    b.hit("push and pop while full", d.push_i && d.pop_i && full);
    b.hit("cleared with candidates", d.clear_i && !model.empty());
    if (d.clear_i) model.clear(), pushed = 0;
    if (d.pop_i) model.pop_front();
    if (d.push_i && !full) model.push_back(d.slot_i), ++pushed;
    b.hit("wrap-around", pushed > 2 * depth);
    b.rise();
  }
  return b.end();
}
