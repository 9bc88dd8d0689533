// extender against what it promises of a list: the candidates that pass the tests on ids, in the
// order of the walk, each with its connectivity and its record where they are requested, and then
// the end of the list. The bench is scheduler, embedding table and memory, over random graphs.
#include "messages.hpp"
#include <algorithm>
#include <deque>
#include <set>

/// A candidate that goes to the filter.
struct Expected {
  uint32_t vertex;
  unsigned mask;
  uint64_t edge;
  bool operator==(const Expected &o) const {
    return vertex == o.vertex && mask == o.mask && edge == o.edge;
  }
};
/// What a slot extends.
struct Walk {
  enum { FREE, WAITS, WALKS } state = FREE; // WAITS: for its next issue
  std::vector<uint32_t> ids;
  unsigned key = 0;
  bool root = false;
  uint32_t threshold = 0;
  Cursor cursor;
  std::deque<Expected> expected;
  std::deque<uint32_t> records; // with CANDIDATE_CHECK, those that will be read: of each candidate
  uint32_t candidate = 0;       // whose record was read last
  uint64_t at = 0; // earliest cycle of its issue
  int access = 0;  // outstanding: 1 an edge line, 2 a record
  uint64_t address = 0;
};

int main(int argc, char **argv) {
  Bench b("extender",
          {"start vertex", "degree 0", "degree larger than a cache", "list within a line",
           "list ends with a line", "first entry fails", "last entry passes", "nothing passes",
           "part of a list", "part that is empty", "vertex of the embedding in the list", "clique", "clique without an edge",
           "edge to an earlier vertex", "extended at the last position", "deepest embedding",
           "largest motif", "search in the first line", "search in the last line",
           "search beyond a list", "list without the searched id", "last vertex with its label",
           "last vertex for a filter",
           "token goes on after a last vertex", "token comes back with what is left",
           "largest id", "largest edge position", "line and record together",
           "issue waits", "stalled with an answer there", "all slots busy", "killed", "killed while stalled",
           "reset"},
          argc, argv);
  auto &d = *b.dut;
  d.issue_valid_i = d.edge_valid_i = d.vertex_valid_i = d.stall_i = d.kill_i = d.clear_i = 0;
  b.reset(d.rst_i);
  for (unsigned run = 0; run < 360; ++run) {
    Config c;
    c.app = run % 3;
    c.ascending = run / 3 % 2;
    const bool hub = run % 8 == 0, deep = run % 12 == 1 || run % 12 == 9;
    c.k = c.app == CLIQUE ? (deep ? DEPTH : 2 + b.random(5)) : c.app == MOTIF ? 2 + b.random(MAX_MOTIF - 1) : 2 + b.random(2);
    if (deep) c.app = CLIQUE, c.k = DEPTH;
    c.filters = b.chance(30);
    c.drive(d.config_i);
    if (run % 16 == 5) {
      b.hit("reset");
      b.reset(d.rst_i);
    } else {
      d.clear_i = 1;
      b.tick();
      d.clear_i = 0;
    }
    // A graph: sparse or dense, with a hub whose list no cache holds, or with a large clique.
    const unsigned vertices = hub ? 500 : 20 + b.random(40), density = hub ? 1 : 5 + b.random(60);
    const uint32_t id_base = b.chance(50) ? 0 : 0u - vertices;
    std::vector<std::set<uint32_t>> neighbours(vertices);
    auto join = [&](unsigned u, unsigned v) {
      if (u != v) neighbours[u].insert(id_base + v), neighbours[v].insert(id_base + u);
    };
    for (unsigned u = 0; u < vertices; ++u)
      for (unsigned v = 0; v < u; ++v)
        if (b.random(100) < density && u + 1 != vertices / 2) join(u, v);
    if (hub) {
      const unsigned centre = c.ascending ? b.random(20) : vertices - 1 - b.random(20);
      for (unsigned v = 0; v < vertices; ++v) join(centre, v);
    }
    if (deep)
      for (unsigned u = 0; u < DEPTH + 1; ++u)
        for (unsigned v = 0; v < u; ++v) join(u, v);
    std::vector<uint32_t> edges;
    std::vector<Record> records(vertices);
    for (unsigned v = 0; v < vertices; ++v) {
      records[v] = {edges.size(), uint32_t(neighbours[v].size()), uint32_t(b.random(1 << LABEL_W))};
      edges.insert(edges.end(), neighbours[v].begin(), neighbours[v].end());
    }
    const bool high = b.chance(30);
    const uint64_t base = high ? (1ull << EDGE_W) - edges.size() - 1 : b.random(1000);
    for (auto &r : records) r.offset += base;
    auto of = [&](uint32_t id) -> Record & { return records[id - id_base]; };
    auto adjacent = [&](uint32_t u, uint32_t v) { return neighbours[u - id_base].count(v) != 0; };
    auto beyond = [&](uint32_t u, uint32_t v) { return c.ascending ? u > v : u < v; };
    auto threshold_of = [&](const std::vector<uint32_t> &ids, unsigned i) {
      uint32_t t = ids[0];
      for (unsigned j = i + 1; j < ids.size(); ++j)
        if (beyond(ids[j], t)) t = ids[j];
      return t;
    };
    // The candidates of [lo, hi) in the order of the walk; those that are dropped are counted only.
    unsigned dropped = 0;
    std::deque<uint32_t> all; // with those that are dropped
    auto candidates = [&](const std::vector<uint32_t> &ids, unsigned i, uint64_t lo, uint64_t hi, unsigned &number) {
      std::deque<Expected> found;
      const uint32_t t = threshold_of(ids, i);
      number = dropped = 0;
      all.clear();
      for (uint64_t step = 0; step < (hi > lo ? hi - lo : 0); ++step) {
        const uint64_t e = c.ascending ? hi - 1 - step : lo + step;
        const uint32_t w = edges[e - base];
        if (!beyond(w, t)) break;
        if (std::count(ids.begin(), ids.end(), w)) continue;
        ++number;
        all.push_back(w);
        unsigned mask = 0;
        for (unsigned j = 0; j < ids.size(); ++j) mask |= adjacent(ids[j], w) << j;
        const bool drop = c.app == CLIQUE ? mask != (1u << ids.size()) - 1 : (mask & ((1u << i) - 1)) != 0;
        dropped += drop;
        if (!drop) found.push_back({w, mask, e});
      }
      return found;
    };
    // Entries that are compared until the token leaves or the list is done.
    auto compared = [&](const Walk &w, unsigned &lines) {
      unsigned entries = 0;
      lines = 0;
      const unsigned size = w.ids.size();
      const uint64_t lo = w.cursor.lo, hi = w.cursor.hi;
      if (lo >= hi) return entries;
      for (uint64_t line = c.ascending ? (hi - 1) >> 4 : lo >> 4;; line += c.ascending ? -1 : 1) {
        const uint64_t from = std::max(lo, line * 16), to = std::min(hi, line * 16 + 16);
        entries += to - from;
        ++lines;
        bool over = c.ascending ? from == lo : to == hi;
        for (uint64_t e = from; e < to; ++e) over |= !beyond(edges[e - base], w.threshold);
        if (!w.expected.empty() && size + 1 != c.k && w.expected[0].edge >= from && w.expected[0].edge < to) over = true;
        if (over) return entries;
      }
    };

    std::vector<Walk> walk(SLOTS);
    uint64_t scanned = 0, expect_scanned = 0, lines = 0, expect_lines = 0;
    std::vector<uint64_t> taken(DEPTH + 2), expect_taken(DEPTH + 2);
    const unsigned length = 3000, kill_at = run % 5 == 4 ? 200 + b.random(2000) : ~0u;
    int edge_slot = -1, vertex_slot = -1; // whose answer is offered
    unsigned killed_at = 0, issued = 0;
    for (unsigned n = 0;; ++n) {
      b.check(n < length + 60000, "a list does not end");
      const bool killed = n >= kill_at;
      d.kill_i = killed;
      d.stall_i = killed ? b.chance(30) : b.chance((n / 200) % 3 == 0 ? 40 : (n / 200) % 3 == 1 ? 0 : 5);
      // New walks
      for (Walk &w : walk) {
        if (w.state != Walk::FREE || n >= length || killed || !b.chance(30)) continue;
        w = Walk{};
        w.key = b.random(1u << KEY_W);
        uint32_t start = id_base + b.random(vertices);
        if (b.chance(10)) start = id_base + vertices - 1;
        w.root = b.chance(10);
        w.at = b.cycle + b.random(4);
        w.state = Walk::WAITS;
        if (w.root) {
          w.threshold = start;
          w.cursor = {0, 0, b.random(4), b.random(1ull << 32)};
          w.expected = {{start, 0, 0}};
          w.records = {start};
          continue;
        }
        // An embedding that the search reaches: grown by candidates that are not dropped.
        if (deep) start = id_base + (c.ascending ? b.random(3) : DEPTH - b.random(3));
        else if (hub && b.chance(50))
          for (unsigned v = 0; v < vertices; ++v)
            if (records[v].degree + 1 == vertices) start = id_base + v;
        w.ids = {start};
        const unsigned size = deep && b.chance(50) ? c.k - 1 : 1 + b.random(c.k - 1);
        while (w.ids.size() < size) {
          const unsigned i = c.app == CLIQUE ? 0 : b.random(w.ids.size());
          const Record &r = of(w.ids[i]);
          unsigned number;
          const auto next = candidates(w.ids, i, r.offset, r.offset + r.degree, number);
          if (next.empty()) break;
          // The nearest in deep runs, since much has to come after it.
          w.ids.push_back(deep ? next[c.ascending ? next.size() - 1 : next.size() - 1].vertex : next[b.random(next.size())].vertex);
        }
        const unsigned i = c.app == CLIQUE ? 0 : b.random(w.ids.size());
        w.cursor.i = i;
        w.cursor.last = c.app == CLIQUE ? 0 : i + b.random(w.ids.size() - i);
        const Record &r = of(w.ids[i]);
        w.cursor.lo = r.offset;
        w.cursor.hi = r.offset + r.degree;
        if (b.chance(25)) { // what a steal left
          w.cursor.lo += b.random(r.degree + 1);
          w.cursor.hi -= b.random(w.cursor.hi - w.cursor.lo + 1);
          b.hit("part of a list", w.cursor.lo < w.cursor.hi && w.cursor.hi - w.cursor.lo < r.degree);
          b.hit("part that is empty", w.cursor.lo == w.cursor.hi && r.degree);
        }
        w.threshold = threshold_of(w.ids, i);
        unsigned number;
        w.expected = candidates(w.ids, i, w.cursor.lo, w.cursor.hi, number);
        w.records = all;
        expect_taken[w.ids.size() + 1] += number;
        const unsigned s = w.ids.size();
        const uint64_t lo = w.cursor.lo, hi = w.cursor.hi;
        b.hit("degree 0", r.degree == 0);
        b.hit("degree larger than a cache", hi - lo > 4 * EDGE_SETS * 16);
        b.hit("list within a line", lo < hi && lo >> 4 == (hi - 1) >> 4 && lo % 16 && hi % 16);
        b.hit("list ends with a line", lo < hi && hi % 16 == 0);
        if (lo < hi) {
          b.hit("first entry fails", !beyond(edges[(c.ascending ? hi - 1 : lo) - base], w.threshold));
          b.hit("last entry passes", beyond(edges[(c.ascending ? lo : hi - 1) - base], w.threshold));
          b.hit("nothing passes", !number);
        }
        for (unsigned j = 0; j < i; ++j)
          b.hit("vertex of the embedding in the list", adjacent(w.ids[i], w.ids[j]) && beyond(w.ids[j], w.threshold));
        b.hit("clique", c.app == CLIQUE && s > 1 && !w.expected.empty());
        b.hit("clique without an edge", c.app == CLIQUE && dropped);
        b.hit("edge to an earlier vertex", c.app != CLIQUE && dropped);
        b.hit("extended at the last position", s > 2 && i + 1 == s && !w.expected.empty());
        b.hit("deepest embedding", s + 1 == DEPTH && !w.expected.empty());
        b.hit("largest motif", c.app == MOTIF && s + 1 == MAX_MOTIF && !w.expected.empty());
        if (s > 1 && number)
          for (uint64_t e = lo; e < hi; ++e) {
            const uint32_t x = edges[e - base];
            if (!beyond(x, w.threshold)) continue;
            for (unsigned j = 0; j < s; ++j) {
              if (CANDIDATE_CHECK && std::count(w.ids.begin(), w.ids.end(), x)) continue;
              const auto &l = neighbours[(CANDIDATE_CHECK ? x : w.ids[j]) - id_base];
              const uint32_t id = CANDIDATE_CHECK ? w.ids[j] : x;
              if (j == i || l.size() < 20) continue;
              const unsigned at = std::distance(l.begin(), l.lower_bound(id));
              b.hit("search in the first line", l.count(id) && at < 8);
              b.hit("search in the last line", l.count(id) && at + 8 >= l.size());
              b.hit("search beyond a list", at == l.size() || (at == 0 && *l.begin() != id));
              b.hit("list without the searched id", !l.count(id));
            }
          }
      }
      // Issues, one a cycle
      d.issue_valid_i = 0;
      for (unsigned s = 0; s < SLOTS && !d.issue_valid_i; ++s) {
        Walk &w = walk[s];
        if (w.state != Walk::WAITS || w.at > b.cycle) continue;
        pack(d.issue_i, {{s, SLOT_W}, {w.root, 1}, {w.ids.size(), SIZE_W}, {w.threshold, 32}, {w.key, KEY_W},
                         {w.cursor.i, POS_W}, {w.cursor.last, POS_W}, {w.cursor.lo, EDGE_W}, {w.cursor.hi, EDGE_W}});
        d.issue_valid_i = 1;
        w.state = Walk::WALKS;
        ++issued;
        if (!w.root && !killed) {
          unsigned read;
          expect_scanned += compared(w, read);
          expect_lines += read;
        }
      }
      // Answers, in any order; an offer stays until it is taken.
      for (unsigned s = 0; s < SLOTS; ++s) {
        if (walk[s].access == 1 && edge_slot < 0 && b.chance(20)) {
          edge_slot = s;
          Line line(16);
          for (unsigned e = 0; e < 16; ++e) {
            const uint64_t at = walk[s].address * 16 + e;
            line[e] = at >= base && at - base < edges.size() ? edges[at - base] : uint32_t(b.random());
          }
          EdgeAnswer{s, line}.drive(d.edge_answer_i);
        }
        if (walk[s].access == 2 && vertex_slot < 0 && b.chance(20)) {
          vertex_slot = s;
          const Record &r = of(walk[s].address);
          VertexAnswer{s, r}.drive(d.vertex_answer_i);
        }
      }
      d.edge_valid_i = edge_slot >= 0;
      d.vertex_valid_i = vertex_slot >= 0;
      b.settle();
      for (unsigned j = 0; j < MAX_MOTIF; ++j) {
        const auto &ids = walk[d.early_row_o].ids;
        d.early_ids_i[j] = j < ids.size() ? ids[j] : uint32_t(b.random());
      }
      const auto &ids = walk[d.list_row_o].ids;
      const bool there = d.list_lane_o < ids.size();
      d.list_id_i = there ? ids[d.list_lane_o] : uint32_t(b.random());
      d.list_offset_i = there ? of(d.list_id_i).offset : b.random(1ull << EDGE_W);
      d.list_degree_i = there ? of(d.list_id_i).degree : uint32_t(b.random());
      b.settle();

      b.hit("line and record together", d.edge_valid_i && d.vertex_valid_i);
      b.hit("issue waits", d.edge_valid_i && d.issue_valid_i);
      b.hit("stalled with an answer there", d.stall_i && d.edge_valid_i);
      b.hit("killed while stalled", killed && d.stall_i && d.edge_valid_i);
      unsigned walking = 0;
      for (const Walk &w : walk) walking += w.state == Walk::WALKS;
      b.hit("all slots busy", walking == SLOTS);
      if (edge_slot >= 0 && d.edge_ready_o) walk[edge_slot].access = 0, edge_slot = -1;
      if (vertex_slot >= 0 && d.vertex_ready_o) walk[vertex_slot].access = 0, vertex_slot = -1;
      // Accesses
      b.check(!(d.edge_valid_o && d.vertex_valid_o), "two accesses in one cycle");
      if (d.edge_valid_o) {
        const auto request = EdgeRequest::of(d.edge_request_o);
        Walk &w = walk[request.slot];
        b.check(w.state == Walk::WALKS && !w.access, "a slot has two accesses");
        w.access = 1;
        w.address = request.line;
        bool own = false;
        std::vector<uint32_t> lists = w.ids;
        if (CANDIDATE_CHECK) lists = {w.ids[w.cursor.i], w.candidate};
        for (uint32_t id : lists) {
          if (id != request.rank) continue;
          const Record &r = of(id);
          own |= r.degree && r.offset >> 4 <= w.address && w.address <= (r.offset + r.degree - 1) >> 4;
        }
        b.check(own, "line 0x%llx is not of the list of vertex %u", (unsigned long long)w.address, request.rank);
        b.hit("largest edge position", w.address == (1ull << (EDGE_W - 4)) - 1);
      }
      if (d.vertex_valid_o) {
        const auto request = VertexRequest::of(d.vertex_request_o);
        Walk &w = walk[request.slot];
        b.check(w.state == Walk::WALKS && !w.access, "a slot has two accesses");
        if (CANDIDATE_CHECK) {
          b.check(!w.records.empty() && request.vertex == w.records[0], "the record of a wrong vertex");
          w.candidate = request.vertex;
          w.records.pop_front();
        } else {
          b.check(!w.expected.empty() && request.vertex == w.expected[0].vertex, "the record of a wrong vertex");
        }
        w.access = 2;
        w.address = request.vertex;
      }
      // Candidates
      if (d.found_valid_o) {
        const auto f = unpack(d.found_o, {SLOT_W, SIZE_W, 1, 32, unsigned(DEPTH), EDGE_W, 32, LABEL_W, KEY_W,
                                          POS_W, POS_W, EDGE_W, EDGE_W});
        Walk &w = walk[f[0]];
        b.check(w.state == Walk::WALKS && !w.expected.empty(), "vertex 0x%llx is found by slot %u", (unsigned long long)f[3], unsigned(f[0]));
        const Expected x = w.expected.front();
        w.expected.pop_front();
        const bool last = w.ids.size() + 1 == c.k;
        b.equal(f[1], w.ids.size(), "the size");
        b.equal(f[2], last, "last");
        b.equal(f[3], x.vertex, "the vertex");
        b.equal(f[4], x.mask, "the connectivity mask");
        b.equal(f[8], w.key, "the key");
        b.equal(f[9], w.cursor.i, "the cursor's position");
        b.equal(f[10], w.cursor.last, "the cursor's last position");
        if (!last || c.app == FSM || CANDIDATE_CHECK || c.filters)
          b.check(Record{f[5], uint32_t(f[6]), uint32_t(f[7])} == of(x.vertex), "a wrong record");
        b.hit("last vertex with its label", last && c.app == FSM);
        b.hit("last vertex for a filter", last && c.app != FSM && c.filters);
        b.hit("start vertex", w.root);
        b.hit("largest id", x.vertex == ~0u);
        b.hit("token goes on after a last vertex", last && !w.expected.empty());
        if (w.root) {
          b.check(f[11] == w.cursor.lo && f[12] == w.cursor.hi, "a unit's range is changed");
          w.state = Walk::FREE;
        } else if (!last) {
          // The token has left; the rest of the list comes back with its cursor.
          b.check(f[11] >= w.cursor.lo && f[12] <= w.cursor.hi, "the cursor has gone back");
          w.cursor.lo = f[11];
          w.cursor.hi = f[12];
          unsigned number;
          const auto rest = candidates(w.ids, w.cursor.i, w.cursor.lo, w.cursor.hi, number);
          b.check(rest == w.expected, "the cursor loses or repeats a candidate");
          if (CANDIDATE_CHECK) b.check(all == w.records, "a record is not read, or twice");
          w.records = all;
          b.hit("token comes back with what is left", !rest.empty());
          w.state = killed ? Walk::FREE : Walk::WAITS;
          w.at = b.cycle + 5 + b.random(10);
        }
      }
      if (d.ended_valid_o) {
        const auto e = unpack(d.ended_o, {SLOT_W, POS_W, POS_W});
        Walk &w = walk[e[0]];
        b.check(w.state == Walk::WALKS, "a list ends that is not walked");
        b.check(killed || (w.expected.empty() && !w.root), "a list ends too early");
        b.check(killed || !CANDIDATE_CHECK || w.records.empty(), "a candidate's record was not read");
        if (!w.root) {
          b.equal(e[1], w.cursor.i, "the ended list's position");
          b.equal(e[2], w.cursor.last, "the ended list's last position");
        }
        b.hit("killed", killed);
        w.state = Walk::FREE;
      }
      if (d.scanned_valid_o) scanned += d.scanned_o, ++lines;
      if (d.candidate_o) ++taken[d.candidate_size_o];
      bool busy = false;
      for (const Walk &w : walk) busy |= w.state != Walk::FREE;
      b.rise();
      if (killed && ++killed_at == 1)
        for (Walk &w : walk)
          if (w.state == Walk::WAITS) w.state = Walk::FREE;
      b.check(killed_at < 2000, "a killed run does not drain");
      if (!busy && (n >= length || killed_at > 50)) break;
    }
    if (!killed_at) {
      b.equal(scanned, expect_scanned, "entries scanned");
      b.equal(lines, expect_lines, "lines scanned");
      for (unsigned s = 0; s <= DEPTH; ++s) b.equal(taken[s], expect_taken[s], "candidates");
    }
    b.check(issued > 0, "the bench is idle");
    d.kill_i = 0;
  }
  return b.end();
}
