// Functional model behind the kernel interface of the core, packaged with the RTL for software emulation.
// Arguments and streams are those of kernel.xml, in its order. Arguments that affect only timing (slots,
// lambda, bounds, sets) are range-checked and otherwise ignored.
//
// Sizes come from the generated header of the packaged machine, which has four banks.
#include "core_model.hpp"

#include "gramer_machine.hpp"
#include "gramer_movers.hpp"

static_assert(gramer::BANKS == 4, "the kernel's signature has an argument for each of four banks");

static gramer::Line from_beat(line_t& beat) {
  gramer::Line line;
  for (int w = 0; w < 16; w++) line.words[w] = beat.range(32 * w + 31, 32 * w).to_uint();
  return line;
}

static line_t to_beat(const gramer::Line& line) {
  line_t beat = 0;
  for (int w = 0; w < 16; w++) beat.range(32 * w + 31, 32 * w) = line.words[w];
  return beat;
}

extern "C" void gramer_core(unsigned application, unsigned k, unsigned flags, unsigned slots,
                            unsigned lambda_eighths, unsigned vertex_bound,
                            unsigned long edge_bound, unsigned vertex_sets, unsigned edge_sets,
                            unsigned result_beats, line_t* abort, unsigned long edge_base,
                            line_t* bank0, line_t* bank1, line_t* bank2, line_t* bank3,
                            hls::stream<beat_t>& s_axis_in, hls::stream<beat_t>& m_axis_out) {
  using namespace gramer;
  const bool counted = PERFORMANCE_COUNTERS != 0;
  const CoreMachine machine{PUS, PARTITIONS, BANKS, DEPTH, LABEL_BITS, COUNT_W,
                            CORE_COUNTERS, counted ? PU_COUNTERS : 0,
                            counted ? PARTITION_COUNTERS : 0, BANK_COUNTERS,
                            CNT_CORE_WORK_UNITS, CNT_CORE_SATURATED, CNT_PU_EXTENSIONS,
                            CNT_PU_ENTRIES_SCANNED, CNT_PU_CANDIDATES, CNT_PU_EMBEDDINGS,
                            SLOTS, MAX_MOTIF, LAMBDA_MOST, UNIFORM,
                            VERTEX_PAD_LINES * PARTITIONS, EDGE_PAD_LINES * PARTITIONS,
                            VERTEX_SETS, EDGE_SETS, FILTER_WORDS,
                            {ARG_APPLICATION, ARG_K, ARG_FLAGS, ARG_SLOTS, ARG_LAMBDA_EIGHTHS,
                             ARG_VERTEX_BOUND, ARG_EDGE_BOUND, ARG_VERTEX_SETS, ARG_EDGE_SETS}};
  const auto address = [](line_t* pointer) { return uint64_t(reinterpret_cast<uintptr_t>(pointer)); };
  const CoreArguments arguments{application, k, flags, result_beats,
                                slots, lambda_eighths, vertex_bound, vertex_sets, edge_sets,
                                edge_bound, address(abort), edge_base,
                                {address(bank0), address(bank1), address(bank2), address(bank3)}};
  std::vector<Line> in;
  for (bool last = false; !last;) {
    beat_t beat = s_axis_in.read();
    in.push_back(from_beat(beat.data));
    last = beat.last;
  }
  // Buffers are line-aligned, like device memory.
  const auto read = [](uint64_t at) {
    return from_beat(*reinterpret_cast<line_t*>(uintptr_t(at)));
  };
  CoreModel<decltype(read)> model(machine, arguments, read);
  const std::vector<Line> out = model.run(in.data(), in.size());
  for (size_t i = 0; i < out.size(); i++) {
    beat_t beat;
    beat.data = to_beat(out[i]);
    beat.keep = -1;
    beat.strb = -1;
    beat.last = i + 1 == out.size();
    m_axis_out.write(beat);
  }
}
