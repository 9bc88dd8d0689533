// fifo against std::deque.
#include "bench.hpp"
#include <deque>

int main(int argc, char **argv) {
  Bench b("fifo",
          {"empty", "full", "push and pop together", "push and pop while full", "wrap-around",
           "push while empty", "pop of the last", "reset while full"},
          argc, argv);
  auto &d = *b.dut;
  const size_t depth = 4;
  std::deque<uint8_t> model;
  uint64_t pushed = 0;
  d.push_i = d.pop_i = 0;
  b.reset(d.rst_i);
  for (int n = 0; n < 20000; ++n) {
    // Phases that fill, drain and balance; those at 100 % are the directed ones.
    const unsigned phase = (n / 50) % 5;
    const unsigned in = phase == 0 ? 100 : phase == 1 ? 0 : phase == 2 ? 80 : phase == 3 ? 30 : 60;
    const unsigned out = phase == 0 ? 0 : phase == 1 ? 100 : phase == 2 ? 80 : phase == 3 ? 70 : 50;
    d.rst_i = b.chance(1) && b.chance(20);
    const bool pop = !model.empty() && b.chance(out);
    const bool push = (model.size() < depth || (pop && !d.rst_i)) && b.chance(in);
    d.push_i = push;
    d.pop_i = pop;
    d.data_i = uint8_t(b.random());
    b.settle();
    b.equal(d.valid_o, !model.empty(), "valid_o");
    b.equal(d.full_o, model.size() == depth, "full_o");
    if (!model.empty()) b.equal(d.data_o, model.front(), "data_o");
    b.hit("empty", model.empty());
    b.hit("full", model.size() == depth);
    b.hit("push and pop together", push && pop && !d.rst_i);
    b.hit("push and pop while full", push && pop && model.size() == depth && !d.rst_i);
    b.hit("push while empty", push && model.empty() && !d.rst_i);
    b.hit("pop of the last", pop && !push && model.size() == 1);
    b.hit("reset while full", d.rst_i && model.size() == depth);
    if (d.rst_i) {
      model.clear();
      pushed = 0;
    } else {
      if (pop) model.pop_front();
      if (push) model.push_back(d.data_i), ++pushed;
      b.hit("wrap-around", pushed > 4 * depth);
    }
    b.rise();
  }
  return b.end();
}
