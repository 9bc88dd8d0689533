// pattern_buffer against the beats that its records and numbers have to make, as docs/reference/paper-core.md draws
// them.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include <algorithm>
#include <deque>

struct Record {
  uint32_t ordinal, number;
  uint32_t ids[16];
};

int main(int argc, char **argv) {
  Bench b("pattern_buffer",
          {"record of 8 words", "record of 16 words", "record of 32 words", "6 ids", "14 ids",
           "deepest embedding", "half a beat left", "no record", "all PUs list at once",
           "area full", "area filled exactly", "no area", "dropped ordinal is not the first",
           "one pattern", "all patterns", "sum saturated", "a PU saturated", "output stalled",
           "record waits for the output", "a record a cycle", "a record a cycle from one PU",
           "run after a full one"},
          argc, argv);
  auto &d = *b.dut;
  d.clear_i = d.start_i = d.listed_more_i = d.tready_i = 0;
  b.reset(d.rst_i);
  bool was_full = false;
  for (unsigned run = 0; run < 300; ++run) {
    const unsigned k = run % 5 == 0 ? 6 : run % 5 == 1 ? 14 : run % 5 == 2 ? 16 : 2 + b.random(15);
    const unsigned words = k <= 6 ? 8 : k <= 14 ? 16 : 32;
    const unsigned total = b.chance(15) ? 0 : 1 + b.random(40);
    const unsigned whole = (total * words + 15) / 16;
    const unsigned area = b.chance(10) ? 0 : b.chance(40) ? whole : b.random(whole + 3);
    const unsigned patterns = b.chance(5) ? COUNTERS : b.chance(30) ? 1 : 1 + b.random(40);
    std::vector<uint64_t> counts[PUS];
    for (auto &c : counts)
      for (unsigned i = 0; i < patterns; ++i)
        c.push_back(run % 6 == 0 && b.chance(20) ? ~0ull - b.random(3) : b.random(1ull << 40));
    std::map<unsigned, uint64_t> numbers; // counters by section, unit and position
    auto counter = [&](unsigned section, unsigned unit, unsigned at) -> uint64_t & {
      const unsigned key = section << 16 | unit << 8 | at;
      if (!numbers.count(key)) numbers[key] = b.random();
      return numbers[key];
    };
    d.k_i = k;
    d.beats_i = area;
    d.clear_i = 1;
    d.tready_i = 0;
    b.tick();
    d.clear_i = 0;
    d.patterns_i = patterns;
    d.saturated_i = b.chance(20);
    d.status_i = b.random(4);
    d.address_i = b.random();
    d.next_i = b.random();
    const bool pu_saturated = d.saturated_i;

    std::deque<std::pair<Line, bool>> expected;
    Line half;
    unsigned given = 0, beats = 0, kept = 0, stall = run % 3 == 0 ? 80 : run % 3 == 1 ? 20 : 0;
    bool full = false, started = false, done = false, held = false;
    uint32_t dropped = ~0u, first_dropped = 0;
    std::deque<Record> wanted[PUS]; // expected records of each PU
    unsigned left = total, offered = 0, waited = 0, in_row = 0, same = 0, last = 0;
    const unsigned lister = b.chance(20) ? b.random(PUS) : PUS; // the only one; PUS: all list
    Line held_beat;
    unsigned count_at = 0, counter_at = 0, n = 0;
    for (; !done; ++n) {
      b.check(n < 40000, "the report does not end");
      for (unsigned p = 0; p < PUS; ++p) {
        if (!left || wanted[p].size() == 4 || (lister < PUS && p != lister)) continue;
        if (!b.chance(lister < PUS ? 100 : run % 2 ? 90 : 30)) continue;
        --left;
        Record r;
        r.ordinal = b.random(1000);
        r.number = b.random(COUNTERS);
        for (unsigned j = 0; j < DEPTH; ++j) r.ids[j] = j < k ? uint32_t(b.random()) : ~0u;
        wanted[p].push_back(r);
      }
      const unsigned taken = d.listed_take_o;
      b.check(!(taken & (taken - 1)) && !(taken & ~offered), "takes %x of %x", taken, offered);
      offered = 0;
      for (unsigned p = 0; p < PUS; ++p) {
        if (wanted[p].size() > (taken >> p & 1)) offered |= 1u << p;
        if (wanted[p].empty()) continue;
        const Record &r = wanted[p].front();
        Line packed(18);
        auto put = [&](unsigned at, uint32_t v, unsigned bits) {
          for (unsigned i = 0; i < bits; ++i)
            if (v >> i & 1) packed[(at + i) / 32] |= 1u << (at + i) % 32;
        };
        put(0, r.ordinal, 32);
        put(32, r.number, 8);
        for (unsigned j = 0; j < DEPTH; ++j) put(40 + 32 * j, r.ids[j], 32);
        drive(d.listed_i[p], packed);
      }
      d.listed_more_i = offered;
      d.tready_i = !b.chance(stall);
      for (unsigned p = 0; p < PUS; ++p)
        d.count_i[p] = count_at < patterns ? counts[p][count_at] : 0;
      d.core_counter_i = counter(0, 0, counter_at);
      for (unsigned u = 0; u < PUS; ++u) d.pu_counter_i[u] = counter(1, u, counter_at);
      for (unsigned u = 0; u < PARTITIONS; ++u) d.partition_counter_i[u] = counter(2, u, counter_at);
      for (unsigned u = 0; u < BANKS; ++u) d.bank_counter_i[u] = counter(3, u, counter_at);
      d.start_i = 0;
      b.settle();
      d.start_i = !started && given == total && !d.listing_o && b.chance(30);
      b.settle();
      waited = offered && !taken ? waited + 1 : 0;
      in_row = taken ? in_row + 1 : 0;
      same = taken && taken == last ? same + 1 : 0;
      last = taken;
      b.hit("all PUs list at once", offered == (1u << PUS) - 1);
      b.hit("record waits for the output", waited > 2 && d.tvalid_o && !d.tready_i);
      b.hit("a record a cycle", in_row > 16 && same == 0);
      b.hit("a record a cycle from one PU", same > 16);
      // Records that are taken, in this order.
      for (unsigned p = 0; p < PUS; ++p) {
        if (!(taken >> p & 1)) continue;
        ++given;
        const Record r = wanted[p].front();
        wanted[p].pop_front();
        const bool second_half = words == 8 && !half.empty();
        const unsigned need = second_half ? 0 : words == 32 ? 2 : 1;
        if (full || beats + need > area) {
          if (!full) first_dropped = r.ordinal;
          full = true;
          dropped = std::min(dropped, r.ordinal);
          continue;
        }
        beats += need;
        ++kept;
        Line line(words, ~0u);
        line[0] = r.ordinal;
        line[1] = r.number;
        for (unsigned j = 0; j < k; ++j) line[2 + j] = r.ids[j];
        if (words == 8) {
          half.insert(half.end(), line.begin(), line.end());
          if (half.size() == 16) expected.push_back({half, false}), half.clear();
        } else
          for (unsigned at = 0; at < words; at += 16)
            expected.push_back({Line(line.begin() + at, line.begin() + at + 16), false});
      }
      if (d.start_i) {
        started = true;
        b.equal(d.full_o, full, "full_o");
        if (full) b.equal(d.dropped_o, dropped, "dropped_o");
        b.hit("area full", full);
        b.hit("area filled exactly", !full && beats == area && kept);
        b.hit("no area", area == 0 && total);
        b.hit("dropped ordinal is not the first", full && dropped != first_dropped);
        b.hit("half a beat left", !half.empty());
        b.hit("no record", total == 0);
        b.hit("record of 8 words", kept && words == 8);
        b.hit("record of 16 words", kept && words == 16);
        b.hit("record of 32 words", kept && words == 32);
        b.hit("6 ids", kept && k == 6);
        b.hit("14 ids", kept && k == 14);
        b.hit("deepest embedding", kept && k == DEPTH);
        b.hit("one pattern", patterns == 1);
        b.hit("all patterns", patterns == COUNTERS);
        b.hit("a PU saturated", pu_saturated);
        b.hit("run after a full one", was_full && kept);
        if (!half.empty()) half.resize(16, ~0u), expected.push_back({half, false});
        auto pack = [&](const std::vector<uint64_t> &values, bool last) {
          for (size_t at = 0; at < values.size(); at += 8) {
            Line line(16);
            for (size_t i = at; i < std::min(at + 8, values.size()); ++i)
              line[2 * (i - at)] = uint32_t(values[i]), line[2 * (i - at) + 1] = values[i] >> 32;
            expected.push_back({line, last && at + 8 >= values.size()});
          }
        };
        std::vector<uint64_t> sums, all;
        bool over = pu_saturated;
        for (unsigned i = 0; i < patterns; ++i) {
          unsigned __int128 sum = 0;
          for (auto &c : counts) sum += c[i];
          const bool large = sum >> 64;
          over |= large;
          b.hit("sum saturated", large);
          sums.push_back(large ? ~0ull : uint64_t(sum));
        }
        pack(sums, false);
        Line status(16);
        status[0] = d.status_i;
        status[1] = over;
        status[2] = uint32_t(d.address_i), status[3] = d.address_i >> 32;
        status[4] = uint32_t(d.next_i), status[5] = d.next_i >> 32;
        status[6] = kept;
        expected.push_back({status, false});
        const unsigned units[] = {1, PUS, PARTITIONS, BANKS};
        const unsigned sizes[] = {CORE_COUNTERS, PERFORMANCE_COUNTERS ? PU_COUNTERS : 0,
                                  PERFORMANCE_COUNTERS ? PARTITION_COUNTERS : 0, BANK_COUNTERS};
        for (unsigned s = 0; s < 4; ++s)
          for (unsigned u = 0; u < units[s]; ++u)
            for (unsigned at = 0; at < sizes[s]; ++at) all.push_back(counter(s, u, at));
        pack(all, true);
      }
      // The stream.
      if (held) b.check(d.tvalid_o && line_of(d.tdata_o) == held_beat, "a beat changes while it waits");
      held = d.tvalid_o && !d.tready_i;
      if (held) held_beat = line_of(d.tdata_o);
      b.hit("output stalled", held);
      if (d.tvalid_o && d.tready_i) {
        b.check(!expected.empty(), "a beat too many");
        b.check(line_of(d.tdata_o) == expected.front().first, "run %u: a beat differs", run);
        b.equal(d.tlast_o, expected.front().second, "tlast_o");
        expected.pop_front();
      }
      done = d.done_o;
      b.check(!done || (started && expected.empty()), "done before the last beat is taken");
      count_at = d.count_at_o;
      counter_at = d.counter_at_o;
      b.rise();
    }
    was_full = full;
  }
  return b.end();
}
