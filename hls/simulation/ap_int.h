// Subset of Vitis' ap_int.h for the data movers, so that the emulator builds without the vendor's headers. Values
// have up to 512 bits; a range must not cross a 64-bit word.
#pragma once
#include <cstdint>
#include <cstring>

template <int W>
class ap_uint {
  static_assert(W > 64, "small values are below");
  uint64_t words[(W + 63) / 64];

  struct Range {
    uint64_t& word;
    int low, bits;
    Range& operator=(uint64_t value) {
      const uint64_t mask = (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1) << low;
      word = (word & ~mask) | ((value << low) & mask);
      return *this;
    }
    unsigned to_uint() const {
      return unsigned(word >> low & (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1));
    }
  };

 public:
  ap_uint() = default;
  // As in the original, negative numbers are sign-extended.
  ap_uint(long long value) {
    for (auto& word : words) word = value < 0 ? ~uint64_t(0) : 0;
    words[0] = uint64_t(value);
  }
  ap_uint(int value) : ap_uint((long long)value) {}
  Range range(int high, int low) { return {words[low / 64], low % 64, high - low + 1}; }
  Range operator[](int bit) { return range(bit, bit); }
};

template <>
class ap_uint<1> {
  bool value;

 public:
  ap_uint() = default;
  // The lowest bit, as in the original: 1 for -1 and 3, 0 for 2.
  ap_uint(long long value) : value(value & 1) {}
  ap_uint(int value) : value(value & 1) {}
  ap_uint(bool value) : value(value) {}
  operator bool() const { return value; }
};

template <>
class ap_uint<64> {
  uint64_t value;

 public:
  ap_uint() = default;
  ap_uint(uint64_t value) : value(value) {}
  ap_uint(int value) : value(uint64_t(int64_t(value))) {}
  operator uint64_t() const { return value; }
  uint64_t operator++(int) { return value++; }
};
