// What the compile worker says a program consists of (the result of reading the compiler's IR), and
// what the tuner does with it: names, counts, inputs, the space of each dispatch.
#include "measure/inputs.h"
#include "measure/verification.h"
#include "problem/check.h"
#include "problem/target.h"
#include "provider/iree/cpu/space.h"
#include "tests/fuzz/json_round_trip.h"
#include "trial/records.h"

namespace hone {
namespace {

problem::CpuTarget target() {
  problem::CpuTarget target;
  target.cpu = "of the fuzzer";
  target.vector_bits = 512;
  target.vector_registers = 32;
  target.l1d_bytes = 48 * 1024;
  target.l2_bytes = 2048 * 1024;
  target.cores = 2;
  return target;
}

// A space is stated in milliseconds for real programs; here extents are kept small, so that the
// fuzzer's time goes into different programs instead of large ones.
bool is_small(const problem::Operation& operation) {
  if (operation.loops.size() > 4) return false;
  for (const problem::Loop& loop : operation.loops)
    if (loop.size > 4096) return false;
  return true;
}

void use(const problem::Dispatch& dispatch) {
  (void)problem::describe(dispatch.root);
  (void)problem::flop_count(dispatch.root);
  (void)problem::byte_count(dispatch.root);
  (void)problem::fingerprint(dispatch);
  (void)trial::operation_row(dispatch.root);
  (void)trial::dispatch_row(dispatch, 1);
  (void)measure::plan_inputs(dispatch);
  (void)measure::tolerances_for(dispatch, measure::plan_inputs(dispatch));
  if (!is_small(dispatch.root)) return;
  const auto space = iree::llvm_cpu_contraction_space(dispatch.root, target());
  if (!space || space->empty()) return;
  const auto samples = space->samples(1, 1);
  if (samples && !samples->empty())
    fuzz::require(space->is_legal(samples->front()), "a sample is legal");
}

}  // namespace
}  // namespace hone

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  const auto body = nlohmann::json::parse(fuzz::text_of(bytes, size), nullptr, false);
  if (body.is_discarded() || !fuzz::has_only_castable_numbers(body)) return 0;
  fuzz::round_trip<problem::Program>(body);
  if (const auto program = fuzz::accepted<problem::Program>(body))
    for (const problem::Dispatch& dispatch : program->dispatches) use(dispatch);
  return 0;
}
