// set_reached against a list for each bank.
#include "bench.hpp"
#include "gramer_pkg.hpp"

int main(int argc, char **argv) {
  Bench b("set_reached",
          {"nothing reached", "a bank alone", "all banks at once", "banks of different length", "a full bank",
           "more than a bank has room for", "a row read while something is noted", "rows read one after another",
           "cleared"},
          argc, argv);
  auto &d = *b.dut;
  struct Vertex {
    uint32_t at, up;
  };
  std::vector<std::vector<Vertex>> lists(MAP_BANKS);
  const uint32_t places = MAP_WORDS * MAP_ENTRIES;
  d.note_i = d.clear_i = d.read_i = 0;
  b.reset(d.rst_i);
  auto tick = [&] {
    b.settle();
    b.rise();
    d.note_i = d.clear_i = d.read_i = 0;
  };
  auto note = [&](bool all) {
    for (unsigned v = 0; v < MAP_BANKS; ++v) {
      d.at_i[v] = b.random(places);
      d.up_i[v] = 1 + b.random(63);
      if (!all && !b.chance(30)) continue;
      d.note_i |= 1u << v;
      if (lists[v].size() < REACHED) lists[v].push_back({d.at_i[v], d.up_i[v]});
    }
  };
  auto row = [&](unsigned at) {
    d.row_i = at;
    d.read_i = 1;
    const bool more = b.chance(20);
    std::vector<std::vector<Vertex>> then = lists;
    if (more) note(false), b.hit("a row read while something is noted", d.note_i);
    tick();
    if (b.chance(50)) d.row_i = b.random(REACHED); // not read
    tick();
    for (unsigned v = 0; v < MAP_BANKS; ++v) {
      b.equal(d.there_o >> v & 1, at < then[v].size(), "there_o");
      if (at >= then[v].size()) continue;
      b.equal(d.at_o[v], then[v][at].at, "at_o");
      b.equal(d.up_o[v], then[v][at].up, "up_o");
    }
  };
  for (int n = 0; n < 600; ++n) {
    const unsigned notes = b.random(3 * REACHED);
    bool over = false;
    for (unsigned i = 0; i < notes; ++i) {
      const bool all = n % 3 == 0, one = n % 3 == 1;
      std::vector<size_t> before;
      for (auto &list : lists) before.push_back(list.size());
      if (one) {
        const unsigned v = b.random(MAP_BANKS);
        d.at_i[v] = b.random(places);
        d.up_i[v] = 1 + b.random(63);
        d.note_i = 1u << v;
        if (lists[v].size() < REACHED) lists[v].push_back({d.at_i[v], d.up_i[v]});
        b.hit("a bank alone");
      } else note(all);
      b.hit("all banks at once", all);
      for (unsigned v = 0; v < MAP_BANKS; ++v)
        over |= (d.note_i >> v & 1) && before[v] == REACHED;
      // Mostly it ends before that.
      if (over && n % 10) {
        for (unsigned v = 0; v < MAP_BANKS; ++v) lists[v].resize(before[v]);
        d.note_i = 0;
        over = false;
        break;
      }
      tick();
      if (over) break;
    }
    tick();
    b.check(!d.busy_o, "something is on its way");
    size_t most = 0, least = REACHED;
    for (auto &list : lists) most = std::max(most, list.size()), least = std::min(least, list.size());
    b.equal(d.rows_o, most, "rows_o");
    b.equal(d.full_o, over, "full_o");
    b.hit("nothing reached", most == 0);
    b.hit("banks of different length", least < most);
    b.hit("a full bank", most == REACHED && !over);
    b.hit("more than a bank has room for", over);
    if (over) {
      b.reset(d.rst_i);
      for (auto &list : lists) list.clear();
      continue;
    }
    for (unsigned at = 0; at < most; ++at) row(at), b.hit("rows read one after another", at > 0);
    tick();
    if (d.full_o) {
      b.reset(d.rst_i);
      for (auto &list : lists) list.clear();
      continue;
    }
    d.clear_i = 1;
    tick();
    for (auto &list : lists) list.clear();
    b.hit("cleared");
  }
  return b.end();
}
