// hone tune --provider triton: GEMMs in, the configurations of the fastest Triton kernels out.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "cli/compiled_report.h"
#include "cli/device_options.h"
#include "cli/gemm_results.h"
#include "cli/status_line.h"
#include "cli/time_report.h"
#include "cli/triton_toolchain.h"
#include "cli/tune_options.h"
#include "device/cpu/target.h"
#include "output/gpu_report.h"
#include "output/json_text.h"
#include "output/session_report.h"
#include "tune/compile_only.h"

namespace hone::cli {
namespace {

constexpr int kSchemaVersion = 1;
constexpr double kSecondsPerGemm = 20;

using Entries = std::map<std::string, triton::GemmEntry>;  // by dispatch name

struct Gemms {
  tune::DispatchList list;
  Entries entries;
  std::shared_ptr<const triton::UserKernel> kernel;  // none: hone's
};

Result<Gemms> read_gemms(const TuneOptions& options) {
  Gemms gemms;
  HONE_ASSIGN(gemms.kernel, user_kernel(options.gemms));
  std::vector<std::string> knobs;
  if (gemms.kernel)
    for (const triton::UserKernel::Knob& knob : gemms.kernel->knobs) knobs.push_back(knob.name);
  HONE_ASSIGN(const std::vector<triton::GemmEntry> entries,
              gemms_of(options.gemms, options.tuning.input, knobs));
  std::string names;
  for (const triton::GemmEntry& entry : entries) {
    problem::Dispatch dispatch = triton::dispatch_of(entry.gemm);
    if (gemms.kernel) dispatch = triton::with_kernel(std::move(dispatch), *gemms.kernel);
    if (!gemms.entries.emplace(dispatch.name, entry).second) continue;  // said twice
    names += dispatch.name + '\n';
    gemms.list.dispatches.push_back(std::move(dispatch));
  }
  gemms.list.path =
      options.tuning.input.empty() ? "GEMMs of the command line" : options.tuning.input;
  gemms.list.hash = content_hash(names);
  return gemms;
}

// The facts of the GPU's kind, with what its driver says of this one.
Result<triton::GemmDevice> device_of(const device::cuda::Facts& gpu) {
  HONE_ASSIGN(triton::GemmDevice device, triton::gemm_device(gpu.arch()));
  device.units = gpu.multiprocessors;
  device.shared_bytes = gpu.shared_bytes;
  device.l2_bytes = gpu.l2_bytes;
  return device;
}

// Whether the user's manifest fits every size, before the first is tuned.
Status check_kernel(const Gemms& gemms, const triton::GemmDevice& device) {
  if (!gemms.kernel) return {};
  for (const auto& entry : gemms.entries)
    HONE_TRY(triton::user_kernel_space(*gemms.kernel, entry.second.gemm, device));
  return {};
}

Status check_fit(const Gemms& gemms, const device::cuda::Facts& gpu,
                 const triton::GemmDevice& device, const std::string& path) {
  HONE_TRY(check_kernel(gemms, device));
  for (const problem::Dispatch& dispatch : gemms.list.dispatches) {
    const triton::GemmEntry& entry = gemms.entries.at(dispatch.name);
    const auto where = entry.line > 0 ? fmt::format("{}:{}: ", path, entry.line) : std::string();
    std::int64_t bytes = 0;
    for (const problem::Binding& binding : dispatch.bindings) bytes += binding.bytes;
    // What is measured is there twice: over one poison and over another.
    if (2 * bytes > gpu.memory_bytes)
      return input_error("{}{} takes {:.1f} GB, and {} has {:.1f} GB", where, dispatch.name,
                         2e-9 * static_cast<double>(bytes), gpu.name,
                         1e-9 * static_cast<double>(gpu.memory_bytes));
    const Status legal = triton::check(entry.gemm, device);
    if (!legal) return input_error("{}{}: {}", where, dispatch.name, legal.error().message);
  }
  return {};
}

store::Build build_row(const triton::Installation& installation, const tune::Options& options,
                       const std::string& target) {
  store::Build row;
  row.compiler = "Triton " + installation.version;
  row.flags = nlohmann::json(options.flags).dump();
  row.target = nlohmann::json{{"gpu", target}}.dump();
  return row;
}

Status complete(TuneOptions& options, const std::vector<device::cuda::Facts>& gpus,
                const triton::GemmDevice& device, std::size_t gemms) {
  tune::Options& tuning = options.tuning;
  tuning.budget_seconds = kSecondsPerGemm * static_cast<double>(gemms);
  if (!options.budget.empty()) {
    HONE_ASSIGN(tuning.budget_seconds, parse_duration(options.budget));
  }
  HONE_ASSIGN(tuning.cores, choose_cores(options.cores));
  tuning.flags = triton::worker_flags(device);
  tuning.cache = options.cache == "cold" ? measure::CacheMode::kCold : measure::CacheMode::kWarm;
  tuning.reuse = options.reuse == "any" ? store::Reuse::kAny : store::Reuse::kEqualIdentities;
  if (options.toolchain.jobs == 0)
    options.toolchain.jobs = std::max(
        1, static_cast<int>(device::cpu::available_cores().size()) - static_cast<int>(gpus.size()));
  // Many candidates share one compile: of more at a time more compiles are in flight.
  const bool learns = tuning.strategy == "local";
  tuning.compile_ahead = (learns ? 2 : 16) * static_cast<std::size_t>(options.toolchain.jobs);
  if (gpus.empty()) return {};
  tuning.last_level_cache = gpus.front().l2_bytes;
  tuning.cuda = gpus.front().index;
  for (std::size_t i = 1; i < gpus.size(); ++i) tuning.more_gpus.push_back(gpus[i].index);
  return {};
}

std::filesystem::path results_file(const TuneOptions& options) {
  return options.gemms.results.empty() ? options.tuning.out / "gemms.yaml"
                                       : std::filesystem::path(options.gemms.results);
}

CommandResult print_result(const TuneOptions& options, store::Store& store, tune::Context& context,
                           const Entries& entries, const tune::TunedList& tuned) {
  HONE_ASSIGN(const std::vector<GemmResult> results,
              gemm_results(store, entries, tuned.tuned, context.build, context.device));
  HONE_ASSIGN(const output::Table dispatches,
              output::dispatch_table(store, tuned.list, context.build, context.device));
  std::map<store::Id, output::Spent> spent;
  for (const tune::TunedDispatch& each : tuned.tuned)
    spent[each.id] = {each.seconds, each.busy_seconds};
  HONE_ASSIGN(const output::GpuReport gpu,
              output::gpu_report(store, tuned.list, context.build, context.device, spent));
  const bool found = std::any_of(results.begin(), results.end(),
                                 [](const auto& each) { return each.speedup.has_value(); });
  if (options.json) {
    nlohmann::json document{
        {"schema_version", kSchemaVersion},
        {"gemms", gemm_table(results).to_json()},
        {"dispatches", dispatches.to_json()},
        {"gpu", gpu.table.to_json()},
        {"notes", gpu.notes},
        {"results", results_file(options)},
        {"time_budget", time_table(context.time).to_json()},
        {"machine", {{"noise", tuned.machine.noise}, {"state", tuned.machine.state}}},
        {"not_tuned", nlohmann::json::array()}};
    for (const tune::NotTuned& not_tuned : tuned.not_tuned)
      document["not_tuned"].push_back(
          {{"dispatch", not_tuned.dispatch}, {"reason", not_tuned.reason}});
    fmt::print("{}\n", output::json_text(document));
    return found ? 0 : 1;
  }
  fmt::print("{}\n{}\n{}", gemm_table(results).to_text(), dispatches.to_text(),
             gpu.table.to_text());
  for (const std::string& note : gpu.notes) fmt::print("{}\n", note);
  fmt::print("\n");
  for (const tune::NotTuned& not_tuned : tuned.not_tuned)
    fmt::print("not tuned: {}: {}\n", not_tuned.dispatch, not_tuned.reason);
  fmt::print("{}\nresults: {}\n", time_table(context.time).to_text(),
             results_file(options).string());
  return found ? 0 : 1;
}

// For a GPU that is not here.
CommandResult compile_gemms(TuneOptions& options, Gemms gemms) {
  const auto target = gpu_of(options.toolchain);
  if (!target) return input_error("--compile-only needs a GPU for --target: sm_90, gfx942, ...");
  HONE_ASSIGN(const triton::GemmDevice device, triton::gemm_device(target->arch));
  HONE_TRY(check_kernel(gemms, device));
  HONE_TRY(complete(options, {}, device, gemms.list.dispatches.size()));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(TritonToolchain toolchain,
              TritonToolchain::start(options.gemms.triton, device, options.toolchain));
  const triton::TritonProvider provider(device, space_kind(options.gemms), gemms.kernel);
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(const store::Id build,
              store.intern(build_row(toolchain.installation(), options.tuning, target->arch)));
  problem::Program list;
  list.path = gemms.list.path;
  list.hash = gemms.list.hash;
  list.dispatches = std::move(gemms.list.dispatches);
  StatusLine status(options.quiet || options.json ? Verbosity::kQuiet : Verbosity::kNormal);
  HONE_ASSIGN(const tune::CompiledProgram compiled,
              tune::compile_only(toolchain.compiler(), provider, store, options.tuning, *target,
                                 std::move(list), build, run_row(options), status));
  status.clear();
  HONE_TRY(print_compiled(options.toolchain, compiled, options.json,
                          options.tuning.out / "compiled.json"));
  const bool any = std::any_of(compiled.dispatches.begin(), compiled.dispatches.end(),
                               [](const auto& each) { return each.compiled > 0; });
  return any ? 0 : 1;
}

}  // namespace

CommandResult tune_gemms(TuneOptions options) {
  HONE_ASSIGN(Gemms gemms, read_gemms(options));
  if (options.compile_only) return compile_gemms(options, std::move(gemms));
  if (options.device.empty() && options.toolchain.target == "host") options.device = "cuda:0";
  HONE_ASSIGN(const std::vector<device::cuda::Facts> gpus,
              choose_gpus(options.device, options.toolchain));
  if (gpus.empty())
    return input_error(
        "Triton's kernels run on GPUs: give --device cuda:0, or --compile-only and "
        "--target sm_90 or gfx942");
  HONE_ASSIGN(const triton::GemmDevice device, device_of(gpus.front()));
  HONE_TRY(check_fit(gemms, gpus.front(), device, gemms.list.path));
  HONE_TRY(complete(options, gpus, device, gemms.list.dispatches.size()));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(const std::vector<device::LockFile> leases_on_gpus, lease_gpus(gpus));
  HONE_ASSIGN(TritonToolchain toolchain,
              TritonToolchain::start(options.gemms.triton, device, options.toolchain));
  const triton::TritonProvider provider(device, space_kind(options.gemms), gemms.kernel);
  tune::RunnerService runner(toolchain.make_runner(), options.kernel_seconds);
  std::vector<tune::RunnerService> more_runners;
  for (std::size_t i = 1; i < gpus.size(); ++i)
    more_runners.emplace_back(toolchain.make_runner(), options.kernel_seconds);
  StatusLine status(options.quiet || options.json ? Verbosity::kQuiet : Verbosity::kNormal);
  HONE_ASSIGN(tune::LeaseKeeper leases, tune::LeaseKeeper::start(store, toolchain.stop_fd()));
  tune::Context context{options.tuning, provider, toolchain.compiler(), runner, store, status};
  for (tune::RunnerService& each : more_runners) context.more_runners.push_back(&each);
  context.leases = &leases;
  context.stop_fd = toolchain.stop_fd();
  HONE_ASSIGN(context.build, store.intern(build_row(toolchain.installation(), options.tuning,
                                                    gpus.front().arch())));
  HONE_ASSIGN(context.device, store.intern(gpu_row(options.tuning, gpus.front())));

  // After every size, so that whatever ends the run, what is finished is in the file.
  const auto write_results = [&](const tune::TunedList& so_far) -> Status {
    HONE_ASSIGN(const std::vector<GemmResult> results,
                gemm_results(store, gemms.entries, so_far.tuned, context.build, context.device));
    return write_file_atomically(results_file(options), results_yaml(results));
  };
  Result<tune::TunedList> tuned =
      tune::tune_list(context, run_row(options), gemms.list, write_results);
  status.clear();
  if (!tuned && tuned.error().kind == ErrorKind::kInterrupted)
    return tl::unexpected(Error{
        ErrorKind::kInterrupted,
        fmt::format("stopped; what is finished is in '{}' and '{}', and the same command continues",
                    results_file(options).string(), options.store)});
  if (!tuned) return tl::unexpected(std::move(tuned).error());
  return print_result(options, store, context, gemms.entries, *tuned);
}

}  // namespace hone::cli
