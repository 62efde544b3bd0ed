#include "tune/program/program_in_f32.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "plan/policy.h"
#include "tune/program/program_outputs.h"

namespace hone::tune {
namespace {

double flops_of(const problem::Program& program) {
  double flops = 0;
  for (const problem::Dispatch& dispatch : program.dispatches)
    flops += problem::flop_count(dispatch.root) * std::max(1, dispatch.launches_per_call);
  return flops;
}

}  // namespace

void prefetch_witnesses(Context& context, const problem::Program& program,
                        const std::string& bytes) {
  const Options& options = context.options;
  if (options.traits().compiling_disturbs) return;
  if (computes_narrow(program))
    context.compiler.prefetch_compile_in_f32({program.path, bytes, options.flags});
  if (!options.traits().runs_on_host && flops_of(program) <= plan::kMostHostFlops)
    context.compiler.prefetch_compile_in_f32({program.path, bytes, options.reference_flags});
}

ProgramInF32::ProgramInF32(Context& context, const problem::Program& program,
                           std::shared_ptr<const std::string> bytes, problem::Function function,
                           std::filesystem::path folder)
    : context_(&context),
      path_(program.path),
      bytes_(std::move(bytes)),
      function_(std::move(function)),
      flops_(flops_of(program)),
      folder_(std::move(folder)) {}

Result<std::vector<problem::Array>> ProgramInF32::outputs(CheckedSet& set) const {
  if (set.wide) return *set.wide;
  set.wide.emplace();
  auto outputs = outputs_by(context_->options.flags, context_->options.place().address, set,
                            folder_ / "wide.vmfb");
  HONE_TRY(all_but_failure(outputs));
  if (outputs)
    set.wide = std::move(*outputs);
  else
    context_->note_once("outputs are compared within a fixed tolerance: " +
                        outputs.error().message);
  return *set.wide;
}

Result<std::vector<problem::Array>> ProgramInF32::outputs_of_host(const CheckedSet& set) const {
  return outputs_by(context_->options.reference_flags,
                    device::host_of(context_->options.place().address), set,
                    folder_ / "wide_of_host.vmfb");
}

Status ProgramInF32::check_host_can() const {
  if (flops_ <= plan::kMostHostFlops) return {};
  return failure("its {:.3g} operations would take this machine's cores too long", flops_);
}

void ProgramInF32::prefetch() const {
  if (!context_->options.traits().compiling_disturbs)
    context_->compiler.prefetch_compile_in_f32({path_, *bytes_, context_->options.flags});
}

Result<std::vector<problem::Array>> ProgramInF32::outputs_by(
    const std::vector<std::string>& flags, const device::Address& device, const CheckedSet& set,
    const std::filesystem::path& module) const {
  if (!std::filesystem::exists(module)) {
    HONE_ASSIGN(const trial::CompiledModule compiled,
                context_->compiler.compile_program_in_f32({path_, *bytes_, flags}));
    if (!compiled)
      return failure("in f32 the program does not compile: {}", compiled.error().message);
    HONE_TRY(write_file_atomically(module, *compiled));
  }
  provider::ProgramCall call{.module = module,
                             .function = function_,
                             .inputs = {},
                             .device = device,
                             .runtime_flags = context_->options.runtime_flags,
                             .stop_fd = context_->stop_fd,
                             .most_seconds = std::max(1.0, context_->state->deadline.to_end())};
  HONE_ASSIGN(call, widened_call(std::move(call), set.inputs, folder_));
  Result<std::vector<problem::Array>> outputs =
      context_->programs->runtime().run(call, function_.outputs.size());
  if (!outputs && outputs.error().kind != ErrorKind::kInterrupted)
    return failure("in f32 the program does not run: {}", outputs.error().message);
  return outputs;
}

}  // namespace hone::tune
