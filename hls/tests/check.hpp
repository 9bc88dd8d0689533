// Shared by the tests: a check that reports its location, and seeded random numbers.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static unsigned long checks = 0;

#define CHECK(condition)                                                          \
  do {                                                                            \
    checks++;                                                                     \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

// splitmix64: reproducible on every platform, unlike the standard library's distributions.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t limit) { return uint32_t(next() % limit); }
};
