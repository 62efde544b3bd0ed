// Manifests of users' kernels, and the expressions in them.
#include <nlohmann/json.hpp>

#include "provider/triton/gemm.h"
#include "provider/triton/user_kernel.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  using namespace hone::triton;
  const std::string text(fuzz::text_of(bytes, size));
  Gemm gemm;
  gemm.m = 512;
  gemm.n = 256;
  gemm.k = 128;
  const GemmDevice device = gemm_device("sm_90").value();
  if (const auto expression = space::parse_expression(text, names_of(gemm, device)))
    (void)space::evaluate(*expression, {});
  const auto kernel = read_user_kernel("kernel.yaml", text, "kernel.py", "");
  if (!kernel) {
    fuzz::require(kernel.error().message.starts_with("kernel.yaml:"), "an error names its place");
    return 0;
  }
  const auto dispatch = with_kernel(dispatch_of(gemm), *kernel);
  fuzz::require(gemm_of(dispatch).value() == gemm, "the GEMM stays as it was");
  (void)check_parameters(*kernel, {{"a", false, false}, {"BLOCK_M", true, true}});
  (void)user_kernel_space(*kernel, gemm, device);
  return 0;
}
