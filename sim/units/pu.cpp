// pu, the whole unit, against a search that has nothing in common with it: every set of k vertices
// of a small graph is looked at, and those that are cliques, or connected, or connected with a pattern
// that a selecting dictionary knows, are what has to be counted and listed, each once. The counters are
// compared with what shows at the ports.
#include "messages.hpp"
#include <algorithm>
#include <set>

int main(int argc, char **argv) {
  Bench b("pu",
          {"cliques", "motifs", "labelled patterns", "labelled pattern not known", "motif not known", "ascending",
           "descending", "isolated vertex", "largest motif", "embedding of six vertices",
           "list cut into units", "last work unit while others are under way", "one slot", "no stealing",
           "stolen", "listed", "listed in a row", "listing waits long", "no room for a listed embedding",
           "memory idle", "no work", "nothing found", "line and record together", "every counter read",
           "counts of a second run", "filtered", "filtered and listed in a row", "everything filtered", "killed",
           "run after a killed one"},
          argc, argv);
  auto &d = *b.dut;
  d.clear_i = d.running_i = d.kill_i = d.unit_valid_i = d.edge_valid_i = d.vertex_valid_i = 0;
  d.filter_write_i = 0;
  d.dictionary_write_i = d.count_clear_i = d.listed_take_i = 0;
  bool was_killed = false;
  for (unsigned run = 0; run < 120; ++run) {
    if (run % 10 == 0) b.reset(d.rst_i);
    Config c;
    c.app = run % 3;
    const bool six = run == 60; // a graph that surely has cliques of six
    c.k = six ? 6 : c.app == CLIQUE ? 3 + b.random(4) : c.app == MOTIF ? 3 + b.random(MAX_MOTIF - 2) : 2 + b.random(2);
    c.ascending = b.random(2);
    c.stealing = b.chance(75);
    c.slots = b.chance(60) ? SLOTS : 1 + b.random(SLOTS);
    c.lists = b.random(2);
    c.selects = c.app == FSM || (c.app == MOTIF && b.chance(50));
    // Labels that differ; a degree of two at least, or label 0; both.
    const unsigned conditions = b.chance(40) ? 1 + b.random(3) : 0;
    c.filters = conditions != 0;
    c.drive(d.config_i);
    const unsigned vertices = six ? 9 : 6 + b.random(8);
    const unsigned density = six ? 100 : c.app == CLIQUE ? 40 + b.random(60) : 10 + b.random(50);
    std::vector<std::set<unsigned>> neighbours(vertices);
    for (unsigned u = 0; u < vertices; ++u)
      for (unsigned v = 0; v < u; ++v)
        if (b.random(100) < density && u != vertices / 2) neighbours[u].insert(v), neighbours[v].insert(u);
    std::vector<uint32_t> edges;
    std::vector<Record> records(vertices);
    const uint64_t base = b.random(1ull << 30);
    for (unsigned v = 0; v < vertices; ++v) {
      records[v] = {base + edges.size(), uint32_t(neighbours[v].size()), uint32_t(b.random(1 << LABEL_W))};
      edges.insert(edges.end(), neighbours[v].begin(), neighbours[v].end());
      b.hit("isolated vertex", neighbours[v].empty());
    }
    const auto meets = [&](unsigned v) { return !(conditions & 2) || records[v].degree >= 2 || records[v].label == 0; };
    const auto meet = [&](unsigned u, unsigned v) { return !(conditions & 1) || records[u].label != records[v].label; };
    uint64_t starts = 0, seconds = 0, candidates = 0; // vertices and edges that pass, and edges of vertices that do
    for (unsigned v = 0; v < vertices; ++v) {
      starts += meets(v);
      for (unsigned u : neighbours[v])
        if (c.ascending ? u > v : u < v) {
          candidates += meets(v);
          seconds += meets(v) && meets(u) && meet(u, v);
        }
    }
    // Patterns by their least key among all orders of their vertices.
    std::map<unsigned, unsigned> number;
    auto key_of = [&](const std::vector<unsigned> &order, const std::vector<std::vector<bool>> &edge,
                      const std::vector<unsigned> &label) {
      unsigned key = 0;
      for (unsigned j = 1; j < order.size(); ++j)
        for (unsigned i = 0; i < j; ++i) key |= edge[order[i]][order[j]] << (j * (j - 1) / 2 + i);
      if (c.app == FSM)
        for (unsigned j = 0; j < order.size(); ++j) key |= label[order[j]] << (3 + j * LABEL_W);
      return key;
    };
    auto canonical = [&](unsigned size, const std::vector<std::vector<bool>> &edge, const std::vector<unsigned> &label) {
      std::vector<unsigned> order(size);
      for (unsigned j = 0; j < size; ++j) order[j] = j;
      unsigned least = ~0u;
      do least = std::min(least, key_of(order, edge, label));
      while (std::next_permutation(order.begin(), order.end()));
      return least;
    };
    // All keys of the dictionary: if it selects also those of fewer vertices, all of which are known.
    std::map<unsigned, bool> known;
    const unsigned pairs = c.k * (c.k - 1) / 2;
    std::vector<unsigned> dictionary(DICTIONARY);
    if (c.app != CLIQUE)
      for (unsigned size = c.selects ? 2 : c.k; size <= c.k; ++size)
        for (unsigned bits = 0; bits < 1u << size * (size - 1) / 2; ++bits)
          for (unsigned labels = 0; labels < (c.app == FSM ? 1u << size * LABEL_W : 1); ++labels) {
            std::vector<std::vector<bool>> edge(size, std::vector<bool>(size));
            std::vector<unsigned> label(size), order(size);
            for (unsigned j = 0; j < size; ++j) {
              label[j] = labels >> j * LABEL_W & ((1 << LABEL_W) - 1);
              order[j] = j;
              for (unsigned i = 0; i < j; ++i) edge[i][j] = edge[j][i] = bits >> (j * (j - 1) / 2 + i) & 1;
            }
            // Without an edge of its last vertex it has the key of fewer.
            if (bits >> (size - 1) * (size - 2) / 2 == 0) continue;
            const unsigned least = canonical(size, edge, label) | size << 24;
            if (!number.count(least)) {
              number[least] = number.size() % COUNTERS;
              known[least] = !c.selects || size < c.k || b.chance(60);
            }
            dictionary[key_of(order, edge, label)] = unsigned(known[least]) << NUMBER_W | number[least];
          }
    // What is there to be found
    std::vector<uint64_t> counts(COUNTERS);
    std::map<std::vector<unsigned>, unsigned> wanted; // sets of vertices, with their pattern's number
    for (unsigned set = 0; set < 1u << vertices; ++set) {
      if (unsigned(__builtin_popcount(set)) != c.k) continue;
      std::vector<unsigned> in;
      for (unsigned v = 0; v < vertices; ++v)
        if (set >> v & 1) in.push_back(v);
      std::vector<std::vector<bool>> edge(c.k, std::vector<bool>(c.k));
      std::vector<unsigned> label(c.k);
      unsigned all = 0, reached = 1;
      for (unsigned i = 0; i < c.k; ++i) {
        label[i] = records[in[i]].label;
        for (unsigned j = 0; j < c.k; ++j) edge[i][j] = neighbours[in[i]].count(in[j]), all += edge[i][j];
      }
      for (unsigned step = 0; step < c.k; ++step)
        for (unsigned i = 0; i < c.k; ++i)
          for (unsigned j = 0; j < c.k; ++j)
            if ((reached >> i & 1) && edge[i][j]) reached |= 1u << j;
      bool refused = false;
      for (unsigned i = 0; i < c.k; ++i) {
        refused |= !meets(in[i]);
        for (unsigned j = 0; j < i; ++j) refused |= !meet(in[i], in[j]);
      }
      if (refused) continue;
      if (c.app == CLIQUE ? all != 2 * pairs : reached != (1u << c.k) - 1) continue;
      unsigned n = 0;
      if (c.app != CLIQUE) {
        const unsigned least = canonical(c.k, edge, label) | c.k << 24;
        b.hit("labelled pattern not known", c.app == FSM && !known[least]);
        b.hit("motif not known", c.app == MOTIF && !known[least]);
        if (!known[least]) continue;
        n = number[least];
      }
      ++counts[n];
      wanted[in] = n;
    }
    b.hit("nothing found", wanted.empty());
    b.hit("filtered", c.filters && !wanted.empty());
    b.hit("everything filtered", c.filters && wanted.empty());
    b.hit("cliques", c.app == CLIQUE && !wanted.empty());
    b.hit("motifs", c.app == MOTIF && !wanted.empty());
    b.hit("labelled patterns", c.app == FSM && !wanted.empty());
    b.hit("largest motif", c.app == MOTIF && c.k == MAX_MOTIF && !wanted.empty());
    b.hit("embedding of six vertices", c.k == 6 && !wanted.empty());
    b.hit("ascending", c.ascending && !wanted.empty());
    b.hit("descending", !c.ascending && !wanted.empty());

    // Before a run
    for (unsigned key = 0; key < DICTIONARY; ++key) {
      d.dictionary_write_i = 1;
      d.dictionary_key_i = key;
      d.dictionary_entry_i = dictionary[key];
      b.tick();
    }
    d.dictionary_write_i = 0;
    std::vector<FilterWord> words;
    using W = FilterWord;
    if (conditions & 1) words.push_back({W::NEW_LABEL, W::EQUAL, W::OTHER_LABEL, 0, true, true, true});
    if (conditions & 2) {
      words.push_back({W::NEW_DEGREE, W::LESS, W::RIGHT_CONSTANT, 2, true});
      words.push_back({W::NEW_LABEL, W::EQUAL, W::RIGHT_CONSTANT, 0, false, true});
    }
    if (!words.empty()) words.back().last = true;
    for (unsigned w = 0; w < words.size(); ++w) {
      d.filter_write_i = 1;
      d.filter_at_i = w;
      d.filter_word_i = words[w].number();
      b.tick();
    }
    d.filter_write_i = 0;
    for (unsigned n = 0; n < COUNTERS; ++n) {
      d.count_clear_i = 1;
      d.count_at_i = n;
      b.tick();
    }
    d.count_clear_i = 0;
    d.clear_i = 1;
    b.tick();
    d.clear_i = 0;
    b.hit("counts of a second run", run % 10 != 0);
    b.hit("run after a killed one", was_killed);
    b.hit("one slot", c.slots == 1);
    b.hit("no stealing", !c.stealing);
    struct Unit { uint32_t start, first, limit; };
    std::vector<Unit> units;
    for (unsigned v = 0; v < vertices; ++v) {
      const uint32_t cut = b.chance(30) ? b.random(records[v].degree + 1) : 0;
      if (cut) units.push_back({v, 0, cut});
      units.push_back({v, cut, b.chance(50) ? records[v].degree : ~0u});
      b.hit("list cut into units", cut && cut < records[v].degree);
    }
    for (size_t i = units.size(); i > 1; --i) std::swap(units[i - 1], units[b.random(i)]);

    struct { int kind = 0; uint64_t address = 0; } access[16]; // outstanding: 1 an edge line, 2 a record
    int edge_slot = -1, vertex_slot = -1;
    size_t handed = 0;
    uint64_t running = 0, port = 0, edge_accesses = 0, vertex_accesses = 0;
    unsigned quiet = 0, waited = 0, patience = 0, speed = 10 + b.random(80);
    std::set<std::vector<unsigned>> listed;
    bool more = false;
    const bool kills = run % 6 == 5;
    const unsigned kill_at = b.random(1500);
    d.running_i = 1;
    for (unsigned n = 0;; ++n) {
      b.check(n < 400000, "the search does not end");
      const bool killed = kills && n >= kill_at;
      d.kill_i = killed;
      if (killed && !d.unit_valid_i) handed = units.size();
      d.unit_valid_i = handed < units.size() && (d.unit_valid_i || b.chance(30));
      if (d.unit_valid_i)
        pack(d.unit_i, {{units[handed].start, 32}, {units[handed].first, 32}, {units[handed].limit, 32}, {handed, 32}});
      if (patience) --patience;
      else if (b.chance(1)) patience = b.random(200);
      d.listed_take_i = more && !patience && b.chance(60);
      for (unsigned s = 0; s < SLOTS; ++s) {
        if (access[s].kind == 1 && edge_slot < 0 && b.chance(speed)) {
          edge_slot = s;
          Line line(16);
          for (unsigned e = 0; e < 16; ++e) {
            const uint64_t at = access[s].address * 16 + e;
            line[e] = at >= base && at - base < edges.size() ? edges[at - base] : uint32_t(b.random());
          }
          EdgeAnswer{s, line}.drive(d.edge_answer_i);
        }
        if (access[s].kind == 2 && vertex_slot < 0 && b.chance(speed)) {
          vertex_slot = s;
          b.check(access[s].address < vertices, "the record of a vertex that is not there");
          const Record &r = records[access[s].address];
          VertexAnswer{s, r}.drive(d.vertex_answer_i);
        }
      }
      d.edge_valid_i = edge_slot >= 0;
      d.vertex_valid_i = vertex_slot >= 0;
      b.settle();
      b.hit("line and record together", d.edge_valid_i && d.vertex_valid_i);
      if (edge_slot >= 0 && d.edge_ready_o) access[edge_slot].kind = 0, edge_slot = -1;
      if (vertex_slot >= 0 && d.vertex_ready_o) access[vertex_slot].kind = 0, vertex_slot = -1;
      if (d.edge_valid_o) {
        const auto request = EdgeRequest::of(d.edge_request_o);
        b.check(!access[request.slot].kind, "a slot has two accesses");
        access[request.slot] = {1, request.line};
        ++edge_accesses;
      }
      if (d.vertex_valid_o) {
        const auto request = VertexRequest::of(d.vertex_request_o);
        b.check(!access[request.slot].kind, "a slot has two accesses");
        access[request.slot] = {2, request.vertex};
        ++vertex_accesses;
      }
      ++running;
      port += d.edge_valid_o || d.vertex_valid_o;
      if (more) {
        waited = d.listed_take_i ? 0 : waited + 1;
        b.hit("listing waits long", waited > 100);
        b.hit("no room for a listed embedding", waited > 100 && d.edge_valid_i && !d.edge_ready_o);
      }
      if (d.listed_take_i) {
        std::vector<unsigned> widths(DEPTH, 32);
        widths.push_back(NUMBER_W);
        widths.push_back(32);
        const auto f = unpack(d.listed_o, widths);
        std::vector<unsigned> in;
        for (unsigned j = 0; j < DEPTH; ++j) {
          const uint64_t id = f[DEPTH - 1 - j];
          if (j < c.k) in.push_back(id);
          else b.equal(id, ~0u, "a place without a vertex");
        }
        b.check(c.lists, "listing is off");
        const uint64_t ordinal = f[DEPTH + 1];
        b.check(ordinal < handed && units[ordinal].start == in[0], "listed for a wrong unit");
        const auto &list = neighbours[in[0]];
        const unsigned at = std::distance(list.begin(), list.find(in[1]));
        b.check(at >= units[ordinal].first && at < units[ordinal].limit, "listed for another part of the list");
        std::sort(in.begin(), in.end());
        b.check(wanted.count(in), "an embedding that is none");
        b.equal(f[DEPTH], wanted[in], "the listed pattern");
        b.check(listed.insert(in).second, "an embedding is listed twice");
        b.hit("listed");
        b.hit("listed in a row", d.listed_more_o);
        b.hit("filtered and listed in a row", c.filters && d.listed_more_o);
      }
      more = d.listed_more_o;
      const bool taken = d.unit_valid_i && d.unit_ready_o;
      b.hit("last work unit while others are under way", taken && handed + 1 == units.size() && d.busy_o);
      handed += taken;
      quiet = handed == units.size() && !d.busy_o ? quiet + 1 : 0;
      b.rise();
      if (taken) d.unit_valid_i = 0;
      if (killed) b.check(n < kill_at + 4000, "a killed run does not drain");
      if (quiet > 20) break;
    }
    was_killed = kills;
    b.hit("killed", kills);
    d.running_i = d.kill_i = d.unit_valid_i = 0;
    // Counters and counts: the answer comes in the next cycle.
    b.tick();
    std::vector<uint64_t> counters(PU_COUNTERS);
    for (unsigned at = 0; at < PU_COUNTERS; ++at) {
      d.counter_at_i = at;
      b.tick();
      b.settle();
      counters[at] = d.counter_o;
    }
    b.hit("every counter read");
    b.equal(counters[CNT_PU_EDGE_ACCESSES], edge_accesses, "edge accesses");
    b.equal(counters[CNT_PU_VERTEX_ACCESSES], vertex_accesses, "vertex accesses");
    b.equal(counters[CNT_PU_PORT_BUSY], port, "cycles with an access");
    b.equal(counters[CNT_PU_PORT_BUSY] + counters[CNT_PU_IDLE_NO_WORK] + counters[CNT_PU_IDLE_MEMORY] + counters[CNT_PU_IDLE_INSIDE],
            running, "cycles");
    b.hit("memory idle", counters[CNT_PU_IDLE_MEMORY] > 0);
    b.hit("no work", counters[CNT_PU_IDLE_NO_WORK] > 0);
    b.hit("stolen", counters[CNT_PU_STEALS] > 0);
    b.check(c.stealing || !counters[CNT_PU_STEALS], "stealing is off");
    if (kills) continue;
    b.equal(counters[CNT_PU_SLOTS_FREED], units.size() + counters[CNT_PU_STEALS], "slots freed");
    b.equal(counters[CNT_PU_EMBEDDINGS], starts, "embeddings of one vertex");
    if (c.k > 2) b.equal(counters[CNT_PU_EMBEDDINGS + 1], seconds, "embeddings of two vertices");
    b.equal(counters[CNT_PU_CANDIDATES + 1], candidates, "candidates for the second vertex");
    b.equal(counters[CNT_PU_EMBEDDINGS + c.k - 1], wanted.size(), "embeddings of k vertices");
    b.check(counters[CNT_PU_ENTRIES_SCANNED] >= candidates, "fewer entries scanned than candidates");
    for (unsigned n = 0; n < COUNTERS; ++n) {
      d.count_at_i = n;
      b.tick();
      b.settle();
      b.equal(d.count_o, counts[n], "a pattern's count");
    }
    if (c.lists) b.equal(listed.size(), wanted.size(), "listed embeddings");
    b.check(!d.saturated_o, "a count is saturated");
  }
  return b.end();
}
