// C simulation of the data movers: every beat, and TLAST, in their places.
#include <cstring>
#include <vector>

#include "check.hpp"
#include "gramer_movers.hpp"

extern "C" void gramer_fill(const line_t*, unsigned, const line_t*, unsigned, unsigned,
                            hls::stream<beat_t>&);
extern "C" void gramer_drain(line_t*, unsigned, hls::stream<beat_t>&);

typedef std::vector<uint64_t> Words;  // 8 a line

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
  // As long as they may be read: the sanitizer sees a read beyond.
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
  // What follows TLAST belongs to the next run.
  for (unsigned i = 0; i < count + 2; i++) {
    beat_t beat;
    beat.data = beats[i % count];
    beat.keep = beat.strb = ~uint64_t(0);
    beat.last = i + 1 == count;
    in.write(beat);
  }
  gramer_drain(result.data(), capacity, in);
  CHECK(in.size() == 2);
  Words head(8);
  head[0] = count;
  head[1] = count + 1 > capacity;
  CHECK(words(result[0]) == head);
  for (unsigned i = 1; i < capacity; i++)
    CHECK(words(result[i]) == words(i <= count ? beats[i - 1] : before[i]));
}

int main() {
  Random random{1};
  for (int i = 0; i < 500; i++) {
    const unsigned head_beats = random.below(200);
    fill(random, head_beats, random.below(30), random.below(100) + (head_beats == 0));
    // Just too small, exact, and just large enough are as frequent as the rest.
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
