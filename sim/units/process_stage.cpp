// process_stage with counters of 8 bits, so that they saturate: a dictionary and counts that stop
// at their largest value.
#include "bench.hpp"
#include "gramer_pkg.hpp"

int main(int argc, char **argv) {
  Bench b("process_stage",
          {"same pattern twice in a row", "same pattern after a gap", "saturated",
           "first pattern", "last pattern", "all counters read", "not known", "last key",
           "dictionary written while read", "counts of a second run"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned keys = 1024, counters = 256, limit = (1u << COUNT_W) - 1;
  std::vector<unsigned> dictionary(keys), counts(counters);
  bool known = false;
  unsigned expected = 0;
  d.dictionary_write_i = d.valid_i = d.clear_i = 0;
  b.reset(d.rst_i);
  // Dictionary, also the look-up of last cycle's key.
  for (unsigned n = 0; n < 4 * keys; ++n) {
    d.dictionary_write_i = n < keys || b.chance(20);
    d.dictionary_key_i = n < keys ? n : b.random(keys);
    d.dictionary_entry_i = b.random(512);
    d.key_i = n < keys ? b.random(n + 1) : b.chance(5) ? keys - 1 : b.chance(5) ? d.dictionary_key_i
                                                                             : b.random(keys);
    b.settle();
    if (known) b.equal(d.entry_o, expected, "entry_o");
    known = n >= keys;
    expected = dictionary[d.key_i];
    b.hit("not known", known && !(expected >> 8));
    b.hit("last key", known && d.key_i == keys - 1);
    b.hit("dictionary written while read",
          known && d.dictionary_write_i && d.dictionary_key_i == d.key_i);
    if (d.dictionary_write_i) dictionary[d.dictionary_key_i] = d.dictionary_entry_i;
    b.rise();
  }
  d.dictionary_write_i = 0;
  for (unsigned run = 0; run < 12; ++run) {
    // Clear.
    for (unsigned at = 0; at < counters; ++at) {
      d.clear_i = 1;
      d.at_i = at;
      counts[at] = 0;
      b.tick();
    }
    d.clear_i = 0;
    // Count: few patterns (they saturate and repeat), or all.
    bool saturated = false;
    int back[3] = {-1, -1, -1};
    for (unsigned n = 0; n < 1500; ++n) {
      d.valid_i = b.chance(run % 3 == 0 ? 100 : 60);
      d.number_i = run % 3 == 0 ? b.random(3) : run % 3 == 1 ? (b.chance(50) ? 0 : counters - 1)
                                                           : b.random(counters);
      d.at_i = b.random(counters);
      b.tick();
      if (d.valid_i) {
        b.hit("same pattern twice in a row", back[0] == d.number_i);
        b.hit("same pattern after a gap", back[0] != d.number_i && back[1] == d.number_i);
        b.hit("first pattern", d.number_i == 0);
        b.hit("last pattern", d.number_i == counters - 1);
        saturated |= counts[d.number_i] == limit;
        if (counts[d.number_i] < limit) ++counts[d.number_i];
      }
      back[1] = back[0];
      back[0] = d.valid_i ? int(d.number_i) : -1;
    }
    b.settle();
    b.check(d.busy_o || !d.valid_i, "busy_o is clear while an embedding is counted");
    d.valid_i = 0;
    b.tick();
    b.tick();
    b.settle();
    b.equal(d.busy_o, 0, "busy_o");
    b.equal(d.saturated_o, saturated, "saturated_o");
    b.hit("saturated", saturated);
    for (unsigned at = 0; at < counters; ++at) {
      d.at_i = at;
      b.tick();
      b.settle();
      b.equal(d.count_o, counts[at], "count_o");
    }
    b.hit("all counters read");
    b.hit("counts of a second run", run > 0);
  }
  return b.end();
}
