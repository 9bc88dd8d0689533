// C simulation of the three kernels in sequence, as in software emulation: fill, the core's model with its kernel
// interface, drain. Counts and lists of cliques and motifs of random graphs, compared with brute force over all
// vertex subsets.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "check.hpp"
#include "gramer_machine.hpp"
#include "gramer_movers.hpp"

extern "C" void gramer_fill(const line_t*, unsigned, const line_t*, unsigned, unsigned,
                            hls::stream<beat_t>&);
extern "C" void gramer_core(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned long, unsigned, unsigned, unsigned, line_t*, unsigned long,
                            line_t*, line_t*, line_t*, line_t*, hls::stream<beat_t>&,
                            hls::stream<beat_t>&);
extern "C" void gramer_drain(line_t*, unsigned, hls::stream<beat_t>&);

// Words of device memory, line-aligned.
struct Buffer {
  std::unique_ptr<uint32_t[]> space;
  uint32_t* words;
  size_t beats;
  explicit Buffer(size_t beats) : space(new uint32_t[beats * 16 + 16]()), beats(beats) {
    void* at = space.get();
    size_t room = (beats * 16 + 16) * 4;
    words = static_cast<uint32_t*>(std::align(64, beats * 64, at, room));
    CHECK(words);
  }
  line_t* lines() { return reinterpret_cast<line_t*>(words); }
  uint64_t word64(size_t at) const { return words[2 * at] | uint64_t(words[2 * at + 1]) << 32; }
};

enum { CLIQUE, MOTIF };
enum { ASCENDING = 1, LIST = 8 };

static void one(Random& random, uint32_t application, uint32_t k, uint32_t flags, bool abort) {
  const uint32_t vertices = 4 + random.below(9), percent = 20 + random.below(70);
  std::vector<std::vector<bool>> edge(vertices, std::vector<bool>(vertices));
  for (uint32_t a = 0; a < vertices; a++)
    for (uint32_t b = 0; b < a; b++) edge[a][b] = edge[b][a] = random.below(100) < percent;

  const uint64_t edge_base = 4096;
  std::vector<Buffer> banks;
  for (unsigned b = 0; b < 4; b++) banks.emplace_back(edge_base / 64 + 16);
  const auto word = [&](uint64_t index, bool edges) -> uint32_t& {
    const uint64_t line = index / 16;
    return banks[line % 4].words[(edges ? edge_base / 4 : 0) + line / 4 * 16 + index % 16];
  };
  uint64_t entry = 0;
  for (uint32_t v = 0; v < vertices; v++) {
    word(4 * v, false) = uint32_t(entry);
    for (uint32_t u = 0; u < vertices; u++)
      if (edge[v][u]) word(entry++, true) = u;
    word(4 * v + 2, false) = uint32_t(entry) - word(4 * v, false);
  }

  // Every key is a separate pattern: only the total is compared.
  const uint32_t patterns = application == CLIQUE ? 1 : 1u << (k * (k - 1) / 2);
  const uint32_t dictionary = application == CLIQUE ? 0 : std::max(patterns / 32, 1u);
  Buffer head(1 + dictionary), units((vertices + 3) / 4 + 2);
  head.words[gramer::IN_HEADER_DICTIONARY_BEATS_AT / 32] = dictionary;
  head.words[gramer::IN_HEADER_PATTERNS_AT / 32] = patterns;
  for (uint32_t key = 0; key < dictionary * 32; key++)
    reinterpret_cast<uint16_t*>(head.words + 16)[key] =
        uint16_t(key % patterns | 1u << gramer::IN_DICTIONARY_KNOWN_AT);
  for (uint32_t v = 0; v < vertices; v++) {
    uint32_t* unit = units.words + 2 * 16 + 4 * v;  // from beat 2 on
    unit[0] = v;
    unit[2] = 0xffffffff;
    unit[3] = 1;
  }
  Buffer word_of_abort(1), result(4096);
  word_of_abort.words[5] = abort;

  hls::stream<beat_t> in, out;
  gramer_fill(head.lines(), unsigned(head.beats), units.lines(), 2, (vertices + 3) / 4, in);
  gramer_core(application, k, flags, 16, 8, 0, 0, 1, 1, 1000,
              random.below(2) || abort
                  ? reinterpret_cast<line_t*>(reinterpret_cast<char*>(word_of_abort.words) + 20)
                  : nullptr,
              edge_base, banks[0].lines(), banks[1].lines(), banks[2].lines(), banks[3].lines(),
              in, out);
  gramer_drain(result.lines(), unsigned(result.beats), out);
  CHECK(in.empty() && out.empty());

  uint64_t expected = 0;
  std::set<std::vector<uint32_t>> listed;
  for (uint32_t set = 0; set < 1u << vertices; set++) {
    if (uint32_t(__builtin_popcount(set)) != k) continue;
    std::vector<uint32_t> ids;
    for (uint32_t v = 0; v < vertices; v++)
      if (set >> v & 1) ids.push_back(v);
    uint32_t reached = 1, edges = 0;
    for (uint32_t round = 0; round < k; round++)
      for (uint32_t a = 0; a < k; a++)
        for (uint32_t b = 0; b < k; b++)
          if (reached >> a & 1 && edge[ids[a]][ids[b]]) reached |= 1u << b;
    for (uint32_t a = 0; a < k; a++)
      for (uint32_t b = 0; b < a; b++) edges += edge[ids[a]][ids[b]];
    if (application == CLIQUE ? edges != k * (k - 1) / 2 : reached != (1u << k) - 1) continue;
    expected++;
    listed.insert(ids);
  }

  const uint64_t beats = result.word64(gramer::RESULT_SUMMARY_BEATS_AT / 64);
  CHECK(result.words[2] == 0);  // no overflow
  uint64_t at = 8;              // in words of 64 bits
  uint64_t records = 0;
  if (flags & LIST && !abort) {
    records = expected;
    std::set<std::vector<uint32_t>> seen;
    for (uint64_t r = 0; r < records; r++) {
      const uint32_t* record = result.words + 16 + 8 * r;
      std::vector<uint32_t> ids(record + 2, record + 2 + k);
      std::sort(ids.begin(), ids.end());
      CHECK(ids[0] != ids[1] && listed.count(ids) == 1);
      CHECK(seen.insert(ids).second);
    }
    at += (records + 1) / 2 * 8;
  }
  uint64_t found = 0;
  for (uint32_t p = 0; p < patterns; p++) found += result.word64(at + p);
  CHECK(found == (abort ? 0 : expected));
  at += (patterns + 7) / 8 * 8;
  CHECK(result.words[2 * at] == (abort ? 2u : 0u));
  CHECK(result.word64(at + gramer::OUT_STATUS_NEXT_UNIT_AT / 64) == (abort ? 0 : vertices));
  CHECK(result.word64(at + gramer::OUT_STATUS_RECORDS_AT / 64) == records);
  at += 8;
  const uint64_t values = gramer::CORE_COUNTERS + gramer::BANKS * gramer::BANK_COUNTERS
                          + gramer::PERFORMANCE_COUNTERS
                                * (gramer::PUS * gramer::PU_COUNTERS
                                   + gramer::PARTITIONS * gramer::PARTITION_COUNTERS);
  CHECK(result.word64(at + gramer::CNT_CORE_WORK_UNITS) == (abort ? 0 : vertices));
  CHECK(beats == at / 8 - 1 + (values + 7) / 8);
}

int main() {
  Random random{3};
  for (uint32_t round = 0; round < 40; round++)
    for (uint32_t k = 3; k <= 5; k++)
      for (uint32_t flags : {0u, uint32_t(ASCENDING), uint32_t(LIST), uint32_t(ASCENDING | LIST)}) {
        one(random, CLIQUE, k, flags, false);
        if (k < 5) one(random, MOTIF, k, flags, false);
        one(random, CLIQUE, k, flags, round % 4 == 0);
      }
  std::printf("kernels: %lu checks\n", checks);
}
