// hone show: everything about one candidate, and how to reproduce it without hone.
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "device/cpu/target.h"
#include "measure/verification.h"
#include "output/json_text.h"
#include "provider/iree/iree_provider.h"
#include "provider/iree/vector/vector_provider.h"
#include "session/toolchain.h"
#include "space/configuration.h"
#include "store/store.h"
#include "trial/records.h"
#include "tune/services/load_program.h"

namespace hone::cli {
namespace {

struct ShowOptions {
  ToolchainOptions toolchain;  // only asked for a GPU's spec
  std::string store = "hone.db";
  store::Id candidate = 0;
  std::filesystem::path out;
  bool configured = false;
  bool trust = false;
  bool json = false;
};

// Returns the GPU that the candidate is compiled for; nullopt for a CPU.
std::optional<std::string> gpu_of(const store::CandidateDetails& details) {
  const auto target =
      nlohmann::json::parse(details.build.target, nullptr, /*allow_exceptions=*/false);
  const auto gpu = decode_json<std::string>(target, "gpu");
  return gpu ? std::optional<std::string>(*gpu) : std::nullopt;
}

// Returns the flags in the store that the candidate was compiled with.
Result<std::vector<std::string>> flags_of(const ToolchainOptions& options, bool trust,
                                          const store::CandidateDetails& details,
                                          const iree::IreeProvider& provider) {
  return trust ? tune::flags_in(details.build)
               : tune::flags_to_compile_with(details.build, options.flags, provider);
}

// Returns the payload as the compiler applied it. On a GPU a spec holds the attributes that the
// compiler makes of knobs' values, so the candidate is compiled once more.
Result<provider::Payload> as_compiled(const ToolchainOptions& options, bool trust,
                                      const store::CandidateDetails& details,
                                      const problem::Dispatch& dispatch,
                                      const iree::IreeProvider& provider,
                                      const provider::Payload& payload) {
  HONE_ASSIGN(const std::vector<std::string> flags, flags_of(options, trust, details, provider));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options));
  HONE_TRY(toolchain.compiler().prepare({"shown", dispatch.source, flags}));
  HONE_ASSIGN(const trial::CompiledCandidate compiled,
              toolchain.compiler().compile("shown", payload));
  if (!compiled.artifact)
    return failure("candidate {} does not compile: {}", details.candidate.id,
                   compiled.artifact.error().message);
  return provider.specs().as_compiled(payload, *compiled.artifact);
}

Result<std::unique_ptr<iree::IreeProvider>> provider_of(const store::CandidateDetails& details) {
  if (const auto gpu = gpu_of(details)) {
    HONE_ASSIGN(const problem::GpuTarget target, problem::gpu_target(*gpu));
    return std::make_unique<iree::GpuIreeProvider>(iree::Installation(), target);
  }
  HONE_ASSIGN(const problem::CpuTarget target, device::cpu::detect_target());
  return std::make_unique<iree::CpuIreeProvider>(iree::Installation(), target);
}

// Returns the spec that gives the dispatch this configuration; empty for the compiler's own choice
// and for configurations that no spec can express.
Result<std::string> spec_of(const ShowOptions& options, const store::CandidateDetails& details) {
  if (details.candidate.provider != "iree" ||
      details.candidate.configuration == store::kDefaultConfiguration)
    return std::string();
  HONE_ASSIGN(const auto provider, provider_of(details));
  HONE_ASSIGN(const problem::Dispatch dispatch, trial::dispatch_from(details.dispatch));
  HONE_ASSIGN(const space::Space space, provider->space_of(dispatch));
  HONE_ASSIGN(const space::Configuration configuration,
              space::configuration_from_json(
                  space, nlohmann::ordered_json::parse(details.candidate.configuration, nullptr,
                                                       /*allow_exceptions=*/false)));
  HONE_ASSIGN(provider::Payload payload, provider->payload_of(dispatch, space, configuration));
  if (gpu_of(details)) {
    HONE_ASSIGN(payload, as_compiled(options.toolchain, options.trust, details, dispatch, *provider,
                                     payload));
  }
  return provider->specs().text_of({{dispatch.name, dispatch.root, payload}});
}

// Returns the dispatch at executable-configurations, with the spec in the folder of --out if the
// candidate has one.
Result<std::string> configured_text(const ShowOptions& options,
                                    const store::CandidateDetails& details, bool has_spec) {
  HONE_ASSIGN(const auto provider, provider_of(details));
  HONE_ASSIGN(std::vector<std::string> flags,
              flags_of(options.toolchain, options.trust, details, *provider));
  if (has_spec)
    flags.push_back(provider->specs().flag_of((options.out / "tuning_spec.mlir").string()));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  return toolchain.compiler().ask(
      provider::jobs::kConfiguredText,
      {details.dispatch.name, details.dispatch.source, std::move(flags)});
}

// Replaces control characters, so that the text fits a comment.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

// Parses JSON of the store; null if somebody else wrote something else there.
nlohmann::json parsed(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? nlohmann::json() : json;
}

// Returns the kernel of a candidate that hone wrote itself; empty for any other.
Result<std::string> own_kernel(const store::CandidateDetails& details) {
  if (details.candidate.provider != iree::kVectorProvider) return std::string();
  HONE_ASSIGN(const problem::Dispatch dispatch, trial::dispatch_from(details.dispatch));
  return iree::vector_executable(dispatch.statement,
                                 iree::vector_payload(parsed(details.candidate.configuration)), "");
}

// Returns a script that reproduces the candidate, of `file`. It holds texts of the store and a user
// will run it, so every word is quoted.
Result<std::string> reproduce_text(const store::CandidateDetails& details, std::string_view file,
                                   bool has_spec, bool has_code) {
  HONE_ASSIGN(const problem::Dispatch dispatch, trial::dispatch_from(details.dispatch));
  HONE_ASSIGN(const std::vector<std::string> flags, tune::flags_in(details.build));
  std::string quoted;
  for (const std::string& flag : flags) quoted += " " + shell_word(flag);
  HONE_ASSIGN(const auto provider, provider_of(details));
  const bool gpu = gpu_of(details).has_value();
  std::string text = fmt::format(
      "#!/bin/sh\n# {}, candidate {}: {}\n# {}\niree-compile {}{} "
      "--compile-from=executable-sources{} {}\n",
      one_line(details.dispatch.name), details.candidate.id,
      one_line(details.candidate.configuration),
      gpu ? "Compiles the dispatch with this configuration; its code lies in ./binaries then."
      : has_code ? "Compiles the dispatch with this configuration, then times the code that hone "
                   "measured."
                 : "Compiles the dispatch with this configuration. The code that was measured is "
                   "somebody else's: hone show --trust writes it too.",
      file, quoted, has_spec ? " " + provider->specs().flag_of("tuning_spec.mlir") : "",
      gpu ? "--compile-to=hal --iree-hal-dump-executable-binaries-to=binaries -o /dev/null"
          : "-o dispatch.vmfb");
  if (gpu || !has_code) return text;
  HONE_ASSIGN(const provider::Artifact artifact, trial::artifact_from(*details.artifact));
  const provider::Launch launch = problem::over_bindings(artifact.launch, dispatch);
  text += fmt::format(
      "iree-benchmark-executable --device=local-sync --executable_format={} "
      "--executable_file=code.so --entry_point={} --workgroup_count={}",
      shell_word(details.artifact->format), launch.ordinal, fmt::join(launch.grid, ","));
  for (const std::uint32_t constant : launch.constants)
    text += fmt::format(" --constant={}", constant);
  // Pass a binding that holds several views by its bytes.
  for (const problem::KernelBinding& binding : launch.bindings)
    text += fmt::format(" --binding={}xi8=1", binding.bytes);
  if (!launch.bindings.empty()) return text + "\n";
  for (const problem::Binding& binding : dispatch.bindings)
    text += fmt::format(" --binding={}{}", problem::to_string(binding.type),
                        binding.access == problem::Access::kWriteOnly ? "" : "=1");
  return text + "\n";
}

nlohmann::json json_of(const store::CandidateDetails& details) {
  nlohmann::json json{
      {"schema_version", output::kSchemaVersion},
      {"candidate", details.candidate.id},
      {"dispatch", details.dispatch.name},
      {"operation",
       details.operation ? nlohmann::json(details.operation->description) : nlohmann::json()},
      {"provider", details.candidate.provider},
      {"configuration", parsed(details.candidate.configuration)},
      {"compiler", details.build.compiler},
      {"flags", parsed(details.build.flags)},
      {"equal_code", details.equal_code},
      {"failures", nlohmann::json::array()},
      {"verifications", nlohmann::json::array()},
      {"measurements", nlohmann::json::array()}};
  if (details.artifact)
    json["artifact"] = {{"identity", details.artifact->identity},
                        {"format", details.artifact->format},
                        {"configured", details.artifact->configured},
                        {"compile_seconds", details.artifact->compile_seconds},
                        {"launch", parsed(details.artifact->launch)}};
  for (const store::FailureRow& failure : details.failures)
    json["failures"].push_back(
        {{"kind", failure.kind}, {"message", failure.message}, {"when", failure.when}});
  for (const store::VerificationRow& each : details.verifications)
    json["verifications"].push_back({{"right", each.right},
                                     {"basis", each.basis},
                                     {"tolerance", each.tolerance},
                                     {"rules", each.rules},
                                     {"reference", each.reference},
                                     {"share_bad", each.share_bad},
                                     {"when", each.when}});
  for (const store::Measurement& each : details.measurements)
    json["measurements"].push_back({{"phase", store::name_of(each.phase)},
                                    {"median_seconds", each.timing.median},
                                    {"min_seconds", each.timing.min},
                                    {"spread", each.timing.spread},
                                    {"samples", each.timing.samples},
                                    {"sentinel_ratio", each.sentinel_ratio.value_or(0)},
                                    {"machine", parsed(each.machine)},
                                    {"when", each.when}});
  return json;
}

// Returns the weaknesses of a verification: no independent reference, outdated rules.
std::string judged_by(const store::VerificationRow& verification) {
  std::string words;
  if (verification.reference == store::kOwnFlagsReference)
    words += "; against no independent reference";
  if (verification.rules != measure::kVerificationRules)
    words += fmt::format("; by rules {} of verification, now {}", verification.rules,
                         measure::kVerificationRules);
  return words;
}

void print(const store::CandidateDetails& details) {
  fmt::print("candidate {} of {} ({})\n", details.candidate.id, details.dispatch.name,
             details.operation ? details.operation->description : "no root operation");
  fmt::print("  provider       {}\n  configuration  {}\n  compiler       {}\n",
             details.candidate.provider, details.candidate.configuration, details.build.compiler);
  if (details.artifact)
    fmt::print("  configured     {}\n  compiled in    {}\n", details.artifact->configured,
               format_duration(details.artifact->compile_seconds));
  for (const store::FailureRow& failure : details.failures)
    fmt::print("  failed         {}: {}\n", failure.kind, failure.message);
  for (const store::VerificationRow& each : details.verifications)
    fmt::print("  verified       {} ({}{})\n", each.right ? "right" : each.basis, each.tolerance,
               judged_by(each));
  for (const store::Measurement& each : details.measurements)
    fmt::print("  {:14} {} median of {}, min {}, spread {:.1f} %{}\n", store::name_of(each.phase),
               format_duration(each.timing.median), each.timing.samples.size(),
               format_duration(each.timing.min), 100 * each.timing.spread,
               each.sentinel_ratio && *each.sentinel_ratio > 0
                   ? fmt::format(", {:.2f}x the default", 1 / *each.sentinel_ratio)
                   : "");
}

Status write_folder(const ShowOptions& options, store::Store& store,
                    const store::CandidateDetails& details) {
  HONE_TRY(write_file_atomically(options.out / "dispatch.mlir", details.dispatch.source));
  HONE_TRY(output::write_json(options.out / "candidate.json", json_of(details)));
  HONE_ASSIGN(const std::string kernel, own_kernel(details));
  if (!kernel.empty()) HONE_TRY(write_file_atomically(options.out / "kernel.mlir", kernel));
  bool has_code = false;
  if (details.artifact && (details.candidate.provider == "iree" || !kernel.empty())) {
    HONE_ASSIGN(has_code, store.is_own(options.candidate));
    has_code = has_code || options.trust;
  }
  if (has_code) {
    HONE_ASSIGN(const store::ArtifactRow artifact,
                store.load_artifact(options.candidate, store::Trust::kAnyone));
    HONE_TRY(write_file_atomically(
        options.out / (gpu_of(details) ? "code." + artifact.format : "code.so"), artifact.code));
  }
  HONE_ASSIGN(const std::string spec, spec_of(options, details));
  if (!spec.empty()) HONE_TRY(write_file_atomically(options.out / "tuning_spec.mlir", spec));
  if (options.configured) {
    HONE_ASSIGN(const std::string text, configured_text(options, details, !spec.empty()));
    HONE_TRY(write_file_atomically(options.out / "configured.mlir", text));
  }
  HONE_ASSIGN(const std::string reproduce,
              reproduce_text(details, kernel.empty() ? "dispatch.mlir" : "kernel.mlir",
                             !spec.empty(), has_code));
  return write_file_atomically(options.out / "reproduce.sh", reproduce);
}

CommandResult show(ShowOptions& options) {
  if (options.configured && options.out.empty())
    return input_error("--configured writes a file: give its folder with --out DIR");
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadOnly));
  HONE_ASSIGN(const store::CandidateDetails details, store.details(options.candidate));
  if (options.configured && details.candidate.provider != "iree")
    return input_error("candidate {} is a kernel of {}, which IREE does not configure",
                       options.candidate, details.candidate.provider);
  if (options.json)
    output::print_json(json_of(details));
  else
    print(details);
  if (options.out.empty()) return 0;
  HONE_TRY(write_folder(options, store, details));
  if (!options.json) fmt::print("written to {}\n", options.out.string());
  return 0;
}

}  // namespace

void add_show_command(CLI::App& app, Action& run) {
  const auto [command, options] =
      add_command<ShowOptions>(app, run, "show", "Show one candidate and reproduce it", show);
  command.add_option("ID", options.candidate, "candidate's ID in the tables")->required();
  add_default_option(command, "--store", options.store, "SQLite file");
  command.add_option("--iree", options.toolchain.iree,
                     "IREE for --configured and a GPU's spec [$HONE_IREE, hone's environment, "
                     ".venv, PATH]");
  command.add_option("--out", options.out, "folder for IR, spec, code, samples and commands");
  command.add_option("--flag", options.toolchain.flags,
                     "flag of the store that IREE may be given again; repeatable");
  command.add_flag("--configured", options.configured,
                   "write configured.mlir there, at executable-configurations, to be edited");
  command.add_flag("--trust", options.trust, "write and use stored code that others compiled");
  command.add_flag("--json", options.json, "print one JSON document");
}

}  // namespace hone::cli
