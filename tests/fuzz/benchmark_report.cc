// What IREE's benchmark tools print.
#include "provider/iree/compiler/runtime_tools.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  const auto seconds = iree::time_in_report(std::string(fuzz::text_of(bytes, size)));
  if (seconds) fuzz::require(*seconds > 0, "a time is above zero");
  return 0;
}
