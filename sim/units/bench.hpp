// What the unit benches share: clocking, seeded random numbers, checks, coverage points.
//
// A bench drives one Verilated module (class Vdut) and compares it with an independent model, written
// from what the module promises and not from its logic. It ends with one line and fails if a check
// fails or, with the seeds 1 to 8, if a point that it names was not met.
//
//   bench [SEED]      run
//   bench --points    print the names of the points, one a line
#pragma once

#include "Vdut.h"
#include <verilated.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

class Bench {
public:
  Bench(const char *module, std::initializer_list<const char *> points, int argc, char **argv)
      : module_(module) {
    for (const char *p : points) points_[p] = 0;
    if (argc > 1 && !std::strcmp(argv[1], "--points")) {
      for (const char *p : points) std::printf("%s\n", p);
      std::exit(0);
    }
    seed_ = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
    random_.seed(seed_);
    // Which fault of a build with faults acts; other builds don't ask.
    if (const char *mutant = std::getenv("GRAMER_MUTANT")) {
      const std::string argument = std::string("+mutant=") + mutant;
      const char *arguments[] = {"bench", argument.c_str()};
      Verilated::commandArgs(2, arguments);
    }
    // Registers and memories begin with anything (`--x-initial unique`); 0 would be the time of day.
    Verilated::randReset(2);
    Verilated::randSeed(int(1 + seed_ % 0x7ffffffe));
    dut = std::make_unique<Vdut>();
  }

  std::unique_ptr<Vdut> dut;

  uint64_t random() { return random_(); }
  /// A number from 0 to `below` - 1.
  uint64_t random(uint64_t below) { return random_() % below; }
  /// True in `percent` of 100 calls.
  bool chance(unsigned percent) { return random(100) < percent; }

  /// Lets the inputs act, before the rising edge.
  void settle() {
    dut->clk_i = 0;
    dut->eval();
  }
  /// The rising edge.
  void rise() {
    dut->clk_i = 1;
    dut->eval();
    ++cycle;
  }
  void tick() {
    settle();
    rise();
  }
  template <class T> void reset(T &pin) {
    // Until then registers hold anything, and assertions say nothing.
    Verilated::assertOn(false);
    pin = 1;
    for (int i = 0; i < 3; ++i) tick();
    pin = 0;
    Verilated::assertOn(true);
  }

  __attribute__((format(printf, 3, 4))) void check(bool ok, const char *what, ...) {
    ++checks_;
    if (ok) return;
    std::printf("%s: seed %llu, cycle %llu: ", module_, (unsigned long long)seed_,
                (unsigned long long)cycle);
    va_list list;
    va_start(list, what);
    std::vprintf(what, list);
    va_end(list);
    std::printf("\n");
    std::fflush(stdout);
    std::_Exit(1);
  }
  void equal(uint64_t got, uint64_t expected, const char *what) {
    check(got == expected, "%s is 0x%llx instead of 0x%llx", what, (unsigned long long)got,
          (unsigned long long)expected);
  }

  /// Counts a corner as met, if it is.
  void hit(const char *point, bool met = true) {
    auto at = points_.find(point);
    if (at == points_.end()) check(false, "the point `%s` has no name", point);
    at->second += met;
  }

  /// Prints the line; the exit code.
  int end() {
    size_t met = 0;
    for (auto &[name, times] : points_) met += times != 0;
    std::printf("%s: %llu checks, %zu/%zu points, seed %llu\n", module_,
                (unsigned long long)checks_, met, points_.size(), (unsigned long long)seed_);
    for (auto &[name, times] : points_)
      if (times == 0) std::printf("%s: never met: %s\n", module_, name.c_str());
    return (met == points_.size() || seed_ > 8) && checks_ != 0 ? 0 : 1;
  }

  uint64_t cycle = 0;

private:
  const char *module_;
  uint64_t seed_ = 1, checks_ = 0;
  std::mt19937_64 random_;
  std::map<std::string, uint64_t> points_;
};

/// A line of 512 bits as it lies in a wide port.
using Line = std::vector<uint32_t>;

template <class W> inline Line line_of(const W &wide, size_t words = 16) {
  Line line(words);
  for (size_t i = 0; i < words; ++i) line[i] = wide[i];
  return line;
}
template <class W> inline void drive(W &wide, const Line &line) {
  for (size_t i = 0; i < line.size(); ++i) wide[i] = line[i];
}
inline Line random_line(Bench &b, size_t words = 16) {
  Line line(words);
  for (auto &word : line) word = uint32_t(b.random());
  return line;
}

/// A field of a packed struct.
struct Field {
  uint64_t value;
  unsigned width;
};
/// Drives a port of a packed struct; the fields in the order of their declaration.
template <class P> inline void pack(P &pin, const std::vector<Field> &fields) {
  unsigned at = 0;
  if constexpr (std::is_integral_v<P>) {
    uint64_t all = 0;
    for (size_t f = fields.size(); f-- > 0; at += fields[f].width) all |= fields[f].value << at;
    pin = P(all);
  } else {
    std::memset(&pin, 0, sizeof pin);
    for (size_t f = fields.size(); f-- > 0;)
      for (unsigned bit = 0; bit < fields[f].width; ++bit, ++at)
        pin[at / 32] = pin[at / 32] | uint32_t(fields[f].value >> bit & 1) << at % 32;
  }
}
/// What a port of a packed struct holds; the widths of its fields in the order of declaration.
template <class P> inline std::vector<uint64_t> unpack(const P &pin, const std::vector<unsigned> &widths) {
  std::vector<uint64_t> fields(widths.size());
  unsigned at = 0;
  for (size_t f = widths.size(); f-- > 0;)
    for (unsigned bit = 0; bit < widths[f]; ++bit, ++at) {
      uint64_t one;
      if constexpr (std::is_integral_v<P>) one = uint64_t(pin) >> at & 1;
      else one = pin[at / 32] >> at % 32 & 1;
      fields[f] |= one << bit;
    }
  return fields;
}
