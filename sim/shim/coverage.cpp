// The shim of a model that counts which lines ran and which bits toggled: when an instance goes, its
// counts are written to a file of their own in the folder that `GRAMER_COVERAGE_OUT` names
// (target/coverage by default), for verilator_coverage.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "verilated.h"
#include "verilated_cov.h"
#include MODEL_HEADER

class CoveredModel : public MODEL_CLASS {
 public:
  CoveredModel(VerilatedContext* context, const char* name) : MODEL_CLASS{context, name} {}

  ~CoveredModel() {
    const char* folder = std::getenv("GRAMER_COVERAGE_OUT");
    // A process has several models, each with this code of its own: no counter is shared by all.
    std::string path = std::string(folder ? folder : "target/coverage") + "/" +
                       std::to_string(getpid()) + "-XXXXXX.dat";
    const int file = mkstemps(path.data(), 4);
    if (file < 0) {
      std::perror(path.c_str());
      std::abort();
    }
    close(file);
    contextp()->coveragep()->write(path.c_str());
  }
};

#undef MODEL_CLASS
#define MODEL_CLASS CoveredModel
#include "shim.cpp"
