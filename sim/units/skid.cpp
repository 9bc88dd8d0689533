// skid against a queue of at most one message: order, nothing lost, and a ready that no input of the same cycle changes.
#include "bench.hpp"
#include <deque>

int main(int argc, char **argv) {
  Bench b("skid",
          {"passes at once", "waits", "waits for long", "one behind another", "every cycle for long", "empty",
           "reset while something waits", "ready is settled before its inputs"},
          argc, argv);
  auto &d = *b.dut;
  std::deque<uint32_t> waiting; // at most one
  bool was_reset = true, offered = false;
  uint32_t next = 0;
  unsigned row = 0, stays = 0;
  d.valid_i = d.ready_i = 0;
  b.reset(d.rst_i);
  for (unsigned n = 0; n < 40000; ++n) {
    const unsigned phase = (n / 100) % 4;
    d.rst_i = b.chance(1) && b.chance(10);
    // An offered message stays until it is taken, as in AXI.
    if (!offered && b.chance(phase == 0 ? 100 : phase == 1 ? 20 : 60)) offered = true, next = b.random(256);
    d.valid_i = offered;
    d.data_i = offered ? next : b.random(256);
    d.ready_i = b.chance(phase == 0 ? 100 : phase == 2 ? 10 : 60);
    b.settle();
    const bool room = waiting.empty() && !was_reset;
    b.equal(d.ready_o, room, "ready_o");
    // Whatever the inputs are, in this cycle.
    const unsigned valid = d.valid_i, ready = d.ready_i;
    d.valid_i = !valid, d.ready_i = !ready;
    b.settle();
    b.equal(d.ready_o, room, "ready_o with other inputs");
    d.valid_i = valid, d.ready_i = ready;
    b.settle();
    b.hit("ready is settled before its inputs", !room && !was_reset);
    const bool takes = offered && room;
    b.hit("passes at once", takes && d.ready_i && !d.rst_i);
    b.hit("one behind another", offered && !waiting.empty());
    b.hit("reset while something waits", d.rst_i && !waiting.empty());
    if (takes) waiting.push_back(next), offered = false;
    b.equal(d.valid_o, !waiting.empty(), "valid_o");
    if (!waiting.empty()) b.equal(d.data_o, waiting.front(), "data_o");
    b.hit("empty", waiting.empty());
    b.hit("waits", !waiting.empty() && !d.ready_i);
    const bool given = !waiting.empty() && d.ready_i;
    stays = waiting.empty() || given ? 0 : stays + 1;
    b.hit("waits for long", stays > 8);
    row = given ? row + 1 : 0;
    b.hit("every cycle for long", row > 16);
    if (given) waiting.pop_front();
    if (d.rst_i) waiting.clear();
    was_reset = d.rst_i;
    b.rise();
  }
  return b.end();
}
