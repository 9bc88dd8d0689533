// scheduler with its slots, candidates and ancestors, against the search that it has to direct. The
// bench is its extender, filter and embedding table, over trees that it makes up: every embedding
// has an id of its own as its newest vertex. Checked: each edge of each list that belongs to an
// embedding is walked exactly once, with any steals; every extension names its embedding, its
// threshold and its key; slots freed are units and stolen embeddings; no unit before `oldest_o` is
// unfinished when a run is killed.
#include "messages.hpp"
#include <algorithm>
#include <deque>
#include <set>

struct Node {
  std::vector<unsigned> chain; // of embeddings, from the start vertex to this one
  unsigned i = 0, unit = 0, key = 0;
  uint64_t edge = 0; // that led to it, in list i of its parent
  uint32_t id = 0;
  Record record;
};
struct Unit {
  uint32_t start = 0, first = 0, limit = 0, ordinal = 0;
};
struct Lane {
  uint32_t id = 0, degree = 0;
  uint64_t offset = 0;
  unsigned key = 0;
};
/// row_t, the state that is saved with an ancestor where it isn't compacted. Its last lane comes first.
template <class P> void drive_row(P &pin, const std::vector<Lane> &row) {
  std::vector<Field> ids, offsets, degrees, keys;
  for (size_t j = DEPTH; j-- > 0;) {
    ids.push_back({row[j].id, 32});
    offsets.push_back({row[j].offset, EDGE_W});
    degrees.push_back({row[j].degree, 32});
    keys.push_back({row[j].key, KEY_W});
  }
  for (auto *more : {&offsets, &degrees, &keys}) ids.insert(ids.end(), more->begin(), more->end());
  pack(pin, ids);
}
template <class P> std::vector<Lane> row_of(const P &pin) {
  std::vector<unsigned> widths;
  for (unsigned width : {32u, EDGE_W, 32u, KEY_W}) widths.insert(widths.end(), DEPTH, width);
  const auto fields = unpack(pin, widths);
  std::vector<Lane> row(DEPTH);
  for (size_t j = 0, at = DEPTH - 1; j < DEPTH; ++j, --at)
    row[j] = {uint32_t(fields[at]), uint32_t(fields[2 * DEPTH + at]), fields[DEPTH + at],
              unsigned(fields[3 * DEPTH + at])};
  return row;
}
/// A slot's token while the bench holds it.
struct Token {
  unsigned slot = 0, node = 0;
  bool root = false;
  Cursor cursor;
  uint64_t ready = 0;
};

int main(int argc, char **argv) {
  Bench b("scheduler",
          {"start vertex of degree 0", "unit beyond the list", "unit ends before its list",
           "deepest embedding", "traced back over several levels", "one slot", "fewer slots than all",
           "all slots busy", "unit waits for a slot", "last work unit", "result and end in one cycle",
           "steal of several edges", "steal of one edge", "steal of the lists after",
           "steal of an unfinished root's list", "steal from a thief", "steal that finds nothing",
           "steals in ascending order", "steals in descending order", "no stealing", "list 0 narrowed",
           "list 0 whole again", "last list of an embedding", "killed while all slots are busy",
           "killed while a unit waits", "killed with nothing under way", "killed while slots are stolen",
           "run after a killed one", "reset while a unit waits"},
          argc, argv);
  auto &d = *b.dut;
  d.clear_i = d.kill_i = d.unit_valid_i = d.result_valid_i = d.ended_valid_i = 0;
  bool was_killed = false;
  b.reset(d.rst_i);
  for (unsigned run = 0; run < 400; ++run) {
    Config c;
    c.app = run % 3 == 0 ? CLIQUE : MOTIF;
    const bool deep = run % 12 == 0;
    c.k = deep ? DEPTH : std::min<unsigned>(DEPTH, 3 + b.random(c.app == CLIQUE ? 4 : 3));
    c.ascending = b.random(2);
    c.stealing = run % 7 != 0;
    c.slots = b.chance(60) ? SLOTS : 1 + b.random(SLOTS);
    c.drive(d.config_i);
    const unsigned accepts = deep ? 8 : b.chance(50) ? 30 : 70, rejects = b.random(60);
    const unsigned most = deep ? 18 : c.k > 4 ? 4 : 7, least = deep ? 15 : 0;
    d.clear_i = 1;
    b.tick();
    d.clear_i = 0;
    b.hit("run after a killed one", was_killed);
    b.hit("one slot", c.slots == 1);
    b.hit("fewer slots than all", c.slots > 1 && c.slots < SLOTS);
    b.hit("no stealing", !c.stealing);

    std::vector<Unit> units(deep ? 2 : 1 + b.random(12));
    std::set<uint32_t> used;
    auto fresh = [&] {
      uint32_t id;
      do id = uint32_t(b.random());
      while (!used.insert(id).second);
      return id;
    };
    auto record = [&] {
      return Record{b.random((1ull << EDGE_W) - 64), uint32_t(least + b.random(most - least + 1)),
                    uint32_t(b.random(1 << LABEL_W))};
    };
    for (size_t u = 0; u < units.size(); ++u) {
      units[u] = {fresh(), 0, ~0u, uint32_t(u + (run % 2 ? 0 : 1000))};
      if (!deep && b.chance(40)) {
        units[u].first = b.random(most + 2);
        units[u].limit = units[u].first + b.random(4);
      }
    }
    std::vector<Node> nodes;
    std::map<uint32_t, unsigned> node_of;
    std::set<std::array<uint64_t, 3>> walked;
    uint64_t expected = 0;
    // What belongs to list i of an embedding.
    auto list = [&](unsigned node, unsigned i) {
      const Node &n = nodes[node];
      const Record &r = nodes[n.chain[i]].record;
      uint64_t lo = r.offset, hi = r.offset + r.degree;
      if (i == 0 && n.chain.size() == 1) { // the unit's part
        const Unit &u = units[n.unit];
        lo += u.first;
        hi = r.offset + std::min<uint64_t>(u.limit, r.degree);
      } else if (i == 0 && n.i == 0) { // beyond its newest vertex, which comes from here
        (c.ascending ? lo : hi) = n.edge + (c.ascending ? 1 : 0);
      }
      return std::pair<uint64_t, uint64_t>(lo, std::max(lo, hi));
    };
    auto lists_of = [&](unsigned node) { return c.app == CLIQUE ? 1 : unsigned(nodes[node].chain.size()); };
    auto add = [&](int parent, unsigned i, uint64_t edge, unsigned unit, uint32_t id, Record r) {
      Node n{{}, i, unit, unsigned(b.random(1u << KEY_W)), edge, id, r};
      if (parent >= 0) n.chain = nodes[parent].chain;
      n.chain.push_back(nodes.size());
      nodes.push_back(n);
      node_of[id] = nodes.size() - 1;
      for (unsigned l = 0; l < lists_of(nodes.size() - 1); ++l) {
        const auto [lo, hi] = list(nodes.size() - 1, l);
        expected += hi - lo;
      }
      return unsigned(nodes.size() - 1);
    };

    std::vector<std::vector<Lane>> table(SLOTS, std::vector<Lane>(DEPTH));
    std::deque<Token> tokens;
    std::deque<std::pair<uint64_t, Found>> results; // on their way, with the cycle they come in
    std::deque<std::pair<uint64_t, Token>> ends;
    int slot_unit[16], last_size[16] = {};
    bool is_thief[16] = {};
    std::vector<bool> issued(units.size());
    for (auto &u : slot_unit) u = -1;
    size_t handed = 0;
    unsigned freed = 0, stolen = 0, busy_before = 0, rises = 0, copied_to = 0, roots = 0;
    std::deque<uint64_t> live; // oldest unit under way, by cycle
    const bool kills = run % 4 == 1;
    const bool kills_quiet = run % 20 == 17; // only when all is done
    unsigned kill_after = b.chance(20) ? b.random(4) : b.random(400);
    if (kills_quiet) kill_after = ~0u;
    uint64_t oldest_then = ~0ull, oldest_before = ~0ull;
    unsigned quiet = 0, n = 0;
    const bool resets = !kills && run % 9 == 4;
    bool was_reset = false;
    for (bool first_kill = true;; ++n) {
      if (resets && n >= 100 && d.pending_o) {
        was_reset = true;
        break;
      }
      b.check(n < 400000, "the search does not end");
      if (kills_quiet && quiet == 5) kill_after = std::min(kill_after, n);
      const bool killed = kills && n >= kill_after;
      d.kill_i = killed;
      // Units
      d.unit_valid_i = handed < units.size() && (d.unit_valid_i || (!killed && b.chance(30)));
      if (d.unit_valid_i) {
        const Unit &u = units[handed];
        pack(d.unit_i, {{u.start, 32}, {u.first, 32}, {u.limit, 32}, {u.ordinal, 32}});
      }
      // Tokens walk on: an edge a step.
      for (size_t t = 0; t < tokens.size(); ++t) {
        Token &k = tokens[t];
        if (k.ready > b.cycle) continue;
        bool gone = false;
        if (killed) {
          ends.push_back({b.cycle, k});
          gone = true;
        } else if (k.root) {
          Found f;
          f.slot = k.slot;
          f.accept = 1;
          f.vertex = nodes[k.node].id;
          f.record = nodes[k.node].record;
          f.key = nodes[k.node].key;
          f.cursor = k.cursor;
          results.push_back({b.cycle, f});
          gone = true;
        } else if (k.cursor.lo >= k.cursor.hi) {
          ends.push_back({b.cycle, k});
          gone = true;
        } else {
          const uint64_t e = c.ascending ? --k.cursor.hi : k.cursor.lo++;
          const auto [lo, hi] = list(k.node, k.cursor.i);
          b.check(e >= lo && e < hi, "an edge of another list is walked");
          b.check(walked.insert({k.node, k.cursor.i, e}).second, "an edge is walked twice");
          const size_t size = nodes[k.node].chain.size();
          k.ready = b.cycle + b.random(6);
          // In deep runs one path goes on to the largest embedding.
          const uint64_t place = e - nodes[nodes[k.node].chain[0]].record.offset;
          const uint64_t degree = nodes[nodes[k.node].chain[0]].record.degree;
          const bool onward = deep && place == (c.ascending ? size - 1 : degree - size);
          const bool accept = onward || b.chance(accepts);
          if (size + 1 < c.k && (accept || b.chance(rejects))) {
            Found f;
            f.slot = k.slot;
            f.size = size;
            f.accept = accept;
            f.vertex = fresh();
            f.record = record();
            f.cursor = k.cursor;
            if (accept) f.key = nodes[add(k.node, k.cursor.i, e, nodes[k.node].unit, f.vertex, f.record)].key;
            results.push_back({b.cycle + 2, f});
            gone = true;
          }
        }
        if (gone) tokens.erase(tokens.begin() + t--);
      }
      d.result_valid_i = !results.empty() && results.front().first <= b.cycle;
      if (d.result_valid_i) {
        const Found &f = results.front().second;
        pack(d.result_i, {{f.slot, SLOT_W}, {f.accept, 1}, {f.size, SIZE_W}, {f.vertex, 32},
                          {f.record.offset, EDGE_W}, {f.record.degree, 32}, {f.record.label, LABEL_W},
                          {f.key, KEY_W}, {f.cursor.i, POS_W}, {f.cursor.last, POS_W},
                          {f.cursor.lo, EDGE_W}, {f.cursor.hi, EDGE_W}});
        results.pop_front();
      }
      d.ended_valid_i = !ends.empty() && b.chance(70);
      if (d.ended_valid_i) {
        const Token &k = ends.front().second;
        pack(d.ended_i, {{k.slot, SLOT_W}, {k.cursor.i, POS_W}, {k.cursor.last, POS_W}});
        ends.pop_front();
      }
      b.hit("result and end in one cycle", d.result_valid_i && d.ended_valid_i);
      // A token that is there tells its unit.
      const bool look = !tokens.empty() && !tokens.front().root;
      d.listed_slot_i = look ? tokens.front().slot : b.random(SLOTS);
      b.settle();
      const unsigned row = d.row_o;
      for (unsigned j = 0; j < DEPTH; ++j) d.row_ids_i[j] = table[row][j].id;
      d.row_offset_i = table[row][d.row_lane_o].offset;
      d.row_degree_i = table[row][d.row_lane_o].degree;
      d.row_key_i = table[row][d.row_key_lane_o].key;
      d.root_offset_i = table[row][0].offset;
      d.root_degree_i = table[row][0].degree;
      if (!COMPACTION) drive_row(d.saved_i, table[d.saved_row_o]);
      b.settle();
      if (look) b.equal(d.listed_ordinal_o, units[nodes[tokens.front().node].unit].ordinal, "listed_ordinal_o");
      // Extensions
      if (d.issue_valid_o) {
        const auto f = unpack(d.issue_o, {SLOT_W, 1, SIZE_W, 32, KEY_W, POS_W, POS_W, EDGE_W, EDGE_W});
        Token k;
        k.slot = f[0];
        k.root = f[1];
        k.cursor = {unsigned(f[5]), unsigned(f[6]), f[7], f[8]};
        k.ready = b.cycle + 4 + b.random(b.chance(20) ? 30 : 4);
        b.check(d.busy_o >> k.slot & 1, "an extension of a free slot");
        for (const Token &other : tokens) b.check(other.slot != k.slot, "a slot has two tokens");
        if (k.root) {
          const Unit &u = units[roots];
          b.equal(f[3], u.start, "the start vertex");
          b.equal(f[2], 0, "a start vertex' size");
          b.check(k.cursor.lo == u.first && k.cursor.hi == u.limit, "a wrong range of the start vertex");
          issued[roots] = true;
          k.node = add(-1, 0, 0, roots, u.start, record());
          const Record &r = nodes[k.node].record;
          b.hit("start vertex of degree 0", r.degree == 0);
          b.hit("unit beyond the list", u.first >= r.degree && r.degree);
          b.hit("unit ends before its list", u.limit < r.degree);
          b.hit("last work unit", roots + 1 == units.size() && __builtin_popcount(d.busy_o) > 1);
          ++roots;
        } else {
          const unsigned size = f[2];
          b.check(size > 0 && size < c.k, "an embedding of %u vertices", size);
          b.check(node_of.count(table[k.slot][size - 1].id), "an embedding that is not known");
          k.node = node_of[table[k.slot][size - 1].id];
          const Node &node = nodes[k.node];
          b.equal(node.chain.size(), size, "the embedding's size");
          for (unsigned j = 0; j < size; ++j)
            b.equal(table[k.slot][j].id, nodes[node.chain[j]].id, "a vertex of the embedding");
          b.equal(f[4], node.key, "the embedding's key");
          b.check(k.cursor.i < lists_of(k.node) && k.cursor.last < lists_of(k.node), "no such list");
          uint32_t threshold = nodes[node.chain[0]].id;
          for (unsigned j = k.cursor.i + 1; j < size; ++j) {
            const uint32_t id = nodes[node.chain[j]].id;
            threshold = c.ascending ? std::max(threshold, id) : std::min(threshold, id);
          }
          b.equal(f[3], threshold, "the threshold");
          const auto [lo, hi] = list(k.node, k.cursor.i);
          const uint64_t left = k.cursor.hi > k.cursor.lo ? k.cursor.hi - k.cursor.lo : 0;
          b.hit("deepest embedding", size + 1 == DEPTH);
          b.hit("traced back over several levels", slot_unit[k.slot] >= 0 && int(size) + 1 < last_size[k.slot]);
          b.hit("list 0 narrowed", size > 1 && k.cursor.i == 0 && node.i == 0 && left);
          b.hit("list 0 whole again", size > 1 && k.cursor.i == 0 && node.i != 0 && left);
          b.hit("last list of an embedding", k.cursor.i + 1 == size && size > 2 && left);
          if (copied_to >> k.slot & 1) { // a thief's first
            copied_to &= ~(1u << k.slot);
            b.hit("steals in ascending order", c.ascending);
            b.hit("steals in descending order", !c.ascending);
            b.hit("steal of several edges", k.cursor.last == k.cursor.i && left > 1);
            b.hit("steal of one edge", left == 1);
            b.hit("steal of the lists after", k.cursor.i > 0 && left == hi - lo && left);
            b.hit("steal of an unfinished root's list", size == 1);
          }
          last_size[k.slot] = size;
        }
        slot_unit[k.slot] = nodes[k.node].unit;
        tokens.push_back(k);
      }
      // The embedding table
      if (d.table_copy_o) {
        if (d.table_copy_to_o != row) { // else the ancestor's state comes back
          b.hit("steal from a thief", is_thief[row]);
          is_thief[d.table_copy_to_o] = true;
          copied_to |= 1u << d.table_copy_to_o;
        }
        table[d.table_copy_to_o] = COMPACTION ? table[row] : row_of(d.restored_o);
      }
      if (d.table_write_o) {
        table[row][d.table_lane_o] = {d.table_id_o, d.table_degree_o, d.table_offset_o, unsigned(d.table_key_o)};
      }
      // Slots
      freed += d.freed_o;
      stolen += d.stolen_o;
      for (unsigned s = 0; s < SLOTS; ++s) {
        rises += (d.busy_o >> s & 1) && !(busy_before >> s & 1);
        if (!(d.busy_o >> s & 1)) slot_unit[s] = -1, is_thief[s] = false, last_size[s] = 0;
      }
      b.check(!(d.busy_o >> c.slots), "a slot that is not in use");
      b.hit("all slots busy", d.busy_o == (1u << SLOTS) - 1);
      b.hit("unit waits for a slot", d.pending_o && d.busy_o == (1u << c.slots) - 1);
      busy_before = d.busy_o;
      // The oldest unit that is in flight
      uint64_t oldest = ~0ull;
      for (size_t u = 0; u < handed; ++u)
        if (!issued[u]) oldest = std::min<uint64_t>(oldest, units[u].ordinal);
      for (int u : slot_unit)
        if (u >= 0) oldest = std::min<uint64_t>(oldest, units[u].ordinal);
      live.push_back(oldest);
      if (live.size() > 12) live.pop_front();
      if (killed && first_kill) {
        first_kill = false;
        oldest_then = oldest;
        oldest_before = *std::min_element(live.begin(), live.end());
        b.hit("killed while all slots are busy", d.busy_o == (1u << SLOTS) - 1);
        b.hit("killed while a unit waits", d.pending_o);
        for (unsigned s = 0; s < SLOTS; ++s)
          b.hit("killed while slots are stolen", (d.busy_o >> s & 1) && is_thief[s]);
        b.hit("killed with nothing under way", !d.busy_o && !d.pending_o && handed);
      }
      const bool taken = d.unit_valid_i && d.unit_ready_o;
      handed += taken;
      b.rise();
      if (taken) d.unit_valid_i = 0;
      const bool over = (killed || handed == units.size()) && tokens.empty() && results.empty() && ends.empty();
      quiet = over && !busy_before ? quiet + 1 : 0;
      if (killed) b.check(n < kill_after + 500, "a killed run does not drain");
      if (quiet > 20) break;
    }
    if (was_reset) { // nothing of it may be left to the next run
      d.unit_valid_i = d.result_valid_i = d.ended_valid_i = 0;
      b.reset(d.rst_i);
      b.settle();
      b.equal(d.pending_o, 0, "pending_o");
      b.equal(d.busy_o, 0, "busy_o");
      b.hit("reset while a unit waits");
      was_killed = false;
      continue;
    }
    b.check(!d.pending_o || kills, "a unit is left");
    if (kills && n >= kill_after) {
      b.check(d.oldest_o <= uint32_t(std::min<uint64_t>(oldest_then, ~0u)), "an unfinished unit is older than oldest_o");
      b.check(d.oldest_o >= uint32_t(std::min<uint64_t>(oldest_before, ~0u)), "oldest_o is finished for long");
    } else {
      b.check(walked.size() == expected, "%zu of %llu edges were walked", walked.size(), (unsigned long long)expected);
      b.equal(roots, units.size(), "units");
      b.equal(freed, units.size() + stolen, "slots freed");
      b.check(c.stealing || !stolen, "stealing is off");
      b.hit("steal that finds nothing", rises > units.size() + stolen);
    }
    was_killed = kills && n >= kill_after;
    d.kill_i = d.unit_valid_i = d.result_valid_i = d.ended_valid_i = 0;
  }
  return b.end();
}
