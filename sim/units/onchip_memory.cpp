// onchip_memory with scratchpad, cache, replacement and miss unit, against a model of what it
// promises: lines below the bound are in the scratchpad, the others in a four-way cache whose
// victim is the way with the largest Rank + lambda * Rec (or the one unused for longest), Rec being
// taken PARTITIONS times; answers four cycles after an access is taken, hits pass misses.
//
// A request whose line is in flight is answered by that line, even if it is evicted meanwhile.
//
// The model takes the accesses in the order in which the module selects them. That order shows at
// the pins: a request when it is taken, a line from DDR in the cycle after it was handed over, those
// that wait for it right behind it, one a cycle, and otherwise, while ready_o is low, the head of
// the queue of those that found no entry. A fill looks at the references of the cycles before the
// last two.
//
// Weights are aged often here: the model does it in the cycle in which the module begins, and also
// keeps what they would be without. Victims must be those of the latter wherever all four lines
// were referenced in the last quarter of the weights' range.
#include "messages.hpp"
#include <deque>
#include <set>

const unsigned weight_bits = STAMP_W + clog2(LAMBDA_MOST + 1);
const uint64_t range = 1ull << weight_bits; // of a weight
uint64_t aged(uint64_t weight) { return weight < range / 2 ? 0 : weight - range / 2; }
const unsigned SETS = 4, PAD = 4, TOKENS = 8, PART = 1; // line = 2 * local + PART

struct Access {
  unsigned line, word, rank, token;
};
struct Way {
  bool valid = false;
  unsigned line = 0, rank = 0;
  uint64_t stamp = 0, whole = 0; // its weight, and what it would be if it were never aged
};
struct Waiting { // for a line that is in flight, known in cycle `at`
  uint64_t at;
  Access of;
};
struct Answer {
  uint64_t at;
  unsigned token;
  std::vector<uint32_t> data;
};
struct Reference { // of a way, by an access selected in cycle `at`
  uint64_t at;
  unsigned set, way;
  uint64_t stamp, whole;
};

Bench start(int argc, char **argv) {
  if (UNIFORM)
    return Bench("uniform_memory",
                 {"bound 0", "line below the bound in the cache", "low hit", "miss", "each way evicted",
                  "victim under LRU", "largest lambda", "all sets in use", "every set filled",
                  "a hit passes a miss", "waits for its line", "several wait for one line",
                  "joins while its chain is answered", "another word of the line",
                  "waits for an entry", "looked up again and hit", "looked up again and missed",
                  "forgotten before a run", "weights are aged", "victim by weights that were aged",
                  "lines that are equally old once aged"},
                 argc, argv);
  return Bench("onchip_memory",
               {"high hit", "low hit", "miss", "each way evicted", "victim by rank, not the oldest",
                "victim by age, not by rank", "victim under LRU", "lambda 0", "largest lambda",
                "bound 0", "whole scratchpad high", "bound between two lines", "one set in use",
                "three sets in use", "all sets in use", "every set filled", "a hit passes a miss",
                "waits for its line", "several wait for one line",
                "waits for its line while all entries are taken", "joins while its chain is answered",
                "another word of the line", "waits for an entry", "looked up again and hit",
                "looked up again and missed", "lines out of order", "accesses in a row",
                "request waits for a fill", "request waits for a chain", "a line waits for a chain",
                "last line", "working set larger than the cache", "forgotten before a run",
                "weights are aged", "victim by weights that were aged",
                "lines that are equally old once aged", "request waits for weights to be aged",
                "a line waits for weights to be aged"},
               argc, argv);
}

int main(int argc, char **argv) {
  Bench b = start(argc, argv);
  auto met = [&](const char *point, bool is = true) { // the points of the locality layout alone
    if (!UNIFORM) b.hit(point, is);
  };
  auto &d = *b.dut;
  std::vector<Line> pad(PAD), ddr(128);
  std::set<unsigned> evicted_ways, filled_sets;
  d.valid_i = d.forget_i = d.pad_write_i = d.read_ready_i = d.fill_valid_i = 0;
  for (unsigned run = 0; run < 60; ++run) {
    b.reset(d.rst_i);
    d.lru_i = run % 4 == 3;
    d.lambda_i = run % 5 == 0   ? 0
                 : run % 5 == 1 ? LAMBDA_MOST
                 : run % 5 == 2 ? 8
                                : b.random(LAMBDA_MOST + 1);
    const unsigned sets = 1 + run % SETS;
    d.sets_i = sets;
    d.bound_i = run % 6 == 0 ? 0 : run % 6 == 1 ? 2 * PAD : b.random(2 * PAD + 1);
    for (unsigned s = 0; s < SETS; ++s) { // contents of the run before
      d.forget_i = 1;
      d.forget_set_i = s;
      b.tick();
    }
    d.forget_i = 0;
    for (unsigned at = 0; at < PAD; ++at) {
      d.pad_write_i = 1;
      d.pad_at_i = at;
      drive(d.pad_line_i, pad[at] = random_line(b));
      b.tick();
    }
    d.pad_write_i = 0;
    for (auto &line : ddr) line = random_line(b);
    met("lambda 0", !d.lru_i && d.lambda_i == 0);
    b.hit("largest lambda", !d.lru_i && d.lambda_i == LAMBDA_MOST);
    b.hit("bound 0", d.bound_i == 0);
    met("whole scratchpad high", d.bound_i == 2 * PAD);
    met("bound between two lines", d.bound_i > 0 && d.bound_i % 2 == 0 && d.bound_i < 2 * PAD);
    met("one set in use", sets == 1);
    met("three sets in use", sets == 3);
    b.hit("all sets in use", sets == SETS);
    b.hit("forgotten before a run", run > 0);

    Way cache[SETS][4];
    std::vector<Reference> late; // references that no fill may see yet
    uint64_t now = 0, whole = 0; // weight of the accesses so far, and without ageing
    const uint64_t step = d.lru_i ? LAMBDA_MOST : d.lambda_i;
    uint64_t hold_at = 0;  // cycle from which on nothing is selected, until the weights are aged
    uint64_t sweep_at = 0; // cycle in which that begins
    uint64_t last_at = 0;  // cycle in which something was selected
    struct { bool taken = false, asked = false; Access of{}; std::deque<Waiting> chain; } entry[MISSES];
    std::deque<Access> waiting;
    std::deque<unsigned> asks, order;
    std::deque<Answer> answers;
    std::set<unsigned> out;    // tokens that have an access
    std::deque<uint64_t> ev_at; // events of new accesses
    std::deque<int> ev;
    int held = -1;           // entry of the line that was handed over, until it is written
    bool selected = false;   // it has been
    int walk = -1;           // entry whose chain is answered
    uint64_t fill_at = 0;    // cycle in which its line was selected
    unsigned in_a_row = 0;
    const unsigned locals = run % 3 == 0 ? 20 : run % 3 == 1 ? 48 : 128;
    const unsigned length = 1500;
    const bool crowded = run % 6 == 5; // nearly all want the same line, and lines come together
    unsigned wanted_by_all = 0;
    bool request = false;
    Access wanted{};
    std::vector<unsigned> seen(128);
    for (unsigned n = 0; n < length || request || !out.empty(); ++n) {
      b.check(n < length + 3000, "an access is not answered");
      const unsigned phase = (n / 100) % 3;
      if (!request && n < length && out.size() < TOKENS && b.chance(phase == 0 ? 100 : 60)) {
        request = true;
        unsigned token;
        do token = b.random(TOKENS);
        while (out.count(token));
        unsigned local = b.chance(5) ? locals - 1 : b.chance(50) ? b.random(8) : b.random(locals);
        if (n % 40 == 0) wanted_by_all = b.random(locals);
        if (crowded && b.chance(80)) local = wanted_by_all;
        wanted = {2 * local + PART, unsigned(b.random(4)), unsigned(b.random(run % 2 ? 40 : 2000)), token};
      }
      d.valid_i = request;
      d.line_i = wanted.line;
      d.word_i = wanted.word;
      d.rank_i = wanted.rank;
      d.pu_i = wanted.token / 4;
      d.slot_i = wanted.token % 4;
      d.read_ready_i = b.chance(phase == 1 ? 30 : 80);
      if (!d.fill_valid_i) {
        std::vector<unsigned> comes;
        for (unsigned e = 0; e < MISSES; ++e)
          if (entry[e].asked) comes.push_back(e);
        unsigned often = phase == 2 ? 10 : 30;
        if (crowded) often = out.size() == TOKENS || b.cycle < fill_at + 8 ? 80 : 2;
        if (!comes.empty() && b.chance(often)) {
          d.fill_valid_i = 1;
          d.fill_entry_i = comes[b.random(comes.size())];
          drive(d.fill_line_i, ddr[entry[d.fill_entry_i].of.line / 2]);
        }
      }
      b.settle();

      // Answers: exactly those due, with their data.
      const bool due = !answers.empty() && answers.front().at == b.cycle;
      b.equal(d.valid_o, due, "valid_o");
      if (due) {
        const Answer &a = answers.front();
        b.equal(d.pu_o * 4 + d.slot_o, a.token, "requester");
        b.check(line_of(d.answer_o, 4) == a.data, "wrong data");
        out.erase(a.token);
        answers.pop_front();
      }
      int event = -1;
      if (!ev_at.empty() && ev_at.front() == b.cycle) {
        event = ev.front();
        ev.pop_front(), ev_at.pop_front();
      }
      b.equal(d.high_hit_o, event == 0, "high_hit_o");
      b.equal(d.low_hit_o, event == 1, "low_hit_o");
      b.equal(d.missed_o, event == 2, "missed_o");

      // Reads.
      if (d.read_valid_o) {
        b.check(!asks.empty(), "a read that nobody needs");
        b.equal(d.read_entry_o, asks.front(), "read_entry_o");
        b.equal(d.read_line_o, entry[asks.front()].of.line, "read_line_o");
      }

      // What is selected in this cycle.
      const bool walking = walk >= 0;
      // References become visible to fills three cycles later.
      for (size_t i = 0; i < late.size();)
        if (late[i].at + 3 <= b.cycle) {
          Way &way = cache[late[i].set][late[i].way];
          way.stamp = late[i].stamp, way.whole = late[i].whole;
          late.erase(late.begin() + i);
        } else ++i;
      if (sweep_at && b.cycle == sweep_at + SETS + 2) hold_at = sweep_at = 0;
      const bool hold = hold_at && b.cycle >= hold_at;
      if (hold && !sweep_at && !walking && b.cycle >= last_at + 4) {
        b.check(late.empty(), "the bench ages what isn't written");
        sweep_at = b.cycle;
        now = aged(now);
        for (auto &ways : cache)
          for (auto &way : ways) way.stamp = aged(way.stamp);
        b.hit("weights are aged");
      }
      const bool fill = !walking && !hold && held >= 0 && !selected;
      const bool taken = request && d.ready_o;
      b.check(!(d.ready_o && (fill || walking || hold)), "an access is taken beside a fill or a sweep");
      const bool replay = !d.ready_o && !fill && !walking && !hold;
      met("request waits for weights to be aged", request && sweep_at);
      met("a line waits for weights to be aged", held >= 0 && !selected && sweep_at);
      met("request waits for a fill", request && fill);
      met("a line waits for a chain", walking && held >= 0 && !selected);
      in_a_row = taken ? in_a_row + 1 : 0;
      met("accesses in a row", in_a_row >= 6);
      auto set_of = [&](unsigned line) { return cache_set(line / 2, sets, SETS); };
      auto words = [&](const Line &line, unsigned word) {
        return std::vector<uint32_t>(line.begin() + 4 * word, line.begin() + 4 * word + 4);
      };
      if (fill) {
        const Access &a = entry[held].of;
        auto &ways = cache[set_of(a.line)];
        int victim = -1;
        for (int w = 0; w < 4 && victim < 0; ++w)
          if (!ways[w].valid) victim = w;
        if (victim < 0) {
          auto scored = [&](unsigned rank, uint64_t age) {
            return d.lru_i ? age : 8ull * rank + PARTITIONS * age;
          };
          auto score = [&](const Way &w) { return scored(w.rank, now - w.stamp); };
          int oldest = 0, least = 0;
          victim = 0;
          for (int w = 1; w < 4; ++w) {
            if (score(ways[w]) > score(ways[victim])) victim = w;
            if (ways[w].stamp < ways[oldest].stamp) oldest = w;
            if (ways[w].rank > ways[least].rank) least = w;
          }
          // What the ageing keeps, and what it gives up.
          int never_aged = 0;
          bool recent = true, equally_old = false;
          for (int w = 0; w < 4; ++w) {
            if (scored(ways[w].rank, whole - ways[w].whole) >
                scored(ways[never_aged].rank, whole - ways[never_aged].whole))
              never_aged = w;
            recent &= whole - ways[w].whole <= range / 4;
            for (int v = 0; v < w; ++v)
              equally_old |= ways[v].stamp == ways[w].stamp && ways[v].whole != ways[w].whole;
          }
          b.check(!recent || victim == never_aged, "a victim that ageing has changed");
          b.hit("victim by weights that were aged", recent && now != whole);
          b.hit("lines that are equally old once aged", equally_old);
          b.hit("victim under LRU", d.lru_i);
          met("victim by rank, not the oldest",
                !d.lru_i && ways[victim].stamp != ways[oldest].stamp && victim == least);
          met("victim by age, not by rank",
                !d.lru_i && ways[victim].rank != ways[least].rank && victim == oldest);
          evicted_ways.insert(victim);
        }
        ways[victim] = {true, a.line, a.rank, now, whole};
        last_at = b.cycle;
        for (size_t i = 0; i < late.size();) // of the line that has gone: written before it
          if (late[i].set == set_of(a.line) && late[i].way == unsigned(victim)) late.erase(late.begin() + i);
          else ++i;
        filled_sets.insert(set_of(a.line));
        answers.push_back({b.cycle + 4, a.token, words(ddr[a.line / 2], a.word)});
        for (size_t i = 0; i < order.size(); ++i)
          if (order[i] == unsigned(held)) {
            met("lines out of order", i != 0);
            order.erase(order.begin() + i--);
          }
        selected = true;
        walk = held;
        fill_at = b.cycle;
      } else if (walking) {
        // One a cycle once they are known to wait; for at least two cycles.
        auto &chain = entry[walk].chain;
        met("request waits for a chain", request && b.cycle > fill_at + 2);
        if (!chain.empty() && chain.front().at < b.cycle) {
          const Access &a = chain.front().of;
          answers.push_back({b.cycle + 4, a.token, words(ddr[a.line / 2], a.word)});
          b.hit("joins while its chain is answered", chain.front().at > fill_at);
          b.hit("another word of the line", a.word != entry[walk].of.word);
          chain.pop_front();
          last_at = b.cycle;
        }
        if (b.cycle >= fill_at + 2 && chain.empty()) {
          entry[walk] = {};
          walk = -1;
        }
      } else if (taken || replay) {
        last_at = b.cycle;
        Access a = wanted;
        if (replay) {
          b.check(!waiting.empty(), "not ready without a reason");
          a = waiting.front();
          waiting.pop_front();
        }
        auto &ways = cache[set_of(a.line)];
        int way = -1;
        for (int w = 0; w < 4; ++w)
          if (ways[w].valid && ways[w].line == a.line) way = w;
        const bool high = !UNIFORM && a.line < d.bound_i;
        int kind = high ? 0 : way >= 0 ? 1 : 2;
        if (taken) {
          request = false;
          out.insert(a.token);
          ev.push_back(kind), ev_at.push_back(b.cycle + 4);
          met("last line", a.line == 255);
          met("high hit", kind == 0);
          b.hit("low hit", kind == 1);
          if (UNIFORM) b.hit("line below the bound in the cache", kind == 1 && a.line < d.bound_i);
          b.hit("miss", kind == 2);
          b.hit("a hit passes a miss", kind < 2 && (!order.empty() || !waiting.empty()));
          met("working set larger than the cache", kind == 2 && seen[a.line / 2]);
          seen[a.line / 2] = 1;
        } else {
          b.hit("looked up again and hit", kind == 1);
          b.hit("looked up again and missed", kind == 2);
        }
        if (kind == 0) answers.push_back({b.cycle + 4, a.token, words(pad[a.line / 2], a.word)});
        if (kind == 1) {
          answers.push_back({b.cycle + 4, a.token, words(ddr[a.line / 2], a.word)});
          late.push_back({b.cycle, set_of(a.line), unsigned(way), now, whole});
        }
        if (kind == 2) {
          int free = -1;
          int own = -1;
          for (int e = MISSES - 1; e >= 0; --e) {
            if (!entry[e].taken) free = e;
            if (entry[e].taken && entry[e].of.line == a.line) own = e;
          }
          b.hit("waits for its line", own >= 0);
          b.hit("waits for an entry", own < 0 && free < 0);
          met("waits for its line while all entries are taken", own >= 0 && free < 0);
          if (own >= 0) {
            b.hit("several wait for one line", entry[own].chain.size() >= 2);
            entry[own].chain.push_back({b.cycle + 3, a});
          } else if (free < 0) waiting.push_back(a);
          else {
            entry[free].taken = true;
            entry[free].of = a;
            asks.push_back(free);
            order.push_back(free);
          }
        }
        if (taken) {
          now += step, whole += step;
          if (now >= range / 4 * 3 && !hold_at) hold_at = b.cycle + 4;
        }
      }
      if (d.read_valid_o && d.read_ready_i) {
        entry[asks.front()].asked = true;
        asks.pop_front();
      }
      const bool handed = d.fill_valid_i && d.fill_ready_o;
      if (handed) {
        b.check(held < 0, "a line is taken while one is being written");
        held = d.fill_entry_i;
        selected = false;
        entry[held].asked = false;
      } else if (selected && b.cycle == fill_at + 3) held = -1;
      b.rise();
      if (handed) d.fill_valid_i = 0;
    }
    b.check(waiting.empty() && asks.empty() && order.empty(), "something is left over");
  }
  b.hit("each way evicted", evicted_ways.size() == 4);
  b.hit("every set filled", filled_sets.size() == SETS);
  return b.end();
}
