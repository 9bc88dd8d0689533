// miss_unit against a table of lines under way and a queue of requests that wait.
#include "bench.hpp"
#include <deque>

struct Request {
  unsigned line, head;
};

int main(int argc, char **argv) {
  Bench b("miss_unit",
          {"no line under way", "all entries taken", "waits for its line", "waits for an entry",
           "all others wait for one line", "looked up again", "missed again", "miss while a line comes",
           "miss on the line that comes", "answers out of order", "each entry used", "reset"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned entries = 4, tokens = 8;
  struct Entry {
    bool taken = false, asked = false;
    Request of{};
  } table[entries];
  std::deque<Request> waiting, asks, again;
  std::deque<unsigned> oldest;
  unsigned used = 0, steady = 0, outstanding = 0;
  d.miss_i = d.replay_take_i = d.read_ready_i = d.filled_i = 0;
  b.reset(d.rst_i);
  for (unsigned n = 0; n < 40000; ++n) {
    const unsigned phase = (n / 60) % 4;
    d.rst_i = b.chance(1) && b.chance(10);
    unsigned taken = 0;
    for (auto &e : table) taken += e.taken;
    // A request that was looked up again may miss again; else it has been answered.
    const bool retry = !again.empty();
    Request r{};
    if (retry) r = again.front();
    else r = {unsigned(b.random(phase == 0 ? 2 : 12)), unsigned(b.random(256))};
    d.miss_i = !d.rst_i && (retry ? true : outstanding < tokens && b.chance(phase == 3 ? 20 : 80));
    d.miss_line_i = r.line;
    d.miss_head_i = r.head;
    if (retry) again.pop_front();
    d.read_ready_i = b.chance(phase == 1 ? 10 : 70);
    std::vector<unsigned> comes;
    for (unsigned e = 0; e < entries; ++e)
      if (table[e].asked) comes.push_back(e);
    d.filled_i = !d.rst_i && !comes.empty() && b.chance(phase == 2 ? 5 : 30);
    d.filled_entry_i = comes.empty() ? 0 : comes[b.random(comes.size())];
    d.fill_entry_i = d.filled_entry_i;
    d.replay_take_i = 0;
    b.settle();
    bool under_way = false;
    for (auto &e : table) under_way |= e.taken && e.of.line == r.line;
    // Replay: only what waits, in order; and at once if nothing keeps the head back.
    if (d.replay_valid_o) {
      b.check(!waiting.empty(), "a replay of nothing");
      b.equal(d.replay_line_o, waiting.front().line, "replay_line_o");
      b.equal(d.replay_head_o, waiting.front().head, "replay_head_o");
    }
    bool may = !waiting.empty() && taken < entries;
    for (auto &e : table) may &= waiting.empty() || !e.taken || e.of.line != waiting.front().line;
    b.check(!(steady > 1) || d.replay_valid_o, "the head of the queue is not looked up again");
    d.replay_take_i = d.replay_valid_o && !d.rst_i && again.empty() && b.chance(70);
    b.settle();
    b.equal(d.read_valid_o, !asks.empty(), "read_valid_o");
    if (!asks.empty()) {
      b.equal(d.read_entry_o, asks.front().head, "read_entry_o");
      b.equal(d.read_line_o, asks.front().line, "read_line_o");
    }
    if (d.filled_i) {
      b.equal(d.fill_line_o, table[d.fill_entry_i].of.line, "fill_line_o");
      b.equal(d.fill_head_o, table[d.fill_entry_i].of.head, "fill_head_o");
    }
    b.hit("no line under way", taken == 0);
    b.hit("all entries taken", taken == entries);
    b.hit("waits for its line", d.miss_i && under_way);
    b.hit("waits for an entry", d.miss_i && !under_way && taken == entries);
    b.hit("all others wait for one line", waiting.size() == tokens - 1);
    b.hit("looked up again", d.replay_take_i);
    b.hit("missed again", retry);
    b.hit("miss while a line comes", d.miss_i && d.filled_i);
    b.hit("miss on the line that comes",
          d.miss_i && d.filled_i && table[d.filled_entry_i].of.line == r.line);
    b.hit("answers out of order", d.filled_i && oldest.front() != d.filled_entry_i);
    b.hit("reset", d.rst_i && taken);
    if (d.rst_i) {
      for (auto &e : table) e = {};
      waiting.clear(), asks.clear(), again.clear(), oldest.clear();
      steady = outstanding = 0;
    } else {
      steady = may && !d.replay_take_i && !d.miss_i ? steady + 1 : 0;
      // Answers and the requests that are looked up again as they are before this edge.
      if (d.replay_take_i) {
        bool there = false; // looked up: answered from the cache, or missed again
        const Request head = waiting.front();
        waiting.pop_front();
        there = b.chance(50);
        if (there) --outstanding;
        else again.push_back(head);
      }
      if (d.read_valid_o && d.read_ready_i) {
        table[asks.front().head].asked = true;
        asks.pop_front();
      }
      // The entry that a begun read takes is the module's choice, so it is read from its port
      // later; here it is the lowest that is free.
      if (d.miss_i) {
        outstanding += !retry;
        if (under_way || taken == entries) waiting.push_back(r);
        else
          for (unsigned e = 0; e < entries; ++e)
            if (!table[e].taken) {
              table[e] = {true, false, r};
              asks.push_back({r.line, e});
              oldest.push_back(e);
              used |= 1u << e;
              break;
            }
      }
      if (d.filled_i) {
        table[d.filled_entry_i] = {};
        for (size_t i = 0; i < oldest.size(); ++i)
          if (oldest[i] == d.filled_entry_i) oldest.erase(oldest.begin() + i--);
        --outstanding;
      }
    }
    b.hit("each entry used", used == (1u << entries) - 1);
    b.rise();
  }
  return b.end();
}
