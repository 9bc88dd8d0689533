// crossbar against a queue for each input and output: nothing lost, doubled, reordered or sent
// astray, outputs never idle with a message there, turns fair.
#include "bench.hpp"
#include <deque>

int main(int argc, char **argv) {
  Bench b("crossbar",
          {"empty", "every crosspoint used", "full crosspoint", "all crosspoints full",
           "conflict on every output", "all inputs to one output", "push and pop together",
           "wrap-around", "a stalled output holds up no other", "longest wait", "reset while full"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned ins = 3, outs = 2, depth = 4, width = 36;
  std::deque<uint64_t> queue[ins][outs];
  unsigned last[outs], waiting[outs] = {}, waited[ins][outs] = {}, used = 0, pushed[ins][outs] = {};
  for (auto &l : last) l = ins - 1;
  d.valid_i = d.ready_i = 0;
  b.reset(d.rst_i);
  for (unsigned n = 0; n < 30000; ++n) {
    const unsigned phase = (n / 50) % 5;
    d.rst_i = n % 50 == 49 && b.chance(5);
    d.valid_i = 0;
    for (unsigned i = 0; i < ins; ++i) {
      d.target_i[i] = phase == 3 ? (n / 250) % outs : b.random(outs);
      d.message_i[i] = b.random() >> (64 - width);
      const bool room = queue[i][d.target_i[i]].size() < depth;
      if (room && !d.rst_i && b.chance(phase == 1 ? 10 : phase == 0 ? 100 : 60)) d.valid_i |= 1u << i;
    }
    d.ready_i = 0;
    for (unsigned o = 0; o < outs; ++o)
      if (b.chance(phase == 0 ? 0 : phase == 1 ? 100 : 70)) d.ready_i |= 1u << o;
    if (phase == 4) d.ready_i = 1u << (n / 250) % outs; // the others stall
    b.settle();
    unsigned full = 0, conflicts = 0, empty = 0;
    for (unsigned o = 0; o < outs; ++o) {
      int expected = -1;
      unsigned some = 0;
      for (unsigned t = 1; t <= ins; ++t) {
        const unsigned i = (last[o] + t) % ins;
        some += !queue[i][o].empty();
        if (expected < 0 && !queue[i][o].empty()) expected = i;
      }
      conflicts += some > 1;
      const bool taken = expected >= 0 && (d.ready_i >> o & 1) && !d.rst_i;
      b.equal(d.valid_o >> o & 1, expected >= 0, "valid_o");
      if (expected >= 0) {
        b.equal(d.source_o[o], expected, "source_o");
        b.equal(d.message_o[o], queue[expected][o].front(), "message_o");
      }
      b.equal(d.waiting_o[o], waiting[o], "waiting_o of the last cycle");
      waiting[o] = taken ? some - 1 : 0;
      unsigned arriving = 0;
      for (unsigned i = 0; i < ins; ++i) {
        full += queue[i][o].size() == depth;
        empty += queue[i][o].empty();
        const bool push = (d.valid_i >> i & 1) && d.target_i[i] == o;
        arriving += push;
        b.hit("push and pop together", push && taken && expected == int(i));
        if (queue[i][o].empty() || (taken && expected == int(i))) waited[i][o] = 0;
        else waited[i][o] += taken;
        b.check(waited[i][o] < ins, "input %u waits longer than a round at output %u", i, o);
        b.hit("longest wait", waited[i][o] == ins - 1);
      }
      b.hit("all inputs to one output", arriving == ins);
      const unsigned other = (o + 1) % outs;
      bool stalled = !(d.ready_i >> other & 1);
      for (unsigned i = 0; i < ins; ++i) stalled &= queue[i][other].size() == depth;
      b.hit("a stalled output holds up no other", stalled && taken);
      if (taken) queue[expected][o].pop_front(), last[o] = expected;
      for (unsigned i = 0; i < ins; ++i)
        if ((d.valid_i >> i & 1) && d.target_i[i] == o) {
          queue[i][o].push_back(d.message_i[i]);
          used |= 1u << (i * outs + o);
          b.hit("wrap-around", ++pushed[i][o] > 2 * depth);
        }
    }
    b.hit("empty", empty == ins * outs);
    b.hit("every crosspoint used", used == (1u << ins * outs) - 1);
    b.hit("full crosspoint", full > 0);
    b.hit("all crosspoints full", full == ins * outs);
    b.hit("conflict on every output", conflicts == outs);
    b.hit("reset while full", d.rst_i && full);
    if (d.rst_i)
      for (unsigned o = 0; o < outs; ++o) {
        last[o] = ins - 1;
        for (unsigned i = 0; i < ins; ++i) queue[i][o].clear(), pushed[i][o] = waited[i][o] = 0;
      }
    b.rise();
  }
  return b.end();
}
