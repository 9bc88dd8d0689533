// The functional model of the core for the emulator, which reads device memory by a callback.
#include "core_model.hpp"

typedef void (*ReadLine)(void* context, uint64_t address, gramer::Line* line);
typedef void (*TakeBeats)(void* context, const gramer::Line* beats, uint64_t count);

extern "C" void functional_run(const gramer::CoreMachine* machine,
                               const gramer::CoreArguments* arguments, const gramer::Line* in,
                               uint64_t beats, ReadLine read, TakeBeats take, void* context) {
  const auto line = [&](uint64_t address) {
    gramer::Line line;
    read(context, address, &line);
    return line;
  };
  gramer::CoreModel<decltype(line)> model(*machine, *arguments, line);
  const auto out = model.run(in, beats);
  take(context, out.data(), out.size());
}
