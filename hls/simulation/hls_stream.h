// Subset of Vitis' hls_stream.h for the data movers.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <deque>

namespace hls {
template <typename T>
class stream {
  std::deque<T> beats;

 public:
  bool empty() const { return beats.empty(); }
  size_t size() const { return beats.size(); }
  void write(const T& beat) { beats.push_back(beat); }
  T read() {
    if (beats.empty()) {
      std::fprintf(stderr, "a read from an empty stream\n");
      std::abort();
    }
    T beat = beats.front();
    beats.pop_front();
    return beat;
  }
};
}  // namespace hls
