#include "provider/iree/compile_worker.h"

#include <optional>
#include <utility>

#include "provider/iree/compiler/library.h"
#include "provider/iree/gpu/constraint_reader.h"
#include "provider/iree/program/extern_launches.h"
#include "provider/iree/program/extract_root.h"
#include "provider/iree/program/prepared_dispatch.h"
#include "provider/iree/program/program.h"
#include "provider/iree/program/program_in_f32.h"
#include "provider/iree/program/replaceable_operations.h"
#include "provider/iree/spec/linking.h"
#include "provider/iree/spec/reader.h"
#include "provider/iree/whole_program.h"
#include "provider/jobs.h"

namespace hone::iree {
namespace {

namespace jobs = provider::jobs;
using provider::Message;
using provider::Outcome;

Outcome refused(const Error& error) {
  return tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, error.message});
}

Outcome done(nlohmann::json body, std::vector<std::string> blobs = {}) {
  return Message{"done", std::move(body), std::move(blobs)};
}

// The answer to a job that gives one text and nothing else.
Outcome one_blob(Result<std::string> text) {
  if (!text) return refused(text.error());
  return done(nlohmann::json::object(), {std::move(*text)});
}

// None where it is too large for a message (provider::Message), or there is none.
std::vector<std::string> blobs_of_half(std::string half) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  if (half.empty() || half.size() > kMost) return {};
  std::vector<std::string> blobs;
  blobs.push_back(std::move(half));
  return blobs;
}

Outcome half_of(Result<std::string> half) {
  if (!half) return refused(half.error());
  return done(nlohmann::json::object(), blobs_of_half(std::move(*half)));
}

template <class T>
Outcome listed(const char* name, const Result<std::vector<T>>& list) {
  if (!list) return refused(list.error());
  return done({{name, *list}});
}

class IreeWorker : public provider::CompileWorker {
 public:
  explicit IreeWorker(Library library) : library_(std::move(library)) {
    library_.allow_threads();  // a job that compiles a whole program has its own process
  }

  Outcome once(const Message& job) override {
    if (job.kind == jobs::kRevision) return done({{"revision", library_.revision()}});
    if (job.kind == jobs::kCanonical) return canonical(job);
    const auto path = job.body.at("path").get<std::string>();
    const auto flags = job.body.at("flags").get<std::vector<std::string>>();
    const std::string& bytes = job.blobs.at(0);
    const bool front_half = job.body.value("front_half", false);
    const ModuleKind kind = front_half ? ModuleKind::kFrontHalf : ModuleKind::kProgram;
    if (job.kind == jobs::kLoadProgram) {
      const bool is_known = job.blobs.size() > 1;
      std::string half = is_known ? job.blobs[1] : std::string();
      const auto program = iree::load_program(library_, path, bytes, flags,
                                              job.body.at("given").get<problem::GivenSizes>(),
                                              front_half ? &half : nullptr);
      if (!program) return refused(program.error());
      return done(*program, is_known ? std::vector<std::string>() : blobs_of_half(std::move(half)));
    }
    if (job.kind == jobs::kFrontHalf)
      return half_of(iree::front_half(library_, path, bytes, flags));
    if (job.kind == jobs::kCompileProgram)
      return one_blob(iree::compile_program(library_, path, bytes, flags, kind));
    if (job.kind == jobs::kCompileProgramInF32)
      return one_blob(iree::compile_program_in_f32(library_, path, bytes, flags));
    if (job.kind == kReplaceableOperations)
      return listed("operations", replaceable_operations(library_, path, bytes, flags));
    if (job.kind == kExternLaunches)
      return listed("launches", extern_launches(library_, path, bytes, flags));
    if (job.kind == jobs::kExtractRoot)
      return one_blob(iree::extract_root(library_, path, bytes, flags));
    if (job.kind == jobs::kConstraints) {
      const auto stated = iree::stated_constraints(library_, path, bytes, flags);
      return stated ? done({{"statements", *stated}}) : refused(stated.error());
    }
    if (job.kind == jobs::kReadSpec) return read_spec(path, bytes);
    if (job.kind == jobs::kLinkSpecs)
      return one_blob(iree::link_specs(library_, path, bytes, job.blobs.at(1)));
    if (job.kind == jobs::kCompileDispatch) {
      const Status compiled = iree::compile_dispatch(library_, path, bytes, flags);
      return compiled ? done(nlohmann::json::object()) : refused(compiled.error());
    }
    if (job.kind == jobs::kConfigured) return configured(path, bytes, flags, kind);
    if (job.kind == jobs::kConfiguredDispatch)
      return configured(path, bytes, flags, ModuleKind::kDispatch);
    return refused({ErrorKind::kInput, "unknown job '" + job.kind + "'"});
  }

  Outcome prepare(const Message& job) override {
    auto prepared = PreparedDispatch::create(library_, job.blobs.at(0),
                                             job.body.at("flags").get<std::vector<std::string>>());
    if (!prepared) return refused(prepared.error());
    prepared_ = std::make_unique<PreparedDispatch>(std::move(*prepared));
    return done(nlohmann::json::object());
  }

  Outcome run(const Message& job) override {
    std::optional<Attributes> attributes;
    if (!job.body.empty()) attributes = job.body.get<Attributes>();
    StageTimes stages;
    auto artifact = prepared_->compile(attributes, &stages);
    if (!artifact) return tl::unexpected(std::move(artifact).error());
    nlohmann::json answer = std::move(artifact->more.json);
    answer["format"] = artifact->format;
    answer["launch"] = artifact->launch;
    answer["configured"] = artifact->configured;
    answer["stages"] = {{"configure", stages.configure},
                        {"translate", stages.translate},
                        {"serialize", stages.serialize}};
    return done(std::move(answer), {std::move(artifact->code)});
  }

 private:
  Outcome configured(const std::string& path, const std::string& bytes,
                     const std::vector<std::string>& flags, ModuleKind kind) const {
    const auto configured = configured_dispatches(library_, path, bytes, flags, kind);
    if (!configured) return refused(configured.error());
    std::vector<jobs::ConfiguredDispatch> dispatches;
    for (const ConfiguredDispatch& dispatch : *configured)
      dispatches.push_back({dispatch.name, payload_of(dispatch.attributes), dispatch.marks});
    return done({{"dispatches", dispatches}});
  }

  Outcome read_spec(const std::string& path, const std::string& bytes) const {
    const auto spec = read_spec_file(library_, path, bytes);
    if (!spec) return refused(spec.error());
    std::vector<jobs::SpecFileEntry> entries;
    for (const SpecFileEntry& entry : spec->entries)
      entries.push_back(
          {entry.matcher, entry.line, payload_of({entry.lowering_config, entry.translation_info})});
    return done({{"entries", entries}}, {spec->marking});
  }

  Outcome canonical(const Message& job) const {
    std::vector<std::string> attributes;
    for (const auto& text : job.body.at("attributes")) {
      auto canonical = canonical_attribute(library_, text.get<std::string>());
      if (!canonical) return refused(canonical.error());
      attributes.push_back(std::move(*canonical));
    }
    return done({{"attributes", attributes}});
  }

  Library library_;
  std::unique_ptr<PreparedDispatch> prepared_;
};

}  // namespace

Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    const std::string& installation) {
  HONE_ASSIGN(const Installation found, find_installation(installation));
  HONE_ASSIGN(Library library, Library::open(found));
  return std::make_unique<IreeWorker>(std::move(library));
}

}  // namespace hone::iree
