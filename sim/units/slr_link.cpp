// slr_link against a queue whose messages take their time: order, room and credits.
#include "bench.hpp"
#include <deque>

int main(int argc, char **argv) {
  Bench b("slr_link",
          {"empty", "all under way or waiting", "no credit while there is more", "one in a row",
           "every cycle for long", "taken at once", "wrap-around", "sender reset and receiver reset"},
          argc, argv);
  auto &d = *b.dut;
  const size_t depth = 8;
  const unsigned stages = 2;
  std::deque<uint32_t> source, under_way; // waiting at the sender; sent and not yet taken
  std::deque<uint64_t> sent_at;           // when, of those under way
  uint64_t given = 0, row = 0;
  uint32_t next = 1;
  bool taking = false, take = false; // what was promised for this cycle
  const auto reset = [&] {
    d.more_i = d.take_i = 0;
    d.rst_i = d.far_rst_i = 1;
    // Longer than the registers that have no reset.
    for (unsigned i = 0; i < stages + 2; ++i) b.tick();
    d.rst_i = d.far_rst_i = 0;
    source.clear(), under_way.clear(), sent_at.clear();
    take = false;
    b.settle();
    taking = d.take_o;
  };
  reset();
  for (int n = 0; n < 40000; ++n) {
    const unsigned phase = (n / 100) % 4;
    const unsigned in = phase == 0 ? 100 : phase == 1 ? 100 : phase == 2 ? 20 : 50;
    const unsigned out = phase == 0 ? 100 : phase == 1 ? 5 : phase == 2 ? 90 : 50;
    if (b.chance(in) && source.size() < 4) source.push_back(next++);
    // Sender: what is taken in this cycle is at the head.
    b.settle();
    taking = d.take_o;
    b.check(!taking || !source.empty(), "takes what is not there");
    d.more_i = source.size() > size_t(taking);
    d.data_i = source.empty() ? uint32_t(b.random()) & 0xff : source.front() & 0xff;
    d.take_i = take;
    b.settle();
    b.equal(d.take_o, taking, "take_o");
    if (take) b.equal(d.data_o, under_way.front() & 0xff, "data_o");
    // A message is there the registers and a cycle of the queue after it was taken.
    size_t arrived = 0;
    for (uint64_t at : sent_at) arrived += b.cycle >= at + stages + 1;
    b.equal(d.more_o, arrived > size_t(take), "more_o");
    b.check(under_way.size() + size_t(taking) <= depth, "more under way than there is room");
    b.check(d.busy_o || under_way.empty(), "a message is under way and it isn't busy");
    b.hit("empty", under_way.empty() && !d.busy_o);
    b.hit("all under way or waiting", under_way.size() == depth);
    b.hit("no credit while there is more", under_way.size() == depth && d.more_i);
    b.hit("one in a row", taking && under_way.empty());
    row = taking ? row + 1 : 0;
    b.hit("every cycle for long", row > 2 * depth);
    b.hit("taken at once", take && under_way.size() == 1);
    b.hit("wrap-around", given > 4 * depth);
    const bool more = d.more_o;
    if (taking) {
      under_way.push_back(source.front());
      sent_at.push_back(b.cycle);
      source.pop_front();
      ++given;
    }
    if (take) under_way.pop_front(), sent_at.pop_front();
    b.rise();
    take = more && b.chance(out);
    if (b.chance(1) && b.chance(10)) {
      b.hit("sender reset and receiver reset");
      reset();
    }
  }
  return b.end();
}
