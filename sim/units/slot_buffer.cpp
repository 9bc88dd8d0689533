// slot_buffer against the set of free slots: none lost, none given twice.
#include "bench.hpp"
#include <set>

int main(int argc, char **argv) {
  Bench b("slot_buffer",
          {"none free", "all free", "fewer than all", "one slot", "taken and freed together",
           "taken, freed and returned together", "freed and returned together",
           "last one back", "cleared while busy", "reset"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned slots = 4;
  std::set<unsigned> free, busy;
  d.clear_i = d.take_i = d.free_i = d.return_i = 0;
  bool chosen = false; // a slot is there to be taken
  b.reset(d.rst_i);
  for (int n = 0; n < 20000; ++n) {
    d.rst_i = n > 100 && b.chance(1) && b.chance(10);
    d.clear_i = !d.rst_i && (n == 0 || b.chance(1) || (free.empty() && busy.empty()));
    d.slots_i = 1 + b.random(slots);
    // Phases in which slots run out, and in which they come back.
    const unsigned give = (n / 60) % 3 == 0 ? 95 : 45, back = (n / 60) % 3 == 1 ? 95 : 25;
    std::vector<unsigned> held(busy.begin(), busy.end());
    for (size_t i = held.size(); i > 1; --i) std::swap(held[i - 1], held[b.random(i)]);
    const bool quiet = d.rst_i || d.clear_i;
    d.take_i = !quiet && chosen && b.chance(give);
    d.free_i = !quiet && !held.empty() && b.chance(back);
    d.free_slot_i = d.free_i ? held.back() : b.random(slots);
    if (d.free_i) held.pop_back();
    d.return_i = !quiet && !held.empty() && b.chance(back);
    d.return_slot_i = d.return_i ? held.back() : b.random(slots);
    b.settle();
    b.equal(d.valid_o, chosen, "valid_o");
    if (chosen) b.check(free.count(d.slot_o), "slot %u is given but not free", d.slot_o);
    unsigned expected = 0;
    for (unsigned s : busy) expected |= 1u << s;
    b.equal(d.busy_o, expected, "busy_o");
    b.hit("none free", free.empty() && !busy.empty());
    b.hit("all free", free.size() == slots);
    b.hit("fewer than all", d.clear_i && d.slots_i > 1 && d.slots_i < slots);
    b.hit("one slot", d.clear_i && d.slots_i == 1);
    b.hit("taken and freed together", d.take_i && d.free_i);
    b.hit("taken, freed and returned together", d.take_i && d.free_i && d.return_i);
    b.hit("freed and returned together", !d.take_i && d.free_i && d.return_i);
    b.hit("last one back", busy.size() == 1 && (d.free_i || d.return_i) && !d.take_i);
    b.hit("cleared while busy", d.clear_i && !busy.empty());
    b.hit("reset", d.rst_i && !busy.empty());
    const unsigned given = d.slot_o;
    // The next one is chosen among those that are free, when none is chosen.
    chosen = !quiet && (chosen ? !d.take_i : !free.empty());
    if (quiet) {
      free.clear();
      busy.clear();
      if (d.clear_i)
        for (unsigned s = 0; s < d.slots_i; ++s) free.insert(s);
    } else {
      if (d.take_i) free.erase(given), busy.insert(given);
      if (d.free_i) busy.erase(d.free_slot_i), free.insert(d.free_slot_i);
      if (d.return_i) busy.erase(d.return_slot_i), free.insert(d.return_slot_i);
    }
    b.rise();
  }
  return b.end();
}
