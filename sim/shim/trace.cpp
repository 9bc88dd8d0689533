// The shim of a model that writes a waveform: `GRAMER_TRACE` names the file (FST), and
// `GRAMER_TRACE_CYCLES=FIRST-LAST` the clocks since the reset that it holds. A second core of the
// same process adds its number to the name.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "verilated.h"
#include "verilated_fst_c.h"
#include MODEL_HEADER

static std::mutex traces_mutex;
static std::vector<VerilatedFstC*> traces;

// What a process has traced is complete when it ends, also where a core is never freed.
static void close_traces() {
  const std::lock_guard<std::mutex> lock(traces_mutex);
  for (VerilatedFstC* trace : traces) trace->close();
}

class TracedModel : public MODEL_CLASS {
  VerilatedFstC* trace_file = nullptr;  // lives as long as the process
  uint64_t first_clock = 0, last_clock = 19999;

 public:
  TracedModel(VerilatedContext* context, const char* name) : MODEL_CLASS{context, name} {
    const char* path = std::getenv("GRAMER_TRACE");
    if (!path) return;
    if (const char* window = std::getenv("GRAMER_TRACE_CYCLES")) {
      unsigned long long from, to;
      if (std::sscanf(window, "%llu-%llu", &from, &to) == 2) first_clock = from, last_clock = to;
    }
    context->traceEverOn(true);
    trace_file = new VerilatedFstC;
    trace(trace_file, 99);
    const std::lock_guard<std::mutex> lock(traces_mutex);
    if (traces.empty()) std::atexit(close_traces);
    const std::string number = traces.empty() ? "" : "." + std::to_string(traces.size());
    trace_file->open((path + number).c_str());
    traces.push_back(trace_file);
  }

  // Two a clock: before the rising edge and after it.
  void eval() {
    MODEL_CLASS::eval();
    const uint64_t time = contextp()->time();
    if (!trace_file || time / 2 < first_clock || time / 2 > last_clock + 1) return;
    const std::lock_guard<std::mutex> lock(traces_mutex);
    if (!trace_file->isOpen()) return;
    if (time / 2 <= last_clock) trace_file->dump(time);
    else trace_file->close();
  }
};

#undef MODEL_CLASS
#define MODEL_CLASS TracedModel
#include "shim.cpp"
