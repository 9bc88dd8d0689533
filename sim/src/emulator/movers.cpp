// The data movers for the emulator: their HLS sources, called on a host's view of the buffers.
#include <cstdint>
#include <cstring>

#include "gramer_movers.hpp"

extern "C" void gramer_fill(const line_t*, unsigned, const line_t*, unsigned, unsigned,
                            hls::stream<beat_t>&);
extern "C" void gramer_drain(line_t*, unsigned, hls::stream<beat_t>&);

// Sends the stream and writes its beats, of which there are head_beats + units_beats, to `beats`.
// Returns the position of TLAST, or -1.
extern "C" long long emulated_fill(const line_t* head, uint32_t head_beats, const line_t* units,
                                   uint32_t units_first, uint32_t units_beats, line_t* beats) {
  hls::stream<beat_t> stream;
  gramer_fill(head, head_beats, units, units_first, units_beats, stream);
  long long last = -1;
  for (long long i = 0; !stream.empty(); i++) {
    const beat_t beat = stream.read();
    std::memcpy(static_cast<void*>(beats + i), &beat.data, sizeof(line_t));
    if (beat.last) last = i;
  }
  return last;
}

// Takes `count` beats, the last of them with TLAST, into a result area of `capacity` beats.
extern "C" void emulated_drain(const line_t* beats, uint64_t count, line_t* result,
                               uint32_t capacity) {
  hls::stream<beat_t> stream;
  for (uint64_t i = 0; i < count; i++) {
    beat_t beat;
    beat.data = beats[i];
    beat.keep = beat.strb = ~uint64_t(0);
    beat.last = i + 1 == count;
    stream.write(beat);
  }
  gramer_drain(result, capacity, stream);
}
