// partition: a vertex and an edge memory side by side, and their counters. What each memory does in
// which cycle is the matter of onchip_memory's bench; here both work at a time. Walks with one
// access at a time are compared with a model of scratchpad and cache access by access, and with
// four cycles for a hit, independent of the other memory. Other runs have many accesses in flight:
// each is answered once, with its data, and the counters add up.
#include "messages.hpp"
#include <set>

const unsigned PART = 1, TOKENS = PUS * SLOTS;

struct Way {
  bool valid = false;
  uint64_t line = 0, stamp = 0;
  uint32_t rank = 0;
};
struct Access {
  uint64_t line = 0;
  unsigned word = 0, token = 0, kind = 0; // kind: 0 high hit, 1 low hit, 2 miss, 3 not known
  uint32_t rank = 0;
  uint64_t at = 0;
};
/// What one memory should hold and count.
struct Memory {
  std::map<uint64_t, Line> ddr;
  std::vector<Line> pad;
  std::vector<std::vector<Way>> cache;
  uint64_t bound = 0, now = 0, high = 0, low = 0, miss = 0, other = 0, conflicts = 0;
  unsigned sets = 1;
  std::map<unsigned, Access> out; // by token
  std::map<unsigned, uint64_t> asked; // lines requested from DDR, by entry
  bool offered = false, request = false;
  Access wanted;
  unsigned fill_entry = 0;
};

int main(int argc, char **argv) {
  Bench b("partition",
          {"vertex high hit", "vertex low hit", "vertex miss", "edge high hit", "edge low hit",
           "edge miss", "vertex and edge in one cycle", "answers in one cycle",
           "both ask DDR in one cycle", "edge hit beside vertex misses",
           "vertex hit beside edge misses", "degree larger than the cache", "degree 0",
           "every record of a line", "last line", "bound 0", "everything high", "most conflicts",
           "conflicts in both", "every counter read", "cleared", "forgotten before a run"},
          argc, argv);
  auto &d = *b.dut;
  d.forget_i = d.vertex_pad_write_i = d.edge_pad_write_i = d.vertex_valid_i = d.edge_valid_i = 0;
  d.read_ready_i = d.fill_valid_i = d.clear_i = d.counter_at_i = 0;
  d.vertex_waiting_i = d.edge_waiting_i = 0;
  const unsigned pads[2] = {unsigned(VERTEX_PAD_LINES), unsigned(EDGE_PAD_LINES)};
  const unsigned all_sets[2] = {unsigned(VERTEX_SETS), unsigned(EDGE_SETS)};
  unsigned words = 0;
  std::set<unsigned> counters;
  for (unsigned run = 0; run < 48; ++run) {
    const bool serial = run % 2 == 0;
    Memory memory[2];
    Config c;
    c.lru = run % 6 == 4;
    c.lambda = run % 5 == 0 ? 0 : b.random(LAMBDA_MOST + 1);
    c.vertex_sets = 1 + b.random(VERTEX_SETS);
    c.edge_sets = 1 + b.random(EDGE_SETS);
    // Lines are those of the whole array; this partition has every second one.
    c.vertex_bound = run % 4 == 0 ? 0 : run % 4 == 1 ? 2 * pads[0] : b.random(2 * pads[0]);
    c.edge_bound = run % 4 == 0 ? 0 : run % 4 == 1 ? 2 * pads[1] : b.random(2 * pads[1]);
    b.hit("bound 0", c.edge_bound == 0);
    b.reset(d.rst_i);
    c.drive(d.config_i);
    for (unsigned m = 0; m < 2; ++m) {
      memory[m].bound = m ? c.edge_bound : c.vertex_bound;
      memory[m].sets = m ? c.edge_sets : c.vertex_sets;
      memory[m].cache.assign(all_sets[m], std::vector<Way>(4));
      for (unsigned at = 0; at < pads[m]; ++at) {
        (m ? d.edge_pad_write_i : d.vertex_pad_write_i) = 1;
        d.pad_at_i = at;
        memory[m].pad.push_back(random_line(b));
        drive(d.pad_line_i, memory[m].pad.back());
        b.tick();
      }
      d.edge_pad_write_i = d.vertex_pad_write_i = 0;
    }
    for (unsigned s = 0; s < std::max(VERTEX_SETS, EDGE_SETS); ++s) { // lines of the run before
      d.forget_i = 1;
      d.forget_set_i = s;
      b.tick();
    }
    d.forget_i = 0;
    d.clear_i = 1;
    b.tick();
    d.clear_i = 0;
    b.hit("cleared", run > 0);
    b.hit("forgotten before a run", run > 0);

    auto content = [&](unsigned m, uint64_t line) -> Line & {
      auto &at = memory[m].ddr[line];
      if (at.empty()) at = random_line(b);
      return at;
    };
    // A walk over the lists of vertices, as an extender does it: the record, then the list.
    uint64_t walk = 0, walk_end = 0, walked = 0;
    const unsigned length = serial ? 4000 : 2500;
    const uint64_t last_local[2] = {(1ull << 29) - 1, (1ull << 35) - 1};
    for (unsigned n = 0;
         n < length || memory[0].out.size() || memory[1].out.size() || memory[0].request || memory[1].request;
         ++n) {
      b.check(n < length + 4000, "an access is not answered");
      // Serial runs keep one memory to one access at a time, and now and then let the other loose.
      for (unsigned m = 0; m < 2; ++m) {
        Memory &my = memory[m];
        const bool one = serial && (m == run / 2 % 2 || n / 1000 % 2 == 0);
        if (!my.request && n < length && my.out.size() < (one ? 1 : TOKENS) && b.chance(one ? 60 : 80)) {
          my.request = true;
          Access a;
          do a.token = b.random(TOKENS);
          while (my.out.count(a.token));
          uint64_t local = b.chance(1) ? last_local[m]
                           : b.random(b.chance(70) ? pads[m] + 2 * my.sets : 40);
          if (m && one && run % 8 < 4) { // the lines of a long list, again and again
            if (walk == walk_end) walk = pads[1], walk_end = pads[1] + 4 * EDGE_SETS + 8, walked = 0;
            local = walk++;
            b.hit("degree larger than the cache", ++walked > 4 * EDGE_SETS);
          }
          a.line = 2 * local + PART;
          a.word = m ? 0 : b.random(4);
          a.rank = m ? b.random(b.chance(50) ? 20 : 3000) : uint32_t(a.line * 4 + a.word);
          my.wanted = a;
        }
      }
      Access &v = memory[0].wanted, &e = memory[1].wanted;
      d.vertex_valid_i = memory[0].request;
      d.vertex_pu_i = v.token / SLOTS;
      VertexRequest{unsigned(v.token % SLOTS), uint32_t(v.line * 4 + v.word)}.drive(d.vertex_request_i);
      d.edge_valid_i = memory[1].request;
      d.edge_pu_i = e.token / SLOTS;
      EdgeRequest{unsigned(e.token % SLOTS), e.line, e.rank}.drive(d.edge_request_i);
      d.vertex_waiting_i = b.chance(30) ? b.random(PUS) : 0;
      d.edge_waiting_i = b.chance(30) ? b.random(PUS) : 0;
      b.hit("most conflicts", d.edge_waiting_i == PUS - 1);
      b.hit("conflicts in both", d.vertex_waiting_i && d.edge_waiting_i);
      memory[0].conflicts += d.vertex_waiting_i;
      memory[1].conflicts += d.edge_waiting_i;
      d.read_ready_i = b.random(4);
      // One line at a time comes from DDR, for either memory; an offer stays until it is taken.
      if (!memory[0].offered && !memory[1].offered) {
        const unsigned m = b.random(2);
        if (!memory[m].asked.empty() && b.chance(40)) {
          auto entry = memory[m].asked.begin();
          std::advance(entry, b.random(memory[m].asked.size()));
          memory[m].offered = true;
          memory[m].fill_entry = entry->first;
          d.fill_entry_i = entry->first;
          drive(d.fill_line_i, content(m, entry->second));
        }
      }
      d.fill_valid_i = memory[0].offered | memory[1].offered << 1;
      b.settle();

      b.hit("vertex and edge in one cycle", d.vertex_valid_i && d.vertex_ready_o && d.edge_valid_i && d.edge_ready_o);
      b.hit("answers in one cycle", d.vertex_valid_o && d.edge_valid_o);
      b.hit("both ask DDR in one cycle", d.read_valid_o == 3);
      for (unsigned m = 0; m < 2; ++m) {
        Memory &my = memory[m];
        Memory &its = memory[1 - m];
        // Answers
        if (m ? d.edge_valid_o : d.vertex_valid_o) {
          const auto edge = EdgeAnswer::of(d.edge_answer_o);
          const auto vertex = VertexAnswer::of(d.vertex_answer_o);
          const unsigned token = m ? d.edge_pu_o * SLOTS + edge.slot : d.vertex_pu_o * SLOTS + vertex.slot;
          b.check(my.out.count(token), "an answer that nobody waits for");
          const Access &a = my.out[token];
          const Line &line = a.line < my.bound ? my.pad[a.line / 2] : content(m, a.line);
          if (m) b.check(edge.line == line, "a wrong edge line");
          else {
            const uint32_t *word = &line[4 * a.word];
            const uint64_t offset = (word[1] * 0x100000000ull + word[0]) & ((1ull << EDGE_W) - 1);
            b.check(vertex.record == Record{offset, word[2], word[3] % (1u << LABEL_W)}, "a wrong vertex record");
            words |= 1u << a.word;
            b.hit("degree 0", line[4 * a.word] % 16 == 0);
          }
          if (a.kind < 2) {
            b.check(b.cycle - a.at == 4, "a hit takes %u cycles", unsigned(b.cycle - a.at));
            b.hit(m ? "edge hit beside vertex misses" : "vertex hit beside edge misses", its.asked.size() > 1);
          }
          if (a.kind == 2) b.check(b.cycle - a.at > 4, "a miss is as fast as a hit");
          my.out.erase(token);
        }
        // Reads
        if (d.read_valid_o >> m & 1) {
          const uint64_t line = d.read_line_o[m];
          bool needed = false;
          for (auto &[token, a] : my.out) needed |= a.line == line && line >= my.bound && a.kind != 1;
          b.check(needed, "a line is read that nobody needs");
          for (auto &[entry, under_way] : my.asked) b.check(under_way != line, "a line is read twice");
          if (d.read_ready_i >> m & 1) {
            b.check(!my.asked.count(d.read_entry_o[m]), "an entry is used twice");
            my.asked[d.read_entry_o[m]] = line;
          }
        }
        if (my.offered && (d.fill_ready_o >> m & 1)) {
          my.offered = false;
          my.asked.erase(my.fill_entry);
        }
        // Accesses
        if (my.request && (m ? d.edge_ready_o : d.vertex_ready_o)) {
          my.request = false;
          Access &a = my.wanted;
          a.at = b.cycle;
          auto &ways = my.cache[cache_set(a.line / 2, my.sets, all_sets[m])];
          a.kind = a.line < my.bound ? 0 : 3;
          my.high += a.kind == 0;
          my.other += a.kind == 3;
          b.hit(m ? "edge high hit" : "vertex high hit", a.kind == 0);
          b.hit("last line", a.line / 2 == last_local[m]);
          // Whether it is in the cache is known where nothing else was under way since the reset.
          if (serial && a.kind == 3 && m == run / 2 % 2) {
            a.kind = 2;
            for (auto &w : ways)
              if (w.valid && w.line == a.line) a.kind = 1, w.stamp = my.now;
            b.hit(m ? "edge low hit" : "vertex low hit", a.kind == 1);
            b.hit(m ? "edge miss" : "vertex miss", a.kind == 2);
            my.low += a.kind == 1;
            my.miss += a.kind == 2;
            if (a.kind == 2) {
              unsigned victim = 0;
              auto score = [&](const Way &w) {
                const uint64_t rec = my.now + 1 - w.stamp;
                return !w.valid ? ~0ull : c.lru ? rec : 8ull * w.rank + PARTITIONS * c.lambda * rec;
              };
              for (unsigned w = 1; w < 4; ++w)
                if (score(ways[w]) > score(ways[victim])) victim = w;
              ways[victim] = {true, a.line, my.now + 1, a.rank};
            }
          }
          ++my.now;
          b.check(!(serial && m == run / 2 % 2) || my.out.empty(), "the bench has two accesses under way");
          my.out[a.token] = a;
        }
      }
      b.hit("everything high", n + 1 == length && memory[1].high > 100 && memory[1].bound == 2 * pads[1]);
      b.rise();
    }
    b.check(memory[0].asked.empty() && memory[1].asked.empty(), "a line is still under way");
    // Counters: an access is counted when it is answered, at the latest; the answer comes in the next
    // cycle.
    d.vertex_waiting_i = d.edge_waiting_i = 0;
    for (unsigned at = 0; at < PARTITION_COUNTERS; ++at) {
      d.counter_at_i = at;
      b.tick();
      d.counter_at_i = b.random(PARTITION_COUNTERS);
      b.settle();
      counters.insert(at);
      const uint64_t value = d.counter_o;
      for (unsigned m = 0; m < 2; ++m) {
        const Memory &my = memory[m];
        const bool exact = serial && m == run / 2 % 2;
        static uint64_t low[2];
        if (at == (m ? CNT_PARTITION_EDGE_HIGH_HITS : CNT_PARTITION_VERTEX_HIGH_HITS))
          b.equal(value, my.high, "high hits");
        if (at == (m ? CNT_PARTITION_EDGE_LOW_HITS : CNT_PARTITION_VERTEX_LOW_HITS)) {
          if (exact) b.equal(value, my.low, "low hits");
          low[m] = value;
        }
        if (at == (m ? CNT_PARTITION_EDGE_MISSES : CNT_PARTITION_VERTEX_MISSES)) {
          if (exact) b.equal(value, my.miss, "misses");
          b.equal(value + low[m], my.other, "low hits and misses");
        }
        if (at == (m ? CNT_PARTITION_EDGE_CONFLICTS : CNT_PARTITION_VERTEX_CONFLICTS))
          b.equal(value, my.conflicts, "conflicts");
      }
    }
  }
  b.hit("every record of a line", words == 15);
  b.hit("every counter read", counters.size() == PARTITION_COUNTERS);
  return b.end();
}
