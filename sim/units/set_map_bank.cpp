// set_map_bank against an array of counters and marks that is emptied at each root.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include <deque>

namespace {
struct Entry {
  bool mark = false;
  uint32_t count = 0;
};
struct Expected {
  uint64_t at;
  bool hit;
  uint32_t value;
  bool first;
  uint64_t entry;
  int near = -1; // -1: any
};
} // namespace

int main(int argc, char **argv) {
  Bench b("set_map_bank",
          {"same entry in consecutive cycles", "same entry after a gap of two", "after three", "after four",
           "after five", "same word, another entry", "marked, then counted", "looked up only",
           "counted, then another root", "mark of an earlier root", "counter at its end", "cleared", "counted first",
           "read, not counted", "read before it is counted", "counted, then read in the next cycle", "tagged",
           "has the tag", "has an earlier tag", "tagged, and the mark stays", "tagged, then looked up in the next cycle", "rested", "rested, then the same entry"},
          argc, argv);
  auto &d = *b.dut;
  const uint32_t entries = MAP_WORDS * MAP_ENTRIES, top = (1u << 17) - 1;
  std::vector<Entry> model(entries);
  std::vector<bool> once(entries); // marked by an earlier root
  std::deque<Expected> expected;
  d.valid_i = d.clear_i = d.root_i = d.keep_i = d.tag_i = 0;
  d.on_i = 1;
  b.reset(d.rst_i);
  int quiet = 0;              // cycles since the last access
  bool rested = false;        // it rested since
  uint64_t before = entries;  // its entry
  uint32_t level = 1, most = 0; // most: highest count of the present root
  std::deque<int64_t> recent;   // entries of the last accesses, -1: none
  bool counted_before = false; // the last access counted its entry
  uint32_t now = 1, levels[4] = {1, 1, 1, 1}; // of the access that comes in, and of the last cycles
  uint32_t tag = 1, tags[4] = {1, 1, 1, 1};   // the same
  auto tick = [&] {
    d.level2_i = levels[1];
    d.level3_i = levels[2];
    d.level4_i = levels[3];
    d.tag3_i = tags[2];
    d.tag4_i = tags[3];
    for (int s = 3; s > 0; --s) levels[s] = levels[s - 1], tags[s] = tags[s - 1];
    levels[0] = now;
    tags[0] = tag;
    // It may rest as soon as nothing is in flight.
    quiet = d.valid_i || d.clear_i ? 0 : quiet + 1;
    d.on_i = quiet <= 5 || b.chance(30);
    b.hit("rested", !d.on_i);
    b.hit("rested, then the same entry", d.valid_i && rested && d.at_i == before);
    rested = (rested || !d.on_i) && !d.valid_i;
    if (d.valid_i) before = d.at_i;
    b.settle();
    b.rise();
    // What began five cycles ago comes out.
    while (!expected.empty() && b.cycle - expected.front().at > 5) expected.pop_front();
    if (!expected.empty() && b.cycle - expected.front().at == 5) {
      b.equal(d.hit_o, expected.front().hit, "hit_o");
      b.equal(d.value_o, expected.front().value, "value_o");
      b.equal(d.first_o, expected.front().first, "first_o");
      b.equal(d.at_o, expected.front().entry, "at_o");
      if (expected.front().near >= 0) b.equal(d.near_o, expected.front().near, "near_o");
    }
  };
  auto clear = [&] {
    d.valid_i = 0;
    for (int i = 0; i < 8; ++i) tick();
    d.clear_i = 1;
    for (uint32_t w = 0; w < MAP_WORDS; ++w) d.at_i = w * MAP_ENTRIES + b.random(MAP_ENTRIES), tick();
    d.clear_i = 0;
    for (int i = 0; i < 4; ++i) tick();
    level = 1;
    b.hit("cleared");
  };
  clear();
  for (int root = 0; root < 400; ++root) {
    // Few entries, so that they meet; now and then one counter goes far.
    const uint32_t window = 1 + b.random(12), from = b.random(entries - window);
    const int accesses = root == 200 ? 70000 : b.random(120);
    const bool one = root == 200;
    if (level + accesses + 1 > top) clear(), recent.clear();
    std::fill(model.begin(), model.end(), Entry());
    d.root_i = !d.root_i;
    now = level;
    most = 0;
    for (int n = 0; n < accesses; ++n) {
      const bool pause = !one && b.chance(3); // long enough for a rest
      if (pause) {
        d.valid_i = 0;
        for (int i = 0; i < 9; ++i) tick();
        recent.assign(5, -1);
      }
      const bool valid = one || !b.chance(20);
      const uint32_t at = one ? from : pause && b.chance(50) ? uint32_t(before) % entries : from + b.random(window);
      d.valid_i = valid;
      d.at_i = at;
      d.mark_i = !one && b.chance(20);
      d.count_i = one || (!d.mark_i && b.chance(70));
      d.keep_i = !one && d.count_i && b.chance(30);
      if (valid) {
        Entry &e = model[at];
        for (size_t back = 0; back < recent.size(); ++back)
          if (recent[back] == int64_t(at)) {
            static const char *names[] = {"same entry in consecutive cycles", "same entry after a gap of two",
                                          "after three", "after four", "after five"};
            b.hit(names[back]);
          } else if (recent[back] >= 0 && recent[back] / 4 == int64_t(at) / 4)
            b.hit("same word, another entry");
        b.hit("marked, then counted", e.mark && d.count_i);
        b.hit("looked up only", !d.mark_i && !d.count_i);
        b.hit("mark of an earlier root", once[at] && !e.mark);
        b.hit("counted, then another root", once[at] && d.count_i && e.count == 0);
        const bool first = d.count_i && !d.keep_i && e.count == 0;
        b.hit("counted first", first);
        b.hit("read, not counted", d.keep_i && e.count);
        b.hit("read before it is counted", d.keep_i && !e.count);
        b.hit("counted, then read in the next cycle", d.keep_i && !recent.empty() && recent[0] == int64_t(at) && counted_before);
        expected.push_back({b.cycle, e.mark, d.count_i ? level + e.count : 0, first, at});
        if (d.mark_i) e.mark = once[at] = true;
        if (d.count_i && !d.keep_i) most = std::max(most, ++e.count);
        counted_before = d.count_i && !d.keep_i;
        b.hit("counter at its end", e.count > 65000);
      }
      recent.push_front(valid ? int64_t(at) : -1);
      if (recent.size() > 5) recent.pop_back();
      tick();
    }
    d.valid_i = 0;
    level += most + 1;
    if (b.chance(30))
      for (int i = 0; i < 7; ++i) tick(), recent.push_front(-1), recent.resize(5, -1);
  }
  for (int i = 0; i < 8; ++i) tick();
  // Tags: an entry has that of the list which it was in last, and its mark stays.
  for (int root = 0; root < 300; ++root) {
    const uint32_t window = 1 + b.random(12), from = b.random(entries - window);
    if (level + 200 > top) clear();
    std::fill(model.begin(), model.end(), Entry()); // here a count is a tag above the level
    d.root_i = !d.root_i;
    now = level;
    uint32_t own = 0;
    int64_t last = -1; // what was tagged in the cycle before
    for (int n = b.random(150); n > 0; --n) {
      if (b.chance(10)) ++own;
      tag = level + own;
      const uint32_t at = from + b.random(window);
      d.valid_i = !b.chance(20);
      d.at_i = at;
      d.count_i = d.keep_i = 0;
      d.mark_i = own == 0 && b.chance(50);
      d.tag_i = own > 0 && b.chance(40);
      Entry &e = model[at];
      if (d.valid_i) {
        expected.push_back({b.cycle, e.mark, 0, false, at, own ? int(e.count == own) : -1});
        b.hit("tagged", d.tag_i);
        b.hit("has the tag", own && e.count == own);
        b.hit("has an earlier tag", own && e.count && e.count != own);
        b.hit("tagged, and the mark stays", e.mark && e.count);
        b.hit("tagged, then looked up in the next cycle", last == int64_t(at) && !d.tag_i);
        if (d.mark_i) e.mark = true;
        if (d.tag_i) e.count = own;
      }
      last = d.valid_i && d.tag_i ? int64_t(at) : -1;
      tick();
    }
    d.valid_i = d.tag_i = d.mark_i = 0;
    for (int i = 0; i < 3; ++i) tick();
    level += own + 1;
  }
  for (int i = 0; i < 8; ++i) tick();
  return b.end();
}
