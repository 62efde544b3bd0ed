#include "tests/tune_fake/recorded_tunings.h"

#include <algorithm>
#include <iterator>

#include "measure/half.h"
#include "provider/iree/iree_provider.h"
#include "provider/iree/program/program.h"
#include "provider/triton/gemm.h"
#include "provider/triton/installation.h"
#include "provider/triton/triton_provider.h"
#include "tests/device/places.h"
#include "tests/tune/silent_observer.h"
#include "tests/tune_fake/fake_runner.h"
#include "tests/tune_fake/taped_seams.h"
#include "tune/dispatch/dispatch_list.h"
#include "tune/tuning_run.h"
#include "worker/compile_pool.h"
#include "worker/persistent_pool.h"

namespace hone::test {
namespace {

using tune::Options;

// Of a machine that is the same everywhere: AVX2, one core.
problem::CpuTarget avx2() {
  problem::CpuTarget target;
  target.cpu = "x86-64-v3";
  target.features = {"avx2", "fma", "f16c"};
  target.vector_bits = 256;
  target.vector_registers = 16;
  return target;
}

std::vector<std::string> cpu_flags(const std::string& cpu) {
  return {"--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
          "--iree-llvmcpu-target-cpu=" + cpu};
}

Options common_options(const std::filesystem::path& folder) {
  Options options;
  options.input = recorded_program().string();
  options.strategy = "random";
  options.candidates = 8;
  options.places = {core_place()};
  // More than what is recorded takes: what is decided does not depend on how fast the machine was.
  options.budget_seconds = 3600;
  options.out = folder;
  return options;
}

// A GPU of which all is right. The first code that it meets, the default's, takes the longest.
std::unique_ptr<FakeRunner> fake_gpu(FakeRunner::Log& log) {
  auto runner = std::make_unique<FakeRunner>(log);
  runner->seconds_of = [known = std::map<std::string, double>()](const std::string& code) mutable {
    const std::size_t number = known.size();
    return known
        .emplace(code, number == 0 ? 2e-4 : 1e-4 * (1 + 0.1 * static_cast<double>(number * 5 % 7)))
        .first->second;
  };
  return runner;
}

// Programs that are right too, each faster than the first.
TapedPrograms::Runtime fake_gpu_runtime() {
  return {[](const provider::ProgramCall& call) -> Result<std::vector<problem::Array>> {
            // 0 to 6 again and again, and more for another draw of inputs.
            const bool redrawn = call.inputs.front().filename().string().starts_with("draw");
            std::vector<problem::Array> arrays;
            for (const problem::TensorType& type : call.function.outputs) {
              const auto size = static_cast<std::size_t>(problem::byte_size(type.element));
              const auto count = static_cast<std::size_t>(problem::element_count(type));
              arrays.push_back({type, std::string(count * size, '\0')});
              problem::Array& array = arrays.back();
              for (std::size_t i = 0; i < count; ++i)
                measure::store_element(reinterpret_cast<std::byte*>(array.bytes.data() + i * size),
                                       type.element,
                                       static_cast<double>(i % 7) + (redrawn ? 1 : 0));
            }
            return arrays;
          },
          [known = std::map<std::string, double>(),
           noise = FakeNoise()](const provider::ProgramCall& call) mutable -> Result<double> {
            const double seconds = known.empty() ? 2e-3 : 1.5e-3;
            return known.emplace(call.module.string(), seconds).first->second * noise.next();
          }};
}

// Built and measured nowhere that a store would have to know apart.
Status name_build_and_device(tune::Context& context) {
  store::Build build;
  build.compiler = "recorded";
  build.flags = nlohmann::json(context.options.flags).dump();
  build.target = "{}";
  HONE_ASSIGN(context.baseline.build, context.store.intern(build));
  store::Device device;
  device.name = "recorded";
  device.protocol = "{}";
  HONE_ASSIGN(context.device, context.store.intern(device));
  return {};
}

nlohmann::json json_of(const std::vector<tune::TunedDispatch>& tuned) {
  nlohmann::json json = nlohmann::json::array();
  for (const tune::TunedDispatch& each : tuned)
    json.push_back({{"dispatch", each.dispatch->name},
                    {"attributes", each.payload ? each.payload->json : nlohmann::json()},
                    {"speedup", each.selection.speedup.value_or(1)},
                    {"ties", each.selection.ties.size()},
                    {"shipped", each.selection.shipped},
                    {"reason", each.selection.reason},
                    {"tried", each.search.tried}});
  return json;
}

Result<nlohmann::json> tune_with_iree(Tape& tape, const Options& options, const std::string& hone,
                                      const iree::IreeProvider& provider,
                                      std::unique_ptr<worker::RunnerTransport> real_runner,
                                      TapedPrograms::Runtime runtime) {
  std::unique_ptr<worker::CompilePool> real_pool;
  if (!hone.empty()) {
    HONE_ASSIGN(const iree::Installation installation,
                iree::find_installation(HONE_SOURCE_DIR "/.venv"));
    worker::CompilePoolOptions workers;
    workers.command = {hone,
                       "worker",
                       "compile",
                       "--provider",
                       "iree",
                       "--installation",
                       installation.compiler_library.string()};
    HONE_ASSIGN(real_pool, worker::CompilePool::start(workers));
  }
  TapedPool pool(tape, real_pool.get());
  const TapedPrograms programs(tape, provider, std::move(runtime));
  trial::CompileService compiler(pool);
  trial::RunnerService runner(std::make_unique<TapedRunner>(tape, std::move(real_runner)));
  HONE_ASSIGN(store::Store store,
              store::Store::open(options.out / "a.db", store::Mode::kReadWrite));
  tune::SilentObserver observer;
  tune::Context context{options, programs, compiler, runner, store, observer};
  context.programs = &programs;
  context.clock = [&tape] { return tape.seconds(); };
  HONE_TRY(name_build_and_device(context));
  HONE_ASSIGN(const tune::TuningResult result,
              tune::tune_program(context, store::Run{}, {problem::SizeSet()}));
  const tune::ProgramTuningResult& session = result.at_sizes.front();
  nlohmann::json not_tuned = nlohmann::json::array();
  for (const tune::NotTuned& each : session.not_tuned)
    not_tuned.push_back({each.dispatch, each.reason});
  return nlohmann::json{{"dispatches", json_of(session.tuned)},
                        {"not_tuned", not_tuned},
                        {"best", result.best ? result.best->label : ""},
                        {"spec", result.spec}};
}

// Of a version that is written into specs: the recorded one's.
Result<iree::Installation> installation_of(const std::string& hone) {
  iree::Installation installation;
  if (!hone.empty()) {
    HONE_ASSIGN(installation, iree::find_installation(HONE_SOURCE_DIR "/.venv"));
  }
  installation.version = "3.13.0";
  return installation;
}

}  // namespace

std::filesystem::path recorded_program() {
  return HONE_SOURCE_DIR "/tests/tune_fake/recordings/product_and_sums.mlir";
}

Result<nlohmann::json> tune_on_a_cpu(Tape& tape, const std::filesystem::path& folder,
                                     const std::string& hone) {
  Options options = common_options(folder);
  options.flags = cpu_flags("x86-64-v3");
  options.reference_flags = cpu_flags("x86-64");
  options.flag_sets = {{"O3", {"--iree-opt-level=O3"}}};
  options.sums = {"reordered sums", {"--iree-llvmcpu-reassociate-fp-reductions"}};
  HONE_ASSIGN(const iree::Installation installation, installation_of(hone));
  std::unique_ptr<worker::RunnerTransport> runner;
  if (!hone.empty()) {
    worker::RunnerOptions runner_options;
    runner_options.command = {hone, "worker", "run"};
    runner = std::make_unique<worker::RunnerProcess>(runner_options);
  }
  return tune_with_iree(tape, options, hone, iree::CpuIreeProvider(installation, avx2()),
                        std::move(runner), {});
}

Result<nlohmann::json> tune_on_a_gpu(Tape& tape, const std::filesystem::path& folder,
                                     const std::string& hone) {
  HONE_ASSIGN(const problem::GpuTarget gpu, problem::gpu_target("sm_80"));
  Options options = common_options(folder);
  options.flags = iree::gpu_flags(gpu);
  options.reference_flags = cpu_flags("x86-64");
  options.places = {gpu_place()};
  options.places.front().facts.target = "sm_80";
  options.compile_ahead = 2;
  HONE_ASSIGN(const iree::Installation installation, installation_of(hone));
  FakeRunner::Log log;
  return tune_with_iree(tape, options, hone, iree::GpuIreeProvider(installation, gpu),
                        hone.empty() ? nullptr : fake_gpu(log), fake_gpu_runtime());
}

Result<nlohmann::json> tune_gemms(Tape& tape, const std::filesystem::path& folder,
                                  const std::string& hone) {
  HONE_ASSIGN(const triton::GemmDevice device, triton::gemm_device("sm_80"));
  Options options = common_options(folder);
  options.strategy = "auto";
  options.flags = triton::worker_flags(device);
  options.places = {gpu_place()};
  options.compile_ahead = 2;
  std::unique_ptr<worker::PersistentPool> real_pool;
  if (!hone.empty()) {
    HONE_ASSIGN(const triton::Installation installation,
                triton::find_installation(HONE_SOURCE_DIR "/.venv"));
    HONE_ASSIGN(const std::filesystem::path script, triton::write_sources(folder / "triton"));
    worker::PersistentPoolOptions workers;
    workers.command = {hone, "worker", "exec"};
    std::ranges::move(triton::worker_command(installation, script),
                      std::back_inserter(workers.command));
    workers.environment = {{"TRITON_CACHE_DIR", (folder / "cache").string()},
                           {"TRITON_DEFAULT_FP_FUSION", "1"}};
    workers.workers = 1;
    HONE_ASSIGN(real_pool, worker::PersistentPool::start(workers));
  }
  TapedPool pool(tape, real_pool.get());
  const triton::TritonProvider provider(device, triton::SpaceKind::kOwn);
  trial::CompileService compiler(pool);
  FakeRunner::Log log;
  trial::RunnerService runner(
      std::make_unique<TapedRunner>(tape, hone.empty() ? nullptr : fake_gpu(log)));
  HONE_ASSIGN(store::Store store, store::Store::open(folder / "a.db", store::Mode::kReadWrite));
  tune::SilentObserver observer;
  tune::Context context{options, provider, compiler, runner, store, observer};
  context.clock = [&tape] { return tape.seconds(); };
  HONE_TRY(name_build_and_device(context));

  tune::DispatchList list{.path = "two GEMMs", .hash = "two GEMMs", .dispatches = {}};
  triton::Gemm plain, biased;
  plain.m = 128;
  plain.n = 256;
  plain.k = 512;
  biased.m = biased.n = 64;
  biased.k = 4096;
  biased.bias = problem::ElementType::kF16;
  for (const triton::Gemm& gemm : {plain, biased})
    list.dispatches.push_back(triton::dispatch_of(gemm));
  HONE_ASSIGN(const tune::TunedList tuned,
              tune::tune_list(context, store::Run{}, list,
                              [](const tune::TunedList&) -> Status { return {}; }));
  return nlohmann::json{{"dispatches", json_of(tuned.tuned)}};
}

}  // namespace hone::test
