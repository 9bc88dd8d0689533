// Functional model of the core: results without timing. Streams, arguments and statuses are those of the
// hardware (docs/reference/paper-core.md, "Streams"). Counters known to such a model (units, candidates,
// embeddings, extensions) have their value, all others are 0.
//
// An independent implementation of algorithm 1 of the paper, without the hardware's tokens and without the host's
// engines. Vertex ids are ranks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace gramer {

// Parameters of accelerator.yaml.
struct CoreMachine {
  uint32_t processing_units, partitions, banks, depth, label_bits, count_bits;
  // Number of values in each section of the counters (0 if the machine lacks it), and first positions
  // of the known ones.
  uint32_t core_counters, pu_counters, partition_counters, bank_counters;
  uint32_t work_units, saturated, extensions, entries_scanned, candidates, embeddings;
  // Maxima of the arguments, and their AXI4-Lite offsets: application, k, flags, slots, lambda,
  // vertex_bound, edge_bound, vertex_sets, edge_sets.
  uint32_t slots, max_motif, lambda_most, uniform;
  uint32_t vertex_lines, edge_lines;  // capacity of the scratchpads
  uint32_t vertex_sets, edge_sets;
  uint32_t filter_words;
  uint32_t offsets[9];
};

// AXI4-Lite arguments of the core; results depend on those that affect more than timing.
struct CoreArguments {
  uint32_t application, k, flags, result_beats;
  uint32_t slots, lambda, vertex_bound, vertex_sets, edge_sets;
  uint64_t edge_bound;
  uint64_t abort, edge_base;
  uint64_t bank[4];
};

struct Line {
  uint32_t words[16];
};

template <typename Read>  // Line read(uint64_t address)
class CoreModel {
  enum { CLIQUE = 0, MOTIF = 1, FSM = 2 };
  enum { ASCENDING = 1, LIST = 8, FILTER = 16, SELECT = 32 };
  enum { DONE = 0, FULL = 1, ABORTED = 2, REFUSED = 4 };
  static constexpr unsigned FSM_PAIRS = 3, FSM_SIZE = 3;
  static constexpr uint32_t NONE = 0xffffffff;

  struct Vertex {
    std::vector<uint32_t> neighbours;
    uint32_t label;
  };

  const CoreMachine& machine;
  const CoreArguments& arguments;
  Read read;
  std::unordered_map<uint32_t, Vertex> vertices;
  std::vector<uint16_t> dictionary;
  std::vector<uint64_t> program;  // words of the user's filter
  std::vector<uint64_t> counts;
  std::vector<uint64_t> candidates, embeddings;
  std::vector<Line> out;
  uint64_t extensions = 0, scanned = 0, units = 0, records = 0, next = 0;
  uint32_t status = DONE, used = 0;  // words of the last beat of records
  bool saturated = false, full = false;
  // The embedding and its key: adjacency bits, then labels.
  std::vector<uint32_t> embedding;
  std::vector<uint32_t> keys;

  // Offset of the first argument out of range, or null.
  const uint32_t* refused() const {
    const CoreArguments& a = arguments;
    const uint32_t largest = a.application == CLIQUE  ? machine.depth
                             : a.application == MOTIF ? machine.max_motif
                                                      : FSM_SIZE;
    const bool wrong[9] = {a.application > FSM,
                           a.k < 2 || a.k > largest,
                           (a.flags & ~(machine.filter_words ? 63u : 47u)) != 0,
                           a.slots < 1 || a.slots > machine.slots,
                           a.lambda > machine.lambda_most,
                           !machine.uniform && a.vertex_bound > machine.vertex_lines,
                           !machine.uniform && a.edge_bound > machine.edge_lines,
                           a.vertex_sets < 1 || a.vertex_sets > machine.vertex_sets,
                           a.edge_sets < 1 || a.edge_sets > machine.edge_sets};
    for (unsigned i = 0; i < 9; i++)
      if (wrong[i]) return machine.offsets + i;
    return nullptr;
  }

  Line array_line(uint64_t index, bool edges) {
    const uint64_t base = arguments.bank[index % machine.banks];
    return read(base + (edges ? arguments.edge_base : 0) + index / machine.banks * 64);
  }

  const Vertex& vertex(uint32_t id) {
    const auto known = vertices.find(id);
    if (known != vertices.end()) return known->second;
    const Line line = array_line(id / 4, false);
    const uint32_t* record = line.words + id % 4 * 4;
    const uint64_t offset = (record[0] | uint64_t(record[1]) << 32) & ((uint64_t(1) << 40) - 1);
    Vertex made;
    made.label = record[3] & ((1u << machine.label_bits) - 1);
    made.neighbours.reserve(record[2]);
    for (uint64_t at = offset; at < offset + record[2];) {
      const Line entries = array_line(at / 16, true);
      for (; at < offset + record[2]; at++) {
        made.neighbours.push_back(entries.words[at % 16]);
        if (at % 16 == 15) {
          at++;
          break;
        }
      }
    }
    return vertices.emplace(id, std::move(made)).first->second;
  }

  bool adjacent(uint32_t of, uint32_t id) {
    const auto& list = vertex(of).neighbours;
    return std::binary_search(list.begin(), list.end(), id);
  }

  bool beyond(uint32_t a, uint32_t b) const {
    return arguments.flags & ASCENDING ? a > b : a < b;
  }

  void put(uint32_t pattern, uint64_t ordinal) {
    const uint64_t most = machine.count_bits == 64 ? ~uint64_t(0)
                                                   : (uint64_t(1) << machine.count_bits) - 1;
    if (counts[pattern] == most) saturated = true;
    else counts[pattern]++;
    if (!(arguments.flags & LIST)) return;
    const uint32_t size = arguments.k <= 6 ? 8 : arguments.k <= 14 ? 16 : 32;
    const bool fresh = used == 0;
    if (full || (fresh && out.size() + (size > 16 ? 2 : 1) > arguments.result_beats)) {
      if (!full) next = ordinal;
      full = true;
      return;
    }
    std::vector<uint32_t> words(size, NONE);
    words[0] = uint32_t(ordinal);
    words[1] = pattern;
    std::copy(embedding.begin(), embedding.end(), words.begin() + 2);
    for (uint32_t word : words) {
      if (used == 0) {
        out.emplace_back();
        std::fill(out.back().words, out.back().words + 16, NONE);
      }
      out.back().words[used] = word;
      used = (used + 1) % 16;
    }
    records++;
  }

  // Whether the words of the user's filter hold for the newest vertex: a condition is several words up to one that ends
  // it, of which one must hold, for each earlier vertex if it is about pairs.
  bool meets_conditions() {
    const uint32_t newest = embedding.back();
    const size_t others = embedding.size() - 1;
    for (size_t begin = 0; begin < program.size();) {
      size_t end = begin;
      while (!(program[end] >> 39 & 1) && end + 1 < program.size()) end++;
      const bool pairs = program[end] >> 40 & 1;
      for (size_t p = 0; p < (pairs ? others : 1); p++) {
        bool met = false;
        for (size_t at = begin; at <= end; at++) met |= holds(program[at], newest, pairs ? embedding[p] : newest);
        if (!met) return false;
      }
      begin = end + 1;
    }
    return true;
  }

  bool holds(uint64_t word, uint32_t newest, uint32_t other) {
    const uint32_t constant = uint32_t(word);
    const unsigned left = word >> 32 & 3, right = word >> 34 & 3, relation = word >> 36 & 3;
    const auto degree = [&](uint32_t id) { return uint32_t(vertex(id).neighbours.size()); };
    const uint32_t a = left == 0   ? vertex(newest).label
                       : left == 1 ? degree(newest)
                       : left == 2 ? constant
                                   : uint32_t(embedding.size());
    const uint32_t b = right == 0   ? vertex(other).label
                       : right == 1 ? degree(other)
                       : right == 2 ? uint32_t(adjacent(other, newest))
                                    : constant;
    return (relation == 0 ? a == b : relation == 1 ? a < b : a > b) != bool(word >> 38 & 1);
  }

  // Whether the embedding with its newest vertex passes the filter, and its pattern.
  bool filter() {
    if (!meets_conditions()) return false;
    const bool selects = arguments.application == FSM || (arguments.application == MOTIF && arguments.flags & SELECT);
    if (!selects || embedding.size() < 2) return true;
    return dictionary[keys.back()] >> 15;
  }

  void extend(uint64_t ordinal, const uint32_t* first_list, size_t first_size) {
    const size_t size = embedding.size();
    const size_t lists = arguments.application == CLIQUE ? 1 : size;
    extensions++;
    for (size_t i = 0; i < lists && !full; i++) {
      const auto& whole = vertex(embedding[i]).neighbours;
      const uint32_t* list = size == 1 ? first_list : whole.data();
      const size_t length = size == 1 ? first_size : whole.size();
      for (size_t at = 0; at < length && !full; at++) {
        const uint32_t id = list[at];
        scanned++;
        bool candidate = beyond(id, embedding[0]);
        for (size_t j = i + 1; j < size; j++) candidate &= beyond(id, embedding[j]);
        for (size_t j = 0; j < size; j++) candidate &= id != embedding[j];
        if (!candidate) continue;
        candidates[size]++;
        uint32_t mask = 0;
        for (size_t j = 0; j < size; j++) mask |= uint32_t(adjacent(embedding[j], id)) << j;
        if (mask & ((1u << i) - 1)) continue;
        if (arguments.application == CLIQUE && mask != (1u << size) - 1) continue;
        uint32_t key = keys.back();
        if (arguments.application != CLIQUE) key |= mask << (size * (size - 1) / 2);
        if (arguments.application == FSM)
          key |= vertex(id).label << (FSM_PAIRS + size * machine.label_bits);
        embedding.push_back(id);
        keys.push_back(key);
        if (filter()) {
          embeddings[size]++;
          if (size + 1 == arguments.k)
            put(arguments.application == CLIQUE ? 0 : dictionary[key] & 0x7fff, ordinal);
          else
            extend(ordinal, nullptr, 0);
        }
        embedding.pop_back();
        keys.pop_back();
      }
    }
  }

  void counters() {
    std::vector<uint64_t> values;
    const auto section = [&](uint32_t size, uint32_t instances) {
      const size_t first = values.size();
      values.resize(first + size_t(size) * instances, 0);
      return first;
    };
    size_t at = section(machine.core_counters, 1);
    values[at + machine.work_units] = units;
    values[at + machine.saturated] = saturated;
    at = section(machine.pu_counters, machine.processing_units);
    if (machine.pu_counters > 0) {
      values[at + machine.extensions] = extensions;
      values[at + machine.entries_scanned] = scanned;
      std::copy(candidates.begin(), candidates.end(), values.begin() + at + machine.candidates);
      std::copy(embeddings.begin(), embeddings.end(), values.begin() + at + machine.embeddings);
    }
    section(machine.partition_counters, machine.partitions);
    section(machine.bank_counters, machine.banks);
    words(values);
  }

  void words(const std::vector<uint64_t>& values) {
    for (size_t at = 0; at < values.size(); at += 8) {
      Line line = {};
      std::memcpy(line.words, &values[at], std::min<size_t>(8, values.size() - at) * 8);
      out.push_back(line);
    }
  }

 public:
  CoreModel(const CoreMachine& machine, const CoreArguments& arguments, Read read)
      : machine(machine), arguments(arguments), read(read),
        candidates(machine.depth, 0), embeddings(machine.depth, 0) {}

  // Out-stream of a run.
  std::vector<Line> run(const Line* in, uint64_t beats) {
    const uint64_t entries = in[0].words[0], filters = arguments.flags & FILTER ? 1 : 0;
    const uint32_t patterns = in[0].words[3];
    dictionary.resize(std::max<uint64_t>(entries * 32, 1u << 16), 0);
    std::memcpy(dictionary.data(), in + 1 + filters, entries * 64);
    for (size_t at = 0; filters && at < machine.filter_words; at++) {
      program.push_back(in[1].words[2 * at] | uint64_t(in[1].words[2 * at + 1]) << 32);
      if (program.back() >> 41 & 1) break;
    }
    counts.assign(std::max(patterns, 1u), 0);
    uint64_t ordinal = 0, address = 0;
    if (const uint32_t* offset = refused()) {
      status = REFUSED;
      address = *offset;
    }
    const uint64_t work = 1 + filters + entries + in[0].words[1] + in[0].words[2];
    for (uint64_t at = work * 4; at < beats * 4 && status == DONE; at++) {
      const uint32_t* unit = in[at / 4].words + at % 4 * 4;
      if (!(unit[3] & 1)) continue;
      if (arguments.abort) {
        const Line line = read(arguments.abort & ~uint64_t(63));
        if (line.words[arguments.abort / 4 % 16]) {
          status = ABORTED;
          next = ordinal;
          break;
        }
      }
      const auto& list = vertex(unit[0]).neighbours;
      const size_t first = std::min<size_t>(unit[1], list.size());
      const size_t limit = std::min<size_t>(unit[2], list.size());
      units++;
      embedding.assign(1, unit[0]);
      keys.assign(1, arguments.application == FSM ? vertex(unit[0]).label << FSM_PAIRS : 0);
      if (filter()) {
        if (unit[1] == 0) embeddings[0]++;
        extend(ordinal, list.data() + first, limit > first ? limit - first : 0);
      }
      if (full) status = FULL;
      else next = ++ordinal;
    }
    std::vector<uint64_t> values(counts);
    values.resize((values.size() + 7) / 8 * 8, 0);
    words(values);
    words({status | uint64_t(saturated) << 32, address, next, records, 0, 0, 0, 0});
    counters();
    return std::move(out);
  }
};

}  // namespace gramer
