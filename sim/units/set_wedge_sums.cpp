// set_wedge_sums against products of what lines bring, in rows of counters and in lists of members.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include <deque>

int main(int argc, char **argv) {
  Bench b("set_wedge_sums",
          {"houses", "a list of one line", "a list of many lines", "a list without a triangle", "5-cycles",
           "a row right before its line", "two rows are there", "a row is done", "the largest product",
           "an end with nothing in it", "lines follow each other"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned bank_bits = __builtin_ctz(MAP_BANKS);
  std::deque<std::pair<uint64_t, uint64_t>> products; // cycle, value
  std::deque<uint64_t> done;
  d.row_valid_i = d.valid_i = 0;
  b.reset(d.rst_i);
  uint64_t added = 0;
  auto tick = [&] {
    b.settle();
    b.rise();
    b.equal(d.valid_o, !products.empty() && products.front().first == b.cycle, "valid_o");
    if (d.valid_o) {
      b.equal(d.value_o, products.front().second, "value_o");
      products.pop_front();
      ++added;
    }
    b.equal(d.row_done_o, !done.empty() && done.front() == b.cycle, "row_done_o");
    if (d.row_done_o) done.pop_front();
    d.row_valid_i = d.valid_i = 0;
  };
  // Fields of the package: is, five_cycles, silent, keep, note, row_last, parity, bank.
  auto line = [&](bool five_cycles, bool row_last, bool parity, unsigned bank, uint32_t level, unsigned hits,
                  unsigned paths, uint32_t counts, bool last) {
    d.valid_i = 1;
    d.wedge_i = (((1u << 6 | unsigned(five_cycles) << 5 | 1 << 3 | unsigned(row_last) << 1 | unsigned(parity))) << bank_bits) | bank;
    d.level_i = level;
    d.hits_i = hits;
    d.paths_i = paths;
    d.counts_i = counts;
    d.last_i = last;
  };
  for (int n = 0; n < 400; ++n) {
    // A list of houses.
    const unsigned lines = b.chance(30) ? 1 : 1 + b.random(n % 20 == 0 ? 1792 : 12);
    uint64_t t = 0, sum = 0;
    for (unsigned l = 0; l < lines; ++l) {
      const unsigned paths = b.random(17), hits = b.chance(20) ? 0 : b.random(paths + 1);
      const uint32_t counts = paths * (1 + b.random(n % 20 == 0 ? 28672 : 9));
      line(false, b.chance(50), b.chance(50), b.random(MAP_BANKS), b.random(1 << 17), hits, paths, counts,
           l + 1 == lines);
      t += hits;
      sum += counts - paths;
      if (l + 1 == lines) products.push_back({b.cycle + 4, t * sum});
      b.hit("lines follow each other");
      b.hit("an end with nothing in it", paths == 0 && l + 1 == lines);
      tick();
      if (b.chance(10)) tick();
    }
    b.hit("houses");
    b.hit("a list of one line", lines == 1);
    b.hit("a list of many lines", lines > 1000);
    b.hit("a list without a triangle", t == 0);
    while (!products.empty()) tick();
    // Rows of 5-cycles: two at the most are there.
    struct Row {
      bool parity;
      std::vector<uint32_t> values;
    };
    std::deque<Row> rows;
    static bool parity = false;
    const uint32_t level = b.random(1 << 16);
    unsigned left = 1 + b.random(6);
    while (left || !rows.empty()) {
      if (left && rows.size() < 2 && (rows.empty() || b.chance(30))) {
        Row row{parity, {}};
        parity = !parity;
        for (unsigned v = 0; v < MAP_BANKS; ++v) {
          row.values.push_back(b.chance(5) ? 28672 : b.random(40));
          d.row_value_i[v] = level + row.values.back();
        }
        d.row_valid_i = 1;
        rows.push_back(row);
        --left;
        tick();
        b.hit("two rows are there", rows.size() == 2);
        if (b.chance(50)) tick();
        else b.hit("a row right before its line", rows.size() == 1);
        continue;
      }
      const unsigned bank = b.random(MAP_BANKS), paths = b.random(17);
      const bool last = b.chance(60), row_last = b.chance(25);
      const uint32_t counts = b.chance(5) ? 16 * 28672 : b.random(1000);
      line(true, row_last, rows.front().parity, bank, level, b.random(17), paths, counts, last);
      products.push_back({b.cycle + 4, uint64_t(rows.front().values[bank]) * counts});
      b.hit("the largest product", rows.front().values[bank] == 28672 && counts == 16 * 28672);
      b.hit("5-cycles");
      if (row_last && last) {
        done.push_back(b.cycle + 1);
        rows.pop_front();
        b.hit("a row is done");
      }
      tick();
      if (b.chance(10)) tick();
    }
    while (!products.empty() || !done.empty()) tick();
  }
  b.check(added > 2000, "%llu products", (unsigned long long)added);
  return b.end();
}
