#include "provider/iree/compile_worker.h"

#include <optional>
#include <utility>

#include "provider/iree/compiler/library.h"
#include "provider/iree/gpu/constraint_reader.h"
#include "provider/iree/program/derived_modules.h"
#include "provider/iree/program/prepared_dispatch.h"
#include "provider/iree/program/program.h"
#include "provider/iree/spec/tuning_spec.h"
#include "provider/iree/vector/vector_provider.h"
#include "provider/iree/whole_program.h"

namespace hone::iree {
namespace {

namespace jobs = provider::jobs;

class IreeWorker : public provider::CompileWorker {
 public:
  explicit IreeWorker(CompilerLibrary library) : library_(std::move(library)) {
    library_.allow_threads();  // a job that compiles a whole program has its own process
  }

  Status prepare(jobs::PrepareRequest dispatch) override {
    HONE_ASSIGN(PreparedDispatch prepared,
                PreparedDispatch::create(library_, dispatch.source, dispatch.flags));
    prepared_ = std::make_unique<PreparedDispatch>(std::move(prepared));
    statement_ = problem::statement_from(dispatch.statement);
    return {};
  }

  tl::expected<jobs::Compiled, provider::Failure> compile(
      const std::optional<provider::Payload>& payload) override {
    if (payload && is_vector_payload(*payload)) return compile_vectors(*payload);
    std::optional<Attributes> attributes;
    if (payload) attributes = payload->json.get<Attributes>();
    jobs::Compiled compiled;
    HONE_ASSIGN(compiled.artifact, prepared_->compile(attributes, &compiled.stages));
    return compiled;
  }

  provider::Outcome once(provider::Message job) override;

 private:
  using Request = jobs::ProgramRequest;

  // Serves a job by a function of the compiler's library that takes a request's parts, and `more`.
  static auto by(auto does, auto... more) {
    return [=](IreeWorker& worker, const Request& request) {
      return does(worker.library_, request.path, request.bytes, request.flags, more...);
    };
  }
  // Likewise, for what may be a program or its frontend IR.
  static auto by_kind(auto does) {
    return [=](IreeWorker& worker, const Request& request) {
      const ModuleKind kind = request.frontend_ir ? ModuleKind::kFrontendIr : ModuleKind::kProgram;
      return by(does, kind)(worker, request);
    };
  }

  tl::expected<jobs::Compiled, provider::Failure> compile_vectors(
      const provider::Payload& payload) {
    const auto text = vector_executable(statement_, payload, {});
    if (!text)
      return tl::unexpected(
          provider::Failure{provider::FailureKind::kCompileError, text.error().message});
    jobs::Compiled compiled;
    HONE_ASSIGN(compiled.artifact, prepared_->compile_in_its_place(*text, &compiled.stages));
    compiled.artifact.configured = payload.json.dump();
    return compiled;
  }

  Result<std::string> revision() { return library_.revision(); }

  Result<jobs::LoadedProgram> load_program(Request request) {
    const bool is_known = request.second.has_value();
    std::string ir, converted;
    if (is_known) (request.converted ? converted : ir) = std::move(*request.second);
    HONE_ASSIGN(problem::Program program,
                iree::load_program(library_, request.path, request.bytes, request.flags,
                                   request.given.value(),
                                   {.frontend = request.frontend_ir ? &ir : nullptr,
                                    .converted = request.converted ? &converted : nullptr}));
    jobs::LoadedProgram loaded{std::move(program)};
    if (!is_known || request.converted) loaded.frontend_ir.bytes = std::move(ir);
    if (!is_known) loaded.converted.bytes = std::move(converted);
    return loaded;
  }

  Result<jobs::LoadedProgram> load_unfused(const Request& request) {
    jobs::LoadedProgram loaded;
    std::string* const converted = request.converted ? &loaded.converted.bytes : nullptr;
    HONE_ASSIGN(loaded.program, iree::load_unfused(library_, request.path, request.bytes,
                                                   request.flags, converted));
    return loaded;
  }

  Result<jobs::FrontendIr> frontend_ir(const Request& request) {
    HONE_ASSIGN(std::string ir, by(iree::frontend_ir)(*this, request));
    return jobs::FrontendIr{std::move(ir)};
  }

  Result<jobs::SpecFile> read_spec(const Request& request) {
    HONE_ASSIGN(ParsedSpec spec, read_spec_file(library_, request.path, request.bytes));
    jobs::SpecFile file{{}, std::move(spec.marking)};
    for (const ParsedSpecEntry& entry : spec.entries)
      file.entries.push_back(
          {entry.matcher, entry.line, payload_of({entry.lowering_config, entry.translation_info})});
    return file;
  }

  Result<std::string> link_specs(const Request& request) {
    return iree::link_specs(library_, request.path, request.bytes, request.second.value());
  }

  Result<MergedSpec> merge(const SpecSources& sources) { return merge_specs(library_, sources); }

  Result<UpgradedSpec> upgrade(const SpecSources& sources) {
    return upgrade_spec(library_, sources);
  }

  Result<jobs::Texts> canonical(jobs::Texts texts) {
    for (std::string& text : texts) {
      HONE_ASSIGN(text, canonical_attribute(library_, text));
    }
    return texts;
  }

  CompilerLibrary library_;
  std::unique_ptr<PreparedDispatch> prepared_;
  std::optional<problem::Statement> statement_;  // of the prepared dispatch
};

provider::Outcome IreeWorker::once(provider::Message job) {
  static const provider::ServedJob<IreeWorker> kServed[] = {
      {jobs::kRevision, &IreeWorker::revision},
      {jobs::kLoadProgram, &IreeWorker::load_program},
      {jobs::kLoadUnfused, &IreeWorker::load_unfused},
      {jobs::kFrontendIr, &IreeWorker::frontend_ir},
      {jobs::kCompileProgram, by_kind(iree::compile_program)},
      {jobs::kCompileProgramInF32, by(compile_program_in_f32)},
      {jobs::kConfigured, by_kind(configured_dispatches)},
      {jobs::kConfiguredDispatch, by(configured_dispatches, ModuleKind::kDispatch)},
      {jobs::kConfiguredText, by(configured_text)},
      {jobs::kCompileDispatch, by(compile_dispatch)},
      {jobs::kExtractRoot, by(extract_root)},
      {jobs::kConstraints, by(stated_constraints)},
      {jobs::kReadSpec, &IreeWorker::read_spec},
      {jobs::kLinkSpecs, &IreeWorker::link_specs},
      {jobs::kCanonical, &IreeWorker::canonical},
      {kMergeSpecs, &IreeWorker::merge},
      {kUpgradeSpec, &IreeWorker::upgrade},
      {kReplaceableOperations, by(replaceable_operations)},
      {kExternLaunches, by(extern_launches)},
      {kProgramGraph, by(program_graph)},
  };
  return provider::answer_by<IreeWorker>(kServed, *this, std::move(job),
                                         provider::FailureKind::kCompileError);
}

}  // namespace

Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    const std::string& installation) {
  HONE_ASSIGN(const Installation found, find_installation(installation));
  HONE_ASSIGN(CompilerLibrary library, CompilerLibrary::open(found));
  return std::make_unique<IreeWorker>(std::move(library));
}

}  // namespace hone::iree
