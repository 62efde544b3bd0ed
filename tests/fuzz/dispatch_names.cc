// Names of operations, as they stand in folders, workloads and source files.
#include "profiler/source.h"
#include "profiler/tree.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  const auto operation = profiler::parse_operation(fuzz::text_of(bytes, size));
  if (!operation) return 0;
  fuzz::require(operation->name() == fuzz::text_of(bytes, size), "a name is read as it is written");
  fuzz::require(operation->flops() > 0 && operation->bytes() > 0, "an operation takes something");
  const std::vector configurations = {profiler::default_configuration()};
  const auto dispatches = profiler::dispatches_in(profiler::source_text(*operation, configurations),
                                                  *operation, "source");
  const profiler::NamedDispatch written{*operation, configurations.front().name};
  fuzz::require(dispatches && dispatches->size() == 1 && dispatches->front() == written,
                "its source has its one dispatch");
  return 0;
}
