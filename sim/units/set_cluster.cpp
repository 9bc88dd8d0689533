// set_cluster against cliques counted vertex by vertex: whole graphs, and ranges of members.
#include "bench.hpp"
#include "set_image.hpp"

namespace {

constexpr unsigned PARTS = PARTITIONS;
constexpr uint32_t LIST_ENTRIES = LIST_LINES * LINE_ENTRIES - 8; // less than a list holds, with its last vertices

struct Cluster {
  Bench &b;
  Vdut &d;
  explicit Cluster(Bench &bench) : b(bench), d(*bench.dut) {
    d.write_i = d.push_i = d.clear_i = d.running_i = 0;
    b.reset(d.rst_i);
    for (int i = 0; i < 40; ++i) b.tick();
  }

  void load(const SetImage &image) {
    b.check(image.lines() <= PARTS * PARTITION_LINES, "an image of %u lines", image.lines());
    for (uint32_t line = 0; line < image.lines(); ++line) {
      d.write_i = 1u << line % PARTS;
      d.write_at_i[0] = line / PARTS;
      for (int w = 0; w < 16; ++w) d.write_line_i[0][w] = image.words[line * 16 + w];
      b.tick();
    }
    d.write_i = 0;
  }

  /// The cycles from the first unit to the end.
  uint64_t run(const std::vector<uint64_t> &units, const std::array<unsigned, PLANS> &plans, unsigned holes) {
    for (unsigned p = 0; p < PLANS; ++p) d.plan_i[p] = plans[p];
    d.clear_i = 1;
    b.tick();
    d.clear_i = 0;
    d.running_i = 1;
    const uint64_t begin = b.cycle;
    size_t at = 0;
    unsigned quiet = 0;
    uint64_t limit = 2'000'000;
    while (quiet < 24) {
      b.settle();
      d.push_i = 0;
      if (at < units.size() && !b.chance(holes)) {
        unsigned best = 0;
        for (unsigned p = 1; p < PUS; ++p)
          if (d.free_o[p] > d.free_o[best]) best = p;
        if (d.free_o[best]) {
          d.push_i = 1u << best;
          for (unsigned u = 0; u < UNITS_A_GROUP; ++u) {
            const bool there = at < units.size() && !(holes && b.chance(20));
            d.unit_i[u] = there ? units[at++] : 0;
          }
        }
      }
      b.tick();
      quiet = at == units.size() && !d.busy_o && !d.push_i ? quiet + 1 : 0;
      b.check(--limit, "the cluster does not end");
    }
    d.running_i = 0;
    return b.cycle - begin - quiet;
  }

  uint64_t sum(unsigned at) {
    d.sum_at_i = at;
    b.tick();
    uint64_t all = 0;
    for (unsigned p = 0; p < PUS; ++p) all += d.sum_o[p];
    return all;
  }
  uint64_t pu(unsigned at) {
    d.counter_at_i = at;
    b.tick();
    uint64_t all = 0;
    for (unsigned p = 0; p < PUS; ++p) all += d.pu_counter_o[p];
    return all;
  }
  uint64_t partition(unsigned at) {
    d.counter_at_i = at;
    b.tick();
    uint64_t all = 0;
    for (unsigned p = 0; p < PARTS; ++p) all += d.partition_counter_o[p];
    return all;
  }
};

} // namespace

int main(int argc, char **argv) {
  Bench b("set_cluster",
          {"no clique", "k = 3", "k = 4", "k = 5", "k = 6 and more", "cliques of several sizes", "cliques of several sizes in one sum", "a list of a quarter-line",
           "a list of several lines", "rows of two words", "rows of four words",
           "a member with lengths", "a range of members", "a unit without a member to visit",
           "places without units", "edges",
           "paths", "a block in parts", "a block whose lengths are asked for", "no operation"},
          argc, argv);
  Cluster c(b);
  for (int n = 0; n < 60; ++n) {
    // Sparse, dense, with a large clique, with a hub, complete.
    const unsigned kind = n % 6;
    const uint32_t vertices = kind == 5 ? 20 + b.random(30) : kind == 2 ? 80 + b.random(120)
                              : n == 4 || n == 10 ? 700 : kind == 4 ? 30 + b.random(800) : 30 + b.random(300);
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    auto random_edges = [&](uint64_t m) {
      for (uint64_t e = 0; e < m; ++e) edges.push_back({uint32_t(b.random(vertices)), uint32_t(b.random(vertices))});
    };
    auto clique = [&](uint32_t size) {
      const uint32_t from = b.random(vertices - size + 1);
      for (uint32_t x = 0; x < size; ++x)
        for (uint32_t y = 0; y < x; ++y) if (!b.chance(5)) edges.push_back({from + x, from + y});
    };
    unsigned most = 6;
    bool ranked = true;
    switch (kind) {
    case 0: random_edges(vertices * (1 + b.random(4))); break;
    case 1: random_edges(vertices * (8 + b.random(20))); break;
    case 2: random_edges(uint64_t(vertices) * vertices * (10 + b.random(25)) / 100), most = 4; break;
    case 3: random_edges(vertices * 3), clique(10 + b.random(16)), most = 9; break;
    case 4: // hubs before all others, or vertices with long lists behind all others
      random_edges(vertices * 3);
      ranked = n != 10 && b.chance(50);
      for (uint32_t v = 0; v < 4; ++v) {
        const uint32_t hub = ranked ? v : vertices - 1 - v;
        for (uint32_t w = 0; w < std::min(vertices, LIST_ENTRIES); ++w) edges.push_back({hub, w});
      }
      for (uint32_t v = 0; !ranked && v < 4; ++v)
        for (uint32_t w = 0; w < v; ++w) edges.push_back({vertices - 1 - v, vertices - 1 - w});
      break;
    default: clique(12 + b.random(6)), random_edges(vertices * 2), most = 16; break;
    }
    const bool both = b.chance(50);
    const SetImage image(vertices, edges, both, ranked);
    c.load(image);
    const unsigned k = 3 + b.random(most - 2);
    std::vector<uint64_t> units;
    std::vector<uint64_t> expected(SUMS);
    std::array<unsigned, PLANS> plans{unsigned(k << 4 | OP_CLIQUES), OP_EDGES, OP_PATHS, 9}; // 9: no operation
    const bool sizes = !both && b.chance(40), common = sizes && b.chance(20);
    const unsigned shift = b.random(PLANS);
    for (unsigned p = 0; sizes && p < PLANS; ++p) {
      const unsigned sum = common ? shift : (p + shift) % PLANS;
      plans[p] = unsigned(sum << 9 | (p ? 3 + b.random(5) : k) << 4 | OP_CLIQUES);
    }
    b.hit("cliques of several sizes in one sum", common);
    b.hit("cliques of several sizes", sizes);
    for (uint32_t v = 0; v < image.n; ++v) {
      const size_t degree = image.up[v].size();
      if (!degree || image.up_quarters[v] > LIST_LINES * 4) continue;
      const uint32_t q = image.up_quarters[v];
      const unsigned plan = sizes ? unsigned(b.random(PLANS)) : 0;
      b.hit("a list of a quarter-line", q == 1);
      b.hit("a list of several lines", q > 4);
      b.hit("rows of two words", q > 16 && k > 3);
      b.hit("rows of four words", q > 32 && k > 3);
      for (uint32_t w : image.up[v]) b.hit("a member with lengths", image.up_quarters[w] >= 63);
      if (degree > 1 && b.chance(10)) {
        const size_t cut = b.random(degree + 1);
        units.push_back(SetImage::unit(image.id[v], q, plan, 0, cut));
        units.push_back(SetImage::unit(image.id[v], q, plan, cut, 4095));
        b.hit("a range of members");
      } else units.push_back(SetImage::unit(image.id[v], q, plan, 0, 4095));
      b.hit("a unit without a member to visit", degree == 1);
      expected[SUM_CLIQUES + (plans[plan] >> 9 & 3)] += image.cliques(v, plans[plan] >> 4 & 31);
    }
    // Edges and paths in between, or alone.
    if (both) {
      if (b.chance(30)) units.clear(), expected[SUM_CLIQUES] = 0;
      const unsigned share = b.random(100);
      for (uint32_t v = 0; v < image.n; ++v) {
        const uint32_t q = image.block_quarters[v];
        const bool paths = b.chance(share), ask = q >= 63 && b.chance(70);
        if (image.up[v].empty() && image.down[v].empty()) continue;
        b.hit("edges", !paths);
        b.hit("paths", paths);
        b.hit("a block in parts", q > 4 * LIST_LINES);
        b.hit("a block whose lengths are asked for", ask);
        const uint64_t unit = SetImage::unit(image.id[v], ask ? 4095 : q, paths ? 2 : 1, 0, 4095);
        units.insert(units.begin() + b.random(units.size() + 1), unit);
        image.neighbourhood(v, paths, expected);
      }
    }
    if (!sizes && b.chance(30)) units.push_back(SetImage::unit(0, 1, 3, 0, 4095)), b.hit("no operation");
    const unsigned holes = b.chance(50) ? 30 : 0;
    b.hit("places without units", holes);
    const uint64_t cycles = c.run(units, plans, holes);
    for (unsigned at = 0; at < SUMS; ++at)
      b.check(c.sum(at) == expected[at],
              "graph %d of kind %u, %u vertices, k = %u: sum %u is %llu instead of %llu", n, kind, vertices,
              k, at, (unsigned long long)c.sum(at), (unsigned long long)expected[at]);
    b.equal(c.pu(CNT_PU_UNITS), units.size(), "units");
    b.equal(c.pu(CNT_PU_LINES_REQUESTED), c.pu(CNT_PU_LINES_ANSWERED), "lines requested and answered");
    b.equal(c.pu(CNT_PU_LINES_REQUESTED), c.partition(CNT_PARTITION_LINES), "lines of the partitions");
    b.hit("no clique", !both && std::all_of(expected.begin(), expected.end(), [](uint64_t sum) { return sum == 0; }));
    b.hit("k = 3", k == 3);
    b.hit("k = 4", k == 4);
    b.hit("k = 5", k == 5);
    b.hit("k = 6 and more", k >= 6);
    if (std::getenv("VERBOSE")) {
      std::printf("kind %u, %u vertices, %u lines, k %u: %llu in %llu cycles\n", kind, vertices, image.lines(), k,
                  (unsigned long long)expected[SUM_CLIQUES], (unsigned long long)cycles);
    std::fflush(stdout);
    }
  }
  return b.end();
}
