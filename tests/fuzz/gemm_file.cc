// YAML files of GEMM sizes and results.
#include <cmath>

#include "provider/triton/tune_gemm.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  const auto entries = triton::read_gemms("fuzz", std::string(fuzz::text_of(bytes, size)), {});
  if (!entries) {
    fuzz::require(entries.error().kind == ErrorKind::kInput, "the user's mistake");
    return 0;
  }
  for (const triton::GemmEntry& entry : *entries) {
    fuzz::require(triton::check(entry.gemm).has_value(), "a GEMM that the kernels take");
    const auto same = triton::read_gemms("fuzz", triton::result_line(entry, NAN), {});
    fuzz::require(same && same->size() == 1 && same->front().gemm == entry.gemm &&
                      same->front().configuration == entry.configuration,
                  "it is written so that it is read as the same entry");
  }
  return 0;
}
