// C simulation of the functional model: random graphs in the layout of device memory, compared with brute force
// over all vertex subsets.
#include <map>
#include <set>

#include "check.hpp"
#include "core_model.hpp"

using gramer::Line;

enum { CLIQUE, MOTIF, FSM };
enum { ASCENDING = 1, LIST = 8, FILTER = 16, SELECT = 32 };
// Conditions of filters, one bit each.
enum { LABELS_DIFFER = 1, DEGREE_OR_LABEL = 2, NEIGHBOURS_DIFFER = 4, DEGREE_OR_START = 8 };
enum { DONE, FULL, ABORTED, REFUSED = 4 };
constexpr uint32_t LABEL_BITS = 2, FSM_PAIRS = 3, REJECTED = 0x7fff;
constexpr uint64_t EDGES = 1 << 20, ABORT = 0x7fff0040;

typedef std::vector<uint32_t> Ids;

struct Graph {
  uint32_t vertices;
  std::vector<std::vector<bool>> edge;
  Ids label;
};

static Graph draw(Random& random, uint32_t vertices, uint32_t percent) {
  Graph g{vertices, std::vector<std::vector<bool>>(vertices, std::vector<bool>(vertices)), {}};
  for (uint32_t a = 0; a < vertices; a++) {
    g.label.push_back(random.below(1u << LABEL_BITS));
    for (uint32_t b = 0; b < a; b++) g.edge[a][b] = g.edge[b][a] = random.below(100) < percent;
  }
  return g;
}

// Key of vertices in this order: one bit per pair, pairs of later vertices in higher bits, then for FSM
// the labels.
static uint32_t key_of(const Graph& g, const Ids& ids, bool labels) {
  uint32_t key = 0;
  for (size_t b = 0, bit = 0; b < ids.size(); b++)
    for (size_t a = 0; a < b; a++) key |= uint32_t(g.edge[ids[a]][ids[b]]) << bit++;
  for (size_t a = 0; labels && a < ids.size(); a++)
    key |= g.label[ids[a]] << (FSM_PAIRS + a * LABEL_BITS);
  return key;
}

// Canonical key: the smallest over all orders, equal for isomorphic patterns only.
static uint32_t canonical(const Graph& g, Ids ids, bool labels) {
  std::sort(ids.begin(), ids.end());
  uint32_t least = ~0u;
  do least = std::min(least, key_of(g, ids, labels));
  while (std::next_permutation(ids.begin(), ids.end()));
  return least;
}

static bool connected(const Graph& g, const Ids& ids) {
  std::set<uint32_t> seen{ids[0]};
  for (size_t round = 0; round < ids.size(); round++)
    for (uint32_t a : ids)
      for (uint32_t b : ids)
        if (seen.count(a) && g.edge[a][b]) seen.insert(b);
  return seen.size() == ids.size();
}

struct Unit {
  uint32_t vertex, first, limit;
};

constexpr uint32_t LAMBDA_MOST = 512;  // of the modelled machine


struct Task {
  uint32_t application, k, flags, banks, count_bits, result_beats;
  uint32_t patterns;                // number of patterns
  std::vector<uint16_t> dictionary;  // indexed by key
  // In range: slots, lambda, vertex bound, vertex sets, edge sets, edge bound.
  uint32_t slots = 4, lambda = LAMBDA_MOST, vertex_bound = 20, vertex_sets = 8, edge_sets = 1;
  uint64_t edge_bound = 40;
  bool counted = true;  // the machine has performance counters
  uint32_t filter = 0;  // its conditions; FILTER is set if there are some
};

struct Result {
  uint32_t status;
  bool saturated;
  uint64_t address, next, records;
  std::vector<uint64_t> counts, counters;
  std::vector<std::pair<uint32_t, Ids>> listed;  // pattern and vertices of finished units, sorted
};

// The words of a filter (docs/reference/paper-core.md).
static std::vector<uint64_t> words_of(uint32_t filter) {
  enum { LABEL, DEGREE, ADJACENT, CONSTANT }; // on the left 2 is a constant, and 3 the size
  enum { EQUAL, LESS, GREATER };
  const auto word = [](uint64_t left, uint64_t relation, uint64_t right, uint64_t constant, bool negated, bool ends,
                       bool pairs) {
    return constant | left << 32 | right << 34 | relation << 36 | uint64_t(negated) << 38 | uint64_t(ends) << 39 |
           uint64_t(pairs) << 40;
  };
  std::vector<uint64_t> words;
  if (filter & LABELS_DIFFER) words.push_back(word(LABEL, EQUAL, LABEL, 0, true, true, true));
  if (filter & DEGREE_OR_LABEL) {
    words.push_back(word(DEGREE, LESS, CONSTANT, 3, true, false, false));
    words.push_back(word(LABEL, EQUAL, CONSTANT, 1, false, true, false));
  }
  if (filter & NEIGHBOURS_DIFFER) {
    words.push_back(word(2, EQUAL, ADJACENT, 0, false, false, true));
    words.push_back(word(DEGREE, LESS, DEGREE, 0, false, false, true));
    words.push_back(word(DEGREE, GREATER, DEGREE, 0, false, true, true));
  }
  if (filter & DEGREE_OR_START) {
    words.push_back(word(3, LESS, CONSTANT, 2, false, false, false));
    words.push_back(word(DEGREE, LESS, CONSTANT, 2, true, true, false));
  }
  if (!words.empty()) words.back() |= uint64_t(1) << 41;
  return words;
}

static uint32_t degree(const Graph& g, uint32_t v) {
  return uint32_t(std::count(g.edge[v].begin(), g.edge[v].end(), true));
}

// Whether a set of vertices, reached from this one, meets the conditions.
static bool passes(const Graph& g, uint32_t filter, const Ids& ids, uint32_t start) {
  for (uint32_t a : ids) {
    if (filter & DEGREE_OR_START && degree(g, a) < 2 && a != start) return false;
    if (filter & DEGREE_OR_LABEL && degree(g, a) < 3 && g.label[a] != 1) return false;
    for (uint32_t b : ids) {
      if (filter & LABELS_DIFFER && a != b && g.label[a] == g.label[b]) return false;
      if (filter & NEIGHBOURS_DIFFER && g.edge[a][b] && degree(g, a) == degree(g, b)) return false;
    }
  }
  return true;
}

static Result run(const Graph& g, const Task& task, const std::vector<Unit>& units,
                  uint32_t abort_word) {
  // Device memory: line i of an array is in bank i mod banks.
  std::map<uint64_t, Line> memory;
  gramer::CoreArguments arguments{task.application, task.k, task.flags, task.result_beats,
                                  task.slots, task.lambda, task.vertex_bound, task.vertex_sets,
                                  task.edge_sets, task.edge_bound, ABORT, EDGES, {}};
  for (uint32_t b = 0; b < 4; b++) arguments.bank[b] = (b + 1) * 0x1000000000;
  const auto word = [&](uint64_t index, bool edges) -> uint32_t& {
    const uint64_t line = index / 16;
    return memory[arguments.bank[line % task.banks] + (edges ? EDGES : 0) +
                  line / task.banks * 64].words[index % 16];
  };
  uint64_t entry = 0;
  for (uint32_t v = 0; v < g.vertices; v++) {
    const uint64_t first = entry;
    for (uint32_t u = 0; u < g.vertices; u++)
      if (g.edge[v][u]) word(entry++, true) = u;
    word(4 * v, false) = uint32_t(first);
    word(4 * v + 2, false) = uint32_t(entry - first);
    word(4 * v + 3, false) = g.label[v];
  }
  memory[ABORT & ~63ull].words[ABORT / 4 % 16] = abort_word;

  // In-stream, with scratchpad lines that must not affect results.
  const uint32_t entries = uint32_t(task.dictionary.size() + 31) / 32;
  const std::vector<uint64_t> words = words_of(task.filter);
  const uint32_t filters = task.flags & FILTER ? 1 : 0;
  std::vector<Line> in(1 + filters + entries + 5 + (units.size() + 3) / 4, Line{});
  if (filters) std::memcpy(in[1].words, words.data(), words.size() * 8);
  in[0].words[0] = entries;
  in[0].words[1] = 2;
  in[0].words[2] = 3;
  in[0].words[3] = task.patterns;
  for (size_t i = 0; i < task.dictionary.size(); i++)
    in[1 + filters + i / 32].words[i % 32 / 2] |= uint32_t(task.dictionary[i]) << 16 * (i % 2);
  for (size_t i = 0; i < units.size(); i++) {
    uint32_t* to = in[1 + filters + entries + 5 + i / 4].words + i % 4 * 4;
    to[0] = units[i].vertex, to[1] = units[i].first, to[2] = units[i].limit, to[3] = 1;
  }

  // A layout of counters: core 2, PU 2 + 2 depths, partition 3, bank 2; or core and bank alone.
  const uint32_t depth = 16, pu = task.counted ? 2 + 2 * depth : 0, partition = task.counted ? 3 : 0;
  const gramer::CoreMachine machine{2, 3, task.banks, depth, LABEL_BITS, task.count_bits,
                                    2, pu, partition, 2, 0, 1, 0, 1, 2, 2 + depth,
                                    4, 6, LAMBDA_MOST, 0, 20, 40, 8, 16, 8, {10, 11, 12, 13, 14, 15, 16, 17, 18}};
  const auto read = [&](uint64_t address) {
    const auto line = memory.find(address);
    CHECK(line != memory.end());  // no read outside of the graph
    return line->second;
  };
  gramer::CoreModel<decltype(read)> model(machine, arguments, read);
  const std::vector<Line> out = model.run(in.data(), in.size());

  Result result{};
  const uint32_t values = 2 + 2 * pu + 3 * partition + 2 * task.banks;
  const size_t tail = (task.patterns + 7) / 8 + 1 + (values + 7) / 8;
  CHECK(out.size() >= tail);
  const size_t record_beats = out.size() - tail;
  const auto value = [&](size_t beat, size_t at) {
    return out[beat].words[2 * at] | uint64_t(out[beat].words[2 * at + 1]) << 32;
  };
  for (uint32_t p = 0; p < task.patterns; p++)
    result.counts.push_back(value(record_beats + p / 8, p % 8));
  const size_t status = out.size() - (values + 7) / 8 - 1;
  result.status = out[status].words[0];
  result.saturated = out[status].words[1] & 1;
  result.address = value(status, 1);
  result.next = value(status, 2);
  result.records = value(status, 3);
  for (uint32_t i = 0; i < values; i++) result.counters.push_back(value(status + 1 + i / 8, i % 8));

  if (!(task.flags & LIST)) CHECK(record_beats == 0);
  CHECK(record_beats <= task.result_beats);
  const uint32_t size = task.k <= 6 ? 8 : task.k <= 14 ? 16 : 32;
  uint64_t found = 0;
  for (size_t at = 0; at + size <= record_beats * 16; at += size) {
    Ids record;
    for (uint32_t i = 0; i < size; i++) record.push_back(out[(at + i) / 16].words[(at + i) % 16]);
    if (record[1] == ~0u) continue;
    for (uint32_t i = 2 + task.k; i < size; i++) CHECK(record[i] == ~0u);
    found++;
    Ids ids(record.begin() + 2, record.begin() + 2 + task.k);
    const uint32_t start = ids[0];
    std::sort(ids.begin(), ids.end());
    CHECK(start == (task.flags & ASCENDING ? ids.front() : ids.back()));
    CHECK(record[0] < units.size() && start == units[record[0]].vertex);
    if (record[0] < result.next) result.listed.push_back({record[1], ids});
  }
  CHECK(found == result.records);
  std::sort(result.listed.begin(), result.listed.end());
  return result;
}

// Expected result of a task, by brute force over all subsets; fills in the dictionary.
static std::vector<std::pair<uint32_t, Ids>> expect(Random& random, const Graph& g, Task& task) {
  const bool labels = task.application == FSM;
  std::map<uint32_t, uint32_t> number;     // by canonical key
  std::map<uint32_t, bool> allowed_pairs;  // FSM: labelled edges
  std::map<uint32_t, bool> selected;       // motifs of k vertices
  if (task.application == CLIQUE) task.patterns = 1;
  const bool selects = task.application == MOTIF && task.flags & SELECT;
  if (task.application == MOTIF) task.dictionary.assign(1u << (task.k * (task.k - 1) / 2), 0);
  // All motifs of fewer vertices: they have the lower keys.
  for (uint32_t key = 0; selects && key < 1u << (task.k - 1) * (task.k - 2) / 2; key++) task.dictionary[key] = 0x8000;
  if (labels) {
    // A third of the labelled edges is infrequent, and so are all patterns that contain them.
    task.dictionary.assign(1u << (FSM_PAIRS + 3 * LABEL_BITS), REJECTED);
    for (uint32_t a = 0; a < g.vertices; a++)
      for (uint32_t b = 0; b < a; b++) {
        if (!g.edge[a][b]) continue;
        const uint32_t least = canonical(g, {a, b}, true);
        if (!allowed_pairs.count(least)) allowed_pairs[least] = random.below(3) > 0;
        for (const Ids& order : {Ids{a, b}, Ids{b, a}})
          if (allowed_pairs[least]) task.dictionary[key_of(g, order, true)] = 0x8000;
      }
  }
  std::vector<std::pair<uint32_t, Ids>> all;
  Ids ids;
  const auto start = [&] { return task.flags & ASCENDING ? ids.front() : ids.back(); };
  const auto subset = [&](auto&& self, uint32_t from) -> void {
    if (ids.size() < task.k) {
      for (uint32_t v = from; v < g.vertices; v++) {
        ids.push_back(v);
        self(self, v + 1);
        ids.pop_back();
      }
      return;
    }
    if (task.application == CLIQUE) {
      for (uint32_t a : ids)
        for (uint32_t b : ids)
          if (a != b && !g.edge[a][b]) return;
      if (passes(g, task.filter, ids, start())) all.push_back({0, ids});
      return;
    }
    if (!connected(g, ids)) return;
    if (labels)
      for (uint32_t a : ids)
        for (uint32_t b : ids)
          if (a < b && g.edge[a][b] && !allowed_pairs[canonical(g, {a, b}, true)]) return;
    const uint32_t least = canonical(g, ids, labels);
    const uint32_t pattern = number.emplace(least, number.size()).first->second;
    if (!selected.count(least)) selected[least] = !selects || random.below(3) > 0;
    const bool known = labels || (selects && selected[least]);
    Ids order = ids;
    do task.dictionary[key_of(g, order, labels)] = uint16_t(pattern | (known ? 0x8000 : 0));
    while (std::next_permutation(order.begin(), order.end()));
    if (selected[least] && passes(g, task.filter, ids, start())) all.push_back({pattern, ids});
  };
  subset(subset, 0);
  if (task.application != CLIQUE) task.patterns = std::max<uint32_t>(1, number.size());
  std::sort(all.begin(), all.end());
  return all;
}

static void check(Random& random, const Graph& g, Task task) {
  const auto all = expect(random, g, task);
  std::vector<Unit> units;
  for (uint32_t v = 0; v < g.vertices; v++) {
    // Some units are split into two ranges of neighbours.
    const uint32_t cut = random.below(3) ? 0 : random.below(degree(g, v) + 1);
    if (cut) units.push_back({v, 0, cut});
    units.push_back({v, cut, ~0u});
  }
  std::vector<uint64_t> counts(task.patterns, 0);
  for (const auto& [pattern, ids] : all) counts[pattern]++;

  // In one run: counts, counters, and the list if requested.
  const Result whole = run(g, task, units, 0);
  CHECK(whole.status == DONE && whole.next == units.size());
  const uint64_t most = task.count_bits == 64 ? ~0ull : (1ull << task.count_bits) - 1;
  bool saturated = false;
  for (uint32_t p = 0; p < task.patterns; p++) {
    CHECK(whole.counts[p] == std::min(counts[p], most));
    saturated |= counts[p] > most;
  }
  CHECK(whole.saturated == saturated && whole.counters[1] == saturated);
  CHECK(whole.counters[0] == units.size());
  if (task.counted) {
    uint64_t roots = 0;
    for (uint32_t v = 0; v < g.vertices; v++) roots += passes(g, task.filter, {v}, v);
    CHECK(whole.counters[2 + 2 + 16] == roots);                  // embeddings of one vertex
    CHECK(whole.counters[2 + 2 + 16 + task.k - 1] == all.size());  // and of k
  } else {
    for (size_t at = 2; at < whole.counters.size(); at++) CHECK(whole.counters[at] == 0);
  }
  if (task.flags & LIST) CHECK(whole.listed == all);

  // Abort word set before the first unit.
  const Result none = run(g, task, units, 1 + random.below(2));
  CHECK(none.status == ABORTED && none.next == 0 && none.records == 0);
  for (uint64_t count : none.counts) CHECK(count == 0);

  // A small result area: each run resumes where the previous one stopped.
  if (!(task.flags & LIST)) return;
  task.result_beats = 4 + random.below(20);
  std::vector<std::pair<uint32_t, Ids>> listed;
  std::vector<Unit> left = units;
  while (!left.empty()) {
    const Result part = run(g, task, left, 0);
    CHECK(part.status == (part.next == left.size() ? DONE : FULL));
    if (part.next == 0) task.result_beats *= 2;  // the first unit alone does not fit
    listed.insert(listed.end(), part.listed.begin(), part.listed.end());
    left.erase(left.begin(), left.begin() + long(part.next));
  }
  std::sort(listed.begin(), listed.end());
  CHECK(listed == all);
}

int main() {
  Random random{2};
  unsigned found = 0;
  for (int i = 0; i < 300; i++) {
    Task task{};
    task.application = random.below(3);
    task.k = task.application == FSM ? 2 + random.below(2) : 2 + random.below(4);
    task.flags = random.below(2) * ASCENDING | random.below(2) * LIST | random.below(2) * SELECT;
    task.banks = 1u << random.below(3);
    task.count_bits = random.below(4) ? 64 : 5;
    task.result_beats = 1 << 20;
    task.counted = random.below(4) > 0;
    task.filter = random.below(2) ? random.below(16) : 0;
    if (task.filter) task.flags |= FILTER;
    const Graph g = draw(random, 1 + random.below(14), 10 + random.below(70));
    check(random, g, task);
    found++;
  }
  // Records of 16 and 32 words: large cliques.
  for (uint32_t k : {6u, 7u, 14u, 15u, 16u}) {
    Task task{CLIQUE, k, LIST, 2, 64, 1 << 20, 1, {}};
    check(random, draw(random, 17, 100), task);
    found++;
  }
  // Arguments out of range: one at a time, then two, of which the first is reported.
  const Graph triangle = draw(random, 3, 100);
  const std::vector<Unit> units{{0, 0, ~0u}, {1, 0, ~0u}, {2, 0, ~0u}};
  const Task good{CLIQUE, 3, 0, 2, 64, 0, 1, {}};
  CHECK(run(triangle, good, units, 0).status == DONE && run(triangle, good, units, 0).counts[0] == 1);
  const auto refuses = [&](uint32_t offset, auto change) {
    Task task = good;
    change(task);
    const Result result = run(triangle, task, units, 0);
    CHECK(result.status == REFUSED && result.address == offset && result.next == 0);
    CHECK(result.counts[0] == 0 && result.counters[0] == 0);
  };
  refuses(10, [](Task& t) { t.application = 3; });
  refuses(11, [](Task& t) { t.k = 1; });
  refuses(11, [](Task& t) { t.k = 17; });
  refuses(11, [](Task& t) { t.application = MOTIF, t.k = 7; });
  refuses(11, [](Task& t) { t.application = FSM, t.k = 4; });
  refuses(12, [](Task& t) { t.flags = 64; });
  refuses(13, [](Task& t) { t.slots = 0; });
  refuses(13, [](Task& t) { t.slots = 5; });
  refuses(14, [](Task& t) { t.lambda = LAMBDA_MOST + 1; });
  refuses(15, [](Task& t) { t.vertex_bound = 21; });
  refuses(16, [](Task& t) { t.edge_bound = 1ull << 32; });
  refuses(17, [](Task& t) { t.vertex_sets = 0; });
  refuses(17, [](Task& t) { t.vertex_sets = 9; });
  refuses(18, [](Task& t) { t.edge_sets = 0; });
  refuses(11, [](Task& t) { t.k = 0, t.slots = 0; });
  std::printf("core model: %u tasks, %lu checks\n", found, checks);
}
