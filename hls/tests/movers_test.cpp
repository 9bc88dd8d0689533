// C simulation of the data movers: position of every beat and of TLAST.
#include <cstring>
#include <vector>

#include "check.hpp"
#include "gramer_movers.hpp"

extern "C" void gramer_fill(const line_t*, unsigned, const line_t*, unsigned, unsigned,
                            hls::stream<beat_t>&);
extern "C" void gramer_drain(line_t*, unsigned, hls::stream<beat_t>&);

typedef std::vector<uint64_t> Words;  // 8 per line

static Words words(const line_t& line) {
  Words out(8);
  static_assert(sizeof(line_t) == 64, "a line is 64 bytes");
  std::memcpy(out.data(), static_cast<const void*>(&line), 64);
  return out;
}

static std::vector<line_t> lines(Random& random, size_t count) {
  std::vector<line_t> out(count);
  for (line_t& line : out)
    for (int word = 0; word < 8; word++) line.range(64 * word + 63, 64 * word) = random.next();
  return out;
}

static void fill(Random& random, unsigned head_beats, unsigned first, unsigned units_beats) {
  // Exactly as long as they may be read: the sanitizer detects reads beyond.
  const auto head = lines(random, head_beats), units = lines(random, first + units_beats);
  hls::stream<beat_t> out;
  gramer_fill(head.data(), head_beats, units.data(), first, units_beats, out);
  CHECK(out.size() == head_beats + units_beats);
  for (unsigned i = 0; i < head_beats + units_beats; i++) {
    const beat_t beat = out.read();
    CHECK(words(beat.data) == words(i < head_beats ? head[i] : units[first + i - head_beats]));
    CHECK(beat.keep == ~uint64_t(0) && beat.strb == ~uint64_t(0));
    CHECK(beat.last == (i + 1 == head_beats + units_beats));
  }
}

static void drain(Random& random, unsigned count, unsigned capacity) {
  const auto beats = lines(random, count), before = lines(random, capacity);
  auto result = before;
  hls::stream<beat_t> in;
  // Beats after TLAST belong to the next run.
  for (unsigned i = 0; i < count + 2; i++) {
    beat_t beat;
    beat.data = beats[i % count];
    beat.keep = beat.strb = ~uint64_t(0);
    beat.last = i + 1 == count;
    in.write(beat);
  }
  gramer_drain(result.data(), capacity, in);
  CHECK(in.size() == 2);
  for (int i = 0; i < 2; i++) in.read();
  Words head(8);
  head[0] = count;
  head[1] = count + 1 > capacity;
  CHECK(words(result[0]) == head);
  for (unsigned i = 1; i < capacity; i++)
    CHECK(words(result[i]) == words(i <= count ? beats[i - 1] : before[i]));
}

// Type operations that the kernels use, on values that expose differences: both sets of headers must
// agree.
static void types(Random& random) {
#ifdef OPEN_AP_TYPES
  // 512-bit arithmetic, which the open headers have and the subset in this folder omits.
  CHECK(ap_uint<512>(1) + ap_uint<512>(2) == 3);
#endif
  CHECK(words(line_t(0)) == Words(8, 0) && words(line_t(-1)) == Words(8, ~uint64_t(0)));
  CHECK(words(line_t(5)) == (Words{5, 0, 0, 0, 0, 0, 0, 0}));
  for (int i = 0; i < 200; i++) {
    line_t line = i % 2 ? -1 : 0;
    Words expected = words(line);
    // Assignment to a range takes the low bits of the value and leaves the other bits.
    const int word = int(random.below(8)), low = int(random.below(64));
    const int high = low + int(random.below(unsigned(64 - low)));
    const uint64_t value = random.next();
    const uint64_t mask = (high - low == 63 ? ~uint64_t(0) : (uint64_t(1) << (high - low + 1)) - 1) << low;
    line.range(64 * word + high, 64 * word + low) = value;
    expected[word] = (expected[word] & ~mask) | ((value << low) & mask);
    CHECK(words(line) == expected);
    if (high - low < 32)
      CHECK(line.range(64 * word + high, 64 * word + low).to_uint() == unsigned((expected[word] & mask) >> low));
    // A bit, from a condition.
    const int bit = int(random.below(512));
    const bool set = random.below(2);
    line[bit] = set;
    expected[bit / 64] = (expected[bit / 64] & ~(uint64_t(1) << bit % 64)) | uint64_t(set) << bit % 64;
    CHECK(words(line) == expected);
  }
  // A beat's fields, as `fill` sets them, and the count of `drain` beyond 32 bits.
  beat_t beat;
  beat.keep = -1;
  beat.strb = -1;
  CHECK(beat.keep == ~uint64_t(0) && beat.strb == ~uint64_t(0));
  for (unsigned i : {0u, 1u}) {
    beat.last = i == 1;
    CHECK(bool(beat.last) == (i == 1));
  }
  ap_uint<64> count = uint64_t(0xffffffff);
  CHECK(!(count + 1 < 0xffffffffu));
  count++;
  line_t head = 0;
  head.range(63, 0) = count;
  CHECK(words(head)[0] == uint64_t(1) << 32);
}

int main() {
  Random random{1};
  types(random);
  for (int i = 0; i < 500; i++) {
    const unsigned head_beats = random.below(200);
    fill(random, head_beats, random.below(30), random.below(100) + (head_beats == 0));
    // Areas slightly too small, exact, and slightly larger are drawn as often as all others.
    const unsigned count = 1 + random.below(200);
    drain(random, count, random.below(2) ? count + random.below(4) : 1 + random.below(250));
  }
  // One beat; ends before, at and after the end of a burst; the largest, a head of 16 MiB (the
  // paper's scratchpads have 3 MiB) and a result area of the same size.
  const unsigned large = 1 << 18;
  for (unsigned beats : {1u, 2u, 63u, 64u, 65u, 127u, 128u, 129u, large}) {
    fill(random, 0, 0, beats);
    fill(random, beats, 1, 1);
    fill(random, beats - 1, 7, 1);
    for (unsigned capacity : {1u, 2u, beats, beats + 1, beats + 2}) drain(random, beats, capacity);
  }
  std::printf("movers: %lu checks\n", checks);
}
