// Graphs, images and units of the set core for benches, and the expected counts of a run
// (docs/reference/set-core.md).
#pragma once

#include "gramer_pkg.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

/// A graph with ids by falling degree (or in the order given), and its image.
struct SetImage {
  using List = std::vector<uint32_t>;
  uint32_t n = 0;
  std::vector<List> up, down; // neighbours before and after each vertex
  std::vector<uint32_t> id, up_quarters, block_quarters;
  std::vector<uint32_t> words; // whole lines

  SetImage(uint32_t vertices, const std::vector<std::pair<uint32_t, uint32_t>> &edges, bool both,
           bool ranked = true)
      : n(vertices), up(vertices), down(vertices), id(vertices), up_quarters(vertices),
        block_quarters(vertices) {
    std::vector<List> all(n);
    for (auto [a, b] : edges)
      if (a != b) all[a].push_back(b), all[b].push_back(a);
    for (auto &list : all) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    List order(n), rank(n);
    for (uint32_t v = 0; v < n; ++v) order[v] = v;
    // The core takes any order.
    if (ranked)
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return all[a].size() > all[b].size(); });
    for (uint32_t r = 0; r < n; ++r) rank[order[r]] = r;
    for (uint32_t v = 0; v < n; ++v)
      for (uint32_t w : all[v]) (rank[w] < rank[v] ? up : down)[rank[v]].push_back(rank[w]);
    for (auto *lists : {&up, &down})
      for (auto &list : *lists) std::sort(list.begin(), list.end());
    layout(both);
  }

  void layout(bool both) {
    uint64_t at = 0;
    auto quarters = [](size_t entries) { return uint32_t(entries + 3) / 4; };
    auto fits = [](uint64_t from, uint32_t size) { // rule 1
      return size && (from & 3) + size > 4 ? (from + 3) & ~3ull : from;
    };
    std::vector<uint64_t> down_at(n);
    for (uint32_t v = 0; v < n; ++v) {
      const uint32_t u = quarters(up[v].size()), d = both ? quarters(down[v].size()) : 0;
      // The block begins at a line's start if it has lengths; its up list obeys rule 1 anyway.
      uint64_t from = fits(at, u ? u : d), second = d ? fits(from + u, d) : from + u;
      uint64_t end = second + d;
      if (end - from >= 63) {
        from = ((at + 1 + 3) & ~3ull);
        second = d ? fits(from + u, d) : from + u;
        end = second + d;
      }
      if (end == from) end = from + 1;
      id[v] = uint32_t(from);
      up_quarters[v] = u;
      block_quarters[v] = uint32_t(second + d - from);
      down_at[v] = second;
      at = end;
    }
    words.assign((at + 3) / 4 * 16, ~0u);
    auto size = [](uint32_t q) { return q >= 63 ? 63u : q; };
    for (uint32_t v = 0; v < n; ++v) {
      if (block_quarters[v] >= 63) {
        words[(id[v] - 1) * 4] = up_quarters[v];
        words[(id[v] - 1) * 4 + 1] = block_quarters[v];
      }
      for (size_t e = 0; e < up[v].size(); ++e)
        words[id[v] * 4 + e] = id[up[v][e]] | size(up_quarters[up[v][e]]) << 26;
      if (both)
        for (size_t e = 0; e < down[v].size(); ++e)
          words[down_at[v] * 4 + e] = id[down[v][e]] | size(block_quarters[down[v][e]]) << 26;
    }
  }

  uint32_t lines() const { return uint32_t(words.size() / 16); }

  static uint64_t unit(uint32_t address, uint32_t quarters, uint32_t plan, uint32_t first,
                       uint32_t last) {
    return uint64_t(address) | uint64_t(quarters) << 26 | uint64_t(plan) << 38 | uint64_t(first) << 40
           | uint64_t(last) << 52;
  }

  /// What a root adds to the sums of edges and paths, by their numbers.
  void neighbourhood(uint32_t a, bool paths, std::vector<uint64_t> &sums) const {
    List all(up[a]);
    all.insert(all.end(), down[a].begin(), down[a].end());
    sums[SUM_MARKS] += all.size();
    std::vector<uint64_t> counters(n);
    for (uint32_t b : down[a]) {
      List other(up[b]);
      other.insert(other.end(), down[b].begin(), down[b].end());
      uint64_t t = 0;
      for (uint32_t c : other) {
        t += std::binary_search(all.begin(), all.end(), c);
        if (paths && c > a) sums[SUM_CYCLES] += counters[c]++, ++sums[SUM_PATHS];
      }
      sums[SUM_TRIANGLES] += t;
      sums[SUM_PAIRS] += t ? t * (t - 1) / 2 : 0;
      sums[SUM_DEGREES] += t * (all.size() + other.size());
    }
  }

  /// Cliques of k vertices with the root, its last vertex at a position of [first, last) of its list.
  uint64_t cliques(uint32_t root, unsigned k, size_t first = 0, size_t last = ~size_t(0)) const {
    const List &list = up[root];
    auto adjacent = [&](uint32_t a, uint32_t b) { // b before a
      return std::binary_search(up[a].begin(), up[a].end(), b);
    };
    std::function<uint64_t(const List &, unsigned)> count = [&](const List &set, unsigned q) {
      if (q == 1) return uint64_t(set.size());
      uint64_t sum = 0;
      for (size_t i = 0; i < set.size(); ++i) {
        List next;
        for (size_t j = 0; j < i; ++j)
          if (adjacent(set[i], set[j])) next.push_back(set[j]);
        if (next.size() + 1 >= q) sum += count(next, q - 1);
      }
      return sum;
    };
    uint64_t sum = 0;
    for (size_t i = first; i < std::min(last, list.size()); ++i) {
      List next;
      for (size_t j = 0; j < i; ++j)
        if (adjacent(list[i], list[j])) next.push_back(list[j]);
      sum += count(next, k - 2);
    }
    return sum;
  }
};
