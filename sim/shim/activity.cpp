// The shim of a model that counts the activity of its public variables. A line of its file has path, name, dimensions (of
// which the product is the number of bits), toggles (bits that changed from one clock to the next), changes (clocks in which
// any did) and ones (of variables up to 64 bits: bits that were 1, over all clocks). A section begins with its number of
// clocks and covers a run, from the start at the control port to the end that the host acknowledges. When an instance goes,
// its sections are written to a file of their own in the folder that `GRAMER_COVERAGE_OUT` names.
#include "activity.hpp"
#undef varInsert

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include MODEL_HEADER

std::unordered_map<const void*, size_t>& activity_sizes() {
  static std::unordered_map<const void*, size_t> sizes;
  return sizes;
}

class CountingModel : public MODEL_CLASS {
  struct Activity {
    std::string path, name, dimensions;
    const unsigned char* data;
    size_t bytes, at;  // `at`: of its last value
    uint64_t toggles, changes, ones;
  };
  std::vector<Activity> found;
  std::vector<unsigned char> last;
  std::string sections;
  uint64_t clocks = 0;
  bool runs = false;

  void find() {
    for (const auto& [path, scope] : *contextp()->scopeNameMap()) {
      if (!scope->varsp()) continue;
      for (const auto& [name, var] : *scope->varsp()) {
        const auto size = activity_sizes().find(var.datap());
        if (size == activity_sizes().end() || var.vltype() == VLVT_STRING) continue;
        std::string dimensions;
        for (int dim = 0; dim < var.dims(); dim++)
          dimensions += (dim ? "x" : "") + std::to_string(std::abs(var.left(dim) - var.right(dim)) + 1);
        found.push_back({path, name, dimensions.empty() ? "1" : dimensions,
                         static_cast<const unsigned char*>(var.datap()), size->second, last.size(), 0, 0, 0});
        last.resize(last.size() + (size->second + 7) / 8 * 8);
      }
    }
  }

  // Values that settled before the rising edge.
  void count() {
    for (Activity& one : found) {
      unsigned char* const before = last.data() + one.at;
      const unsigned char* const now = one.data;
      const bool same = !std::memcmp(before, now, one.bytes);
      if (same && one.bytes > 8) continue;
      one.changes += !same;
      for (size_t at = 0; at < one.bytes; at += 8) {
        uint64_t old = 0, value = 0;
        const size_t length = one.bytes - at < 8 ? one.bytes - at : 8;
        std::memcpy(&old, before + at, length);
        std::memcpy(&value, now + at, length);
        one.toggles += uint64_t(__builtin_popcountll(old ^ value));
        if (one.bytes <= 8) one.ones += uint64_t(__builtin_popcountll(value));
      }
      if (!same) std::memcpy(before, now, one.bytes);
    }
    clocks++;
  }

  void begin() {
    if (found.empty()) find();
    for (Activity& one : found) {
      std::memcpy(last.data() + one.at, one.data, one.bytes);
      one.toggles = one.changes = one.ones = 0;
    }
    clocks = 0;
    runs = true;
  }

  void end() {
    if (!runs) return;
    runs = false;
    sections += "clocks\t" + std::to_string(clocks) + '\n';
    for (const Activity& one : found)
      sections += one.path + '\t' + one.name + '\t' + one.dimensions + '\t' + std::to_string(one.toggles) + '\t' +
                  std::to_string(one.changes) + '\t' + std::to_string(one.ones) + '\n';
  }

 public:
  CountingModel(VerilatedContext* context, const char* name) : MODEL_CLASS{context, name} {}

  // In the place of the model's: called with the clock low, when all has settled, and with the clock high.
  void eval() {
    MODEL_CLASS::eval();
    if (ap_clk) return;
    if (runs) count();
    const bool writes = s_axi_control_awvalid && s_axi_control_awready && s_axi_control_wvalid &&
                        s_axi_control_awaddr == 0;
    if (writes && (s_axi_control_wdata & 1)) begin();
    if (writes && (s_axi_control_wdata & 16)) end();
  }

  ~CountingModel() {
    end();
    const char* folder = std::getenv("GRAMER_COVERAGE_OUT");
    std::string path = std::string(folder ? folder : ".") + "/" + std::to_string(getpid()) + "-XXXXXX.tsv";
    const int file = mkstemps(path.data(), 4);
    const bool written = file >= 0 && write(file, sections.data(), sections.size()) == ssize_t(sections.size());
    if (!written) {
      std::perror(path.c_str());
      std::abort();
    }
    close(file);
  }
};

#undef MODEL_CLASS
#define MODEL_CLASS CountingModel
#include "shim.cpp"
