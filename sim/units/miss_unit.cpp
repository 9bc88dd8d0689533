// miss_unit against a table of lines in flight, each with the chain of those that wait for it, and a
// queue of requests that found no entry.
//
// The bench stands for the memory's pipeline: in each cycle it selects a new access, one that is
// looked up again or a line that came, nothing while a chain is answered, and three cycles later an
// access misses or not. One whose line is in flight misses; others do by chance.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include <deque>

struct Request {
  bool there = false, again = false;
  unsigned line = 0, word = 0, token = 0;
  uint32_t rank = 0;
  uint64_t head() const { return uint64_t(word) << 35 | uint64_t(rank) << 3 | token; }
};
struct Waiting { // known in cycle `at`
  uint64_t at;
  Request of;
};
struct Ask {
  unsigned entry;
  uint64_t at;
};

int main(int argc, char **argv) {
  Bench b("miss_unit",
          {"no line under way", "all entries taken", "waits for its line", "waits for an entry",
           "waits for its line while all entries are taken", "two in a row want one line",
           "all others wait for one line", "joins as its line is taken", "joins in a walk's first cycle",
           "joins in a walk's second cycle", "another miss in a walk", "longest walk",
           "another word of the line", "looked up again", "missed again", "replay waits for a walk",
           "line asked for again after its walk", "lines out of order", "reads wait",
           "each entry used", "reset", "reset in a walk", "lines at both ends"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned tokens = PUS * SLOTS;
  struct Entry {
    bool taken = false, asked = false;
    Request of;
    std::deque<Waiting> chain;
  } table[MISSES];
  std::deque<Request> queue;
  std::deque<Ask> asks;
  std::deque<unsigned> order;
  Request stages[3]; // selected one, two, three cycles ago
  std::vector<bool> busy(tokens);
  int walk = -1;
  uint64_t walk_at = 0;
  unsigned used = 0, steady = 0, walked = 0;
  int before = -1, closed = -1; // lines of the miss of the last cycle, and of the last walk
  d.miss_i = d.replay_take_i = d.read_ready_i = d.fill_take_i = 0;
  b.reset(d.rst_i);
  for (unsigned n = 0; n < 60000; ++n) {
    const unsigned phase = (n / 80) % 5;
    d.rst_i = b.chance(1) && b.chance(20);

    // The access of three cycles ago.
    Request &m = stages[2];
    unsigned taken = 0;
    int own = -1, free = -1;
    for (int e = MISSES - 1; e >= 0; --e) {
      taken += table[e].taken;
      if (table[e].taken && m.there && table[e].of.line == m.line) own = e;
      if (!table[e].taken) free = e;
    }
    const bool missed = m.there && !d.rst_i && (own >= 0 || b.chance(m.again ? 50 : 80));
    if (m.there && !missed) busy[m.token] = false; // a hit
    d.look_line_i = stages[1].line;
    d.miss_i = missed;
    d.miss_line_i = m.line;
    d.miss_head_i = m.head();
    d.read_ready_i = b.chance(phase == 1 ? 10 : 70);

    // The line that comes next.
    std::vector<unsigned> comes;
    for (unsigned e = 0; e < MISSES; ++e)
      if (table[e].asked) comes.push_back(e);
    const unsigned come = comes.empty() ? 0 : comes[b.random(comes.size())];
    d.fill_entry_i = come;
    d.fill_take_i = !d.rst_i && walk < 0 && !comes.empty() && b.chance(phase == 2 ? 3 : 20);
    d.replay_take_i = 0;
    b.settle();

    // Looked up again: only what waits, in order, and soon if there is a free entry.
    if (d.replay_valid_o) {
      b.check(!queue.empty(), "a replay of nothing");
      b.equal(d.replay_line_o, queue.front().line, "replay_line_o");
      b.equal(d.replay_head_o, queue.front().head(), "replay_head_o");
    }
    b.check(steady < 2 || d.replay_valid_o, "the head of the queue is not looked up again");
    d.replay_take_i = d.replay_valid_o && !d.rst_i && walk < 0 && !d.fill_take_i && b.chance(80);
    b.settle();

    // Reads: in their order, on the port two cycles after the miss at the latest.
    b.check(!d.read_valid_o || !asks.empty(), "a read that nobody needs");
    b.check(d.read_valid_o || asks.empty() || b.cycle < asks.front().at + 2, "a read is not begun");
    if (d.read_valid_o) {
      b.equal(d.read_entry_o, asks.front().entry, "read_entry_o");
      b.equal(d.read_line_o, table[asks.front().entry].of.line, "read_line_o");
      b.hit("reads wait", asks.size() == MISSES);
    }
    // The line and the first of its chain, then the others.
    if (d.fill_take_i) {
      b.equal(d.fill_line_o, table[come].of.line, "fill_line_o");
      b.equal(d.fill_head_o, table[come].of.head(), "fill_head_o");
    }
    b.equal(d.walking_o, walk >= 0, "walking_o");
    const bool next = walk >= 0 && !table[walk].chain.empty() && table[walk].chain.front().at < b.cycle;
    b.equal(d.chain_valid_o, next, "chain_valid_o");
    if (next) {
      const Request &of = table[walk].chain.front().of;
      b.equal(d.chain_token_o, of.token, "chain_token_o");
      b.equal(d.chain_word_o, of.word, "chain_word_o");
      b.hit("another word of the line", of.word != table[walk].of.word);
    }

    b.hit("no line under way", taken == 0);
    b.hit("all entries taken", taken == MISSES);
    b.hit("waits for its line", missed && own >= 0);
    b.hit("waits for an entry", missed && own < 0 && free < 0);
    b.hit("waits for its line while all entries are taken", missed && own >= 0 && free < 0);
    b.hit("two in a row want one line", missed && own >= 0 && before == int(m.line));
    b.hit("joins as its line is taken", missed && d.fill_take_i && own == int(come));
    b.hit("joins in a walk's first cycle", missed && own >= 0 && own == walk && b.cycle == walk_at + 1);
    b.hit("joins in a walk's second cycle", missed && own >= 0 && own == walk && b.cycle == walk_at + 2);
    b.hit("another miss in a walk", missed && walk >= 0 && own != walk);
    b.hit("looked up again", d.replay_take_i);
    b.hit("missed again", missed && m.again);
    b.hit("replay waits for a walk", d.replay_valid_o && walk >= 0);
    b.hit("line asked for again after its walk", missed && own < 0 && free >= 0 && closed == int(m.line));
    b.hit("lines out of order", d.fill_take_i && order.front() != come);
    b.hit("reset", d.rst_i && taken);
    b.hit("reset in a walk", d.rst_i && walk >= 0);

    // What is selected now. A slot has one access at a time.
    Request select;
    if (d.rst_i) {
      for (auto &e : table) e = {};
      for (auto &s : stages) s = {};
      queue.clear(), asks.clear(), order.clear();
      busy.assign(tokens, false);
      walk = before = closed = -1;
      steady = 0;
    } else {
      steady = !queue.empty() && free >= 0 && !d.replay_take_i ? steady + 1 : 0;
      if (d.replay_take_i) {
        select = queue.front();
        select.there = select.again = true;
        queue.pop_front();
      } else if (walk < 0 && !d.fill_take_i && !d.replay_valid_o && b.chance(phase == 3 ? 20 : 90)) {
        const unsigned token = b.random(tokens);
        if (!busy[token]) {
          busy[token] = true;
          // Lines at both ends of the range, so that each bit of an address tells two of them apart.
          const unsigned at = b.random(phase == 0 ? 2 : phase == 4 ? 1 : 12);
          const unsigned line = at % 2 == 0 ? at / 2 : 1u << (3 + at / 2 % 5) | at / 2;
          b.hit("lines at both ends", line >= 128);
          select = {true, false, line, unsigned(b.random(4)), token, uint32_t(b.random())};
        }
      }
      if (d.read_valid_o && d.read_ready_i) {
        table[asks.front().entry].asked = true;
        asks.pop_front();
      }
      if (next) {
        busy[table[walk].chain.front().of.token] = false;
        table[walk].chain.pop_front();
        ++walked;
      }
      if (missed) {
        if (own >= 0) {
          table[own].chain.push_back({b.cycle, m});
          b.hit("all others wait for one line", table[own].chain.size() == tokens - 1);
        } else if (free < 0) queue.push_back(m);
        else {
          table[free] = {true, false, m, {}};
          asks.push_back({unsigned(free), b.cycle});
          order.push_back(free);
          used |= 1u << free;
        }
      }
      // A walk lasts until all that were selected before the line are answered, two cycles at least.
      if (walk >= 0 && b.cycle >= walk_at + 2 && table[walk].chain.empty()) {
        b.hit("longest walk", walked == tokens - 1);
        closed = table[walk].of.line;
        table[walk] = {};
        walk = -1;
      }
      if (d.fill_take_i) {
        table[come].asked = false;
        busy[table[come].of.token] = false;
        for (size_t i = 0; i < order.size(); ++i)
          if (order[i] == come) order.erase(order.begin() + i--);
        walk = come;
        walk_at = b.cycle;
        walked = 0;
      }
      before = missed ? int(m.line) : -1;
    }
    stages[2] = stages[1], stages[1] = stages[0], stages[0] = select;
    b.hit("each entry used", used == (1u << MISSES) - 1);
    b.rise();
  }
  return b.end();
}
