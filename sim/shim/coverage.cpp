// The shim of a model that counts which lines ran and which bits toggled: when an instance goes, its
// counts are written to a file of their own in the folder that `GRAMER_COVERAGE_OUT` names
// (target/coverage by default), for verilator_coverage.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "verilated.h"
#include "verilated_cov.h"
#include MODEL_HEADER

static std::atomic<unsigned> coverage_files{0};

class CoveredModel : public MODEL_CLASS {
 public:
  CoveredModel(VerilatedContext* context, const char* name) : MODEL_CLASS{context, name} {}

  ~CoveredModel() {
    const char* folder = std::getenv("GRAMER_COVERAGE_OUT");
    const std::string path = std::string(folder ? folder : "target/coverage") + "/" +
                             std::to_string(getpid()) + "-" + std::to_string(coverage_files++) +
                             ".dat";
    contextp()->coveragep()->write(path.c_str());
  }
};

#undef MODEL_CLASS
#define MODEL_CLASS CoveredModel
#include "shim.cpp"
