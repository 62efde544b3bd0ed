#include "provider/iree/compile_worker.h"

#include <optional>
#include <utility>

#include "provider/iree/compiler/library.h"
#include "provider/iree/gpu/constraint_reader.h"
#include "provider/iree/program/derived_modules.h"
#include "provider/iree/program/prepared_dispatch.h"
#include "provider/iree/program/program.h"
#include "provider/iree/spec/reader.h"
#include "provider/iree/whole_program.h"

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

template <class Job, class Done>
Outcome answered(const Job& job, Done done) {
  Result<Message> answer = job.answer_with(std::move(done));
  return answer ? Outcome(*std::move(answer)) : refused(answer.error());
}

// Whether the front half goes into the answer: it exists and fits in a message (provider::Message).
bool is_handed_on(const std::string& half) {
  return !half.empty() && half.size() <= std::size_t{1} << 30;
}

class IreeWorker : public provider::CompileWorker {
 public:
  explicit IreeWorker(Library library) : library_(std::move(library)) {
    library_.allow_threads();  // a job that compiles a whole program has its own process
  }

  Outcome once(const Message& job) override {
    if (job.kind == jobs::kRevision) return jobs::kRevision.answer(library_.revision());
    if (job.kind == jobs::kCanonical) return answered(jobs::kCanonical, canonical(job));
    const auto request = job.body.get<jobs::ProgramRequest>();
    const std::string& bytes = job.blobs.at(0);
    const ModuleKind kind = request.front_half ? ModuleKind::kFrontHalf : ModuleKind::kProgram;
    if (job.kind == jobs::kLoadProgram) return load_program(request, job.blobs);
    if (job.kind == jobs::kReadSpec) return read_spec(request.path, bytes);
    Outcome outcome = refused({ErrorKind::kInput, "unknown job '" + job.kind + "'"});
    const auto serve = [&](const auto& served, const auto& does, const auto&... more) {
      if (job.kind == served)
        outcome = answered(served, does(library_, request.path, bytes, request.flags, more...));
    };
    serve(jobs::kFrontHalf, iree::front_half);
    if (job.kind == jobs::kFrontHalf && outcome && !is_handed_on(outcome->blobs[0]))
      outcome->blobs.clear();
    serve(jobs::kCompileProgram, iree::compile_program, kind);
    serve(jobs::kCompileProgramInF32, iree::compile_program_in_f32);
    serve(jobs::kCompileDispatch, iree::compile_dispatch);
    serve(jobs::kConfigured, iree::configured_dispatches, kind);
    serve(jobs::kConfiguredDispatch, iree::configured_dispatches, ModuleKind::kDispatch);
    serve(jobs::kExtractRoot, iree::extract_root);
    serve(jobs::kConstraints, iree::stated_constraints);
    serve(jobs::kLinkSpecs,
          [&](const Library& library, const auto& path, const auto& first, auto&) {
            return iree::link_specs(library, path, first, job.blobs.at(1));
          });
    serve(kReplaceableOperations, replaceable_operations);
    serve(kExternLaunches, extern_launches);
    serve(kProgramGraph, program_graph);
    return outcome;
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
    answer.update(nlohmann::json(*artifact));
    answer["stages"] = {{"configure", stages.configure},
                        {"translate", stages.translate},
                        {"serialize", stages.serialize}};
    return done(std::move(answer), {std::move(artifact->code)});
  }

 private:
  Outcome load_program(const jobs::ProgramRequest& request,
                       const std::vector<std::string>& blobs) const {
    const bool is_known = blobs.size() > 1;
    std::string half = is_known ? blobs[1] : std::string();
    const auto program =
        iree::load_program(library_, request.path, blobs[0], request.flags, request.given.value(),
                           request.front_half ? &half : nullptr);
    if (!program) return refused(program.error());
    Message answer = jobs::kLoadProgram.answer(*program);
    if (!is_known && is_handed_on(half)) answer.blobs.push_back(std::move(half));
    return answer;
  }

  Outcome read_spec(const std::string& path, const std::string& bytes) const {
    const auto spec = read_spec_file(library_, path, bytes);
    if (!spec) return refused(spec.error());
    std::vector<jobs::SpecFileEntry> entries;
    for (const ParsedSpecEntry& entry : spec->entries)
      entries.push_back(
          {entry.matcher, entry.line, payload_of({entry.lowering_config, entry.translation_info})});
    return done({{"entries", entries}}, {spec->marking});
  }

  Result<jobs::Texts> canonical(const Message& job) const {
    HONE_ASSIGN(jobs::Texts texts, jobs::kCanonical.asked_in(job));
    for (std::string& text : texts) {
      HONE_ASSIGN(text, canonical_attribute(library_, text));
    }
    return texts;
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
