#include "tune/services/compile_service.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/stopwatch.h"
#include "tune/services/decode_json.h"

namespace hone::tune {
namespace {

worker::Message program_job(std::string_view kind, const std::string& path,
                            const std::string& bytes, const std::vector<std::string>& flags) {
  return {std::string(kind), {{"path", path}, {"flags", flags}}, {bytes}};
}

worker::Message compile_job(const ProgramToCompile& program) {
  return program_job(jobs::kCompileProgram, program.path, program.bytes, program.flags);
}

bool has_crashed(const worker::Outcome& outcome) {
  return !outcome && outcome.error().kind == provider::FailureKind::kCompileCrash;
}

// A compiler that crashes is given a second chance where nothing goes on without its answer: some
// crashes are of one moment. (One that was killed from outside is tried again where it runs,
// worker/job_process.h.)
template <class Call>
Result<worker::Outcome> twice(const Call& call) {
  Result<worker::Outcome> outcome = call();
  return outcome && has_crashed(*outcome) ? call() : std::move(outcome);
}

// The answer, or the compiler's words as an error about the user's program.
Result<worker::Message> accepted(Result<worker::Outcome> outcome) {
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  if (*outcome) return std::move(**outcome);
  const provider::Failure& failed = outcome->error();
  if (failed.kind == provider::FailureKind::kCompileError) return input_error("{}", failed.message);
  return failure("{}: {}", provider::name_of(failed.kind), failed.message);
}

// What is refused here is one dispatch of a program that the compiler has taken: no mistake of the
// user's, and no reason to leave the other dispatches.
Status prepared(const worker::Outcome& outcome) {
  if (outcome) return {};
  const provider::Failure& failed = outcome.error();
  if (failed.kind == provider::FailureKind::kCompileError) return failure("{}", failed.message);
  return failure("{}: {}", provider::name_of(failed.kind), failed.message);
}

Result<std::string> first_blob(worker::Message& message) {
  if (message.blobs.empty()) return failure("cannot be read: the code is missing");
  return std::move(message.blobs.front());
}

Result<provider::Artifact> artifact_from(worker::Message message) {
  provider::Artifact artifact;
  HONE_ASSIGN(artifact.format, decode_json<std::string>(message.body, "format"));
  HONE_ASSIGN(artifact.launch, decode_json<provider::Launch>(message.body, "launch"));
  HONE_ASSIGN(artifact.configured, decode_json<std::string>(message.body, "configured"));
  HONE_ASSIGN(artifact.code, first_blob(message));
  artifact.more.json = std::move(message.body);
  for (const char* ours : {"format", "launch", "configured", "stages"})
    artifact.more.json.erase(ours);
  return artifact;
}

// Nobody depends on them: what cannot be read counts as nothing.
CompileStages stages_from(const nlohmann::json& body) {
  const auto seconds = decode_json<std::map<std::string, double>>(body, "stages");
  if (!seconds) return {};
  const auto of = [&](const char* stage) {
    const auto found = seconds->find(stage);
    return found == seconds->end() ? 0.0 : found->second;
  };
  return {of("configure"), of("translate"), of("serialize"), of("assemble")};
}

// A compiler that has overwritten its own answer has crashed, though it does not know yet.
template <class T>
tl::expected<T, provider::Failure> or_crash(Result<T> answer) {
  if (answer) return std::move(*answer);
  return tl::unexpected(provider::Failure{provider::FailureKind::kCompileCrash,
                                          "the compile worker's answer " + answer.error().message});
}

template <class T>
Result<T> understood(Result<T> answer) {
  if (answer) return answer;
  return failure("the compile worker's answer {}", answer.error().message);
}

}  // namespace

Result<worker::Outcome> CompileService::once(const worker::Message& message) {
  return twice([&] { return pool_.once(message); });
}

Result<std::string> CompileService::revision() {
  HONE_ASSIGN(const worker::Message answer,
              accepted(once({std::string(jobs::kRevision), nlohmann::json::object(), {}})));
  return understood(decode_json<std::string>(answer.body, "revision"));
}

Result<problem::Program> CompileService::load_program(const std::string& path,
                                                      const std::string& bytes,
                                                      const std::vector<std::string>& flags) {
  HONE_ASSIGN(std::vector<Result<problem::Program>> loaded, load_programs({{path, bytes, flags}}));
  return std::move(loaded.front());
}

Result<std::vector<Result<problem::Program>>> CompileService::load_programs(
    const std::vector<ProgramToCompile>& programs) {
  std::vector<worker::Message> messages;
  for (const ProgramToCompile& each : programs) {
    worker::Message& job =
        messages.emplace_back(program_job(jobs::kLoadProgram, each.path, each.bytes, each.flags));
    job.body["sizes"] = sizes_;
  }
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, pool_.once_each(messages));
  std::vector<Result<problem::Program>> loaded;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (has_crashed(outcomes[i])) {
      HONE_ASSIGN(outcomes[i], pool_.once(messages[i]));
    }
    const Result<worker::Message> answer = accepted(std::move(outcomes[i]));
    loaded.push_back(answer ? understood(decode_json<problem::Program>(answer->body))
                            : tl::unexpected(answer.error()));
  }
  return loaded;
}

Result<CompiledModule> CompileService::compile_program(const std::string& path,
                                                       const std::string& bytes,
                                                       const std::vector<std::string>& flags) {
  HONE_ASSIGN(std::vector<CompiledModule> compiled, compile_programs(path, bytes, {flags}));
  return std::move(compiled.front());
}

Result<std::vector<CompiledModule>> CompileService::compile_programs(
    const std::string& path, const std::string& bytes,
    const std::vector<std::vector<std::string>>& flags) {
  std::vector<ProgramToCompile> programs;
  for (const std::vector<std::string>& each : flags) programs.push_back({path, bytes, each});
  return compile_each(programs);
}

void CompileService::compile_ahead(const ProgramToCompile& program) {
  worker::Message job = compile_job(program);
  const auto begun = pool_.begin_once(job);
  if (begun) ahead_.push_back({std::move(job), *begun});
}

Result<std::optional<worker::Outcome>> CompileService::taken_ahead(const worker::Message& message) {
  const auto found = std::ranges::find_if(ahead_, [&](const Ahead& each) {
    return each.message.body == message.body && each.message.blobs == message.blobs;
  });
  if (found == ahead_.end()) return std::optional<worker::Outcome>();
  const worker::WorkerPool::Begun begun = found->begun;
  ahead_.erase(found);
  HONE_ASSIGN(worker::Outcome outcome, pool_.end_once(begun));
  return std::optional(std::move(outcome));
}

Result<std::vector<CompiledModule>> CompileService::compile_each(
    const std::vector<ProgramToCompile>& programs) {
  std::vector<std::optional<worker::Outcome>> outcomes;
  std::vector<worker::Message> messages;
  for (const ProgramToCompile& each : programs) {
    worker::Message job = compile_job(each);
    HONE_ASSIGN(outcomes.emplace_back(), taken_ahead(job));
    if (!outcomes.back() || has_crashed(*outcomes.back())) {
      outcomes.back().reset();
      messages.push_back(std::move(job));
    }
  }
  HONE_ASSIGN(std::vector<worker::Outcome> rest, pool_.once_each(messages));
  std::vector<CompiledModule> compiled;
  std::size_t next = 0;
  for (std::optional<worker::Outcome>& outcome : outcomes) {
    if (!outcome) {
      outcome = std::move(rest[next]);
      if (has_crashed(*outcome)) {
        HONE_ASSIGN(outcome, pool_.once(messages[next]));
      }
      ++next;
    }
    compiled.push_back(*outcome ? or_crash(first_blob(**outcome))
                                : CompiledModule(tl::unexpected(std::move(*outcome).error())));
  }
  return compiled;
}

Result<CompiledModule> CompileService::compile_program_in_f32(
    const std::string& path, const std::string& bytes, const std::vector<std::string>& flags) {
  HONE_ASSIGN(worker::Outcome outcome,
              once(program_job(jobs::kCompileProgramInF32, path, bytes, flags)));
  if (!outcome) return CompiledModule(tl::unexpected(std::move(outcome).error()));
  return or_crash(first_blob(*outcome));
}

Result<std::vector<jobs::ConfiguredDispatch>> CompileService::configured(
    const std::string& path, const std::string& bytes, const std::vector<std::string>& flags) {
  HONE_ASSIGN(const worker::Message answer,
              accepted(once(program_job(jobs::kConfigured, path, bytes, flags))));
  return understood(decode_json<std::vector<jobs::ConfiguredDispatch>>(answer.body, "dispatches"));
}

Result<jobs::ConfiguredDispatch> CompileService::configured_dispatch(
    const std::string& name, const std::string& source, const std::vector<std::string>& flags) {
  HONE_ASSIGN(const worker::Message answer,
              accepted(once(program_job(jobs::kConfiguredDispatch, name, source, flags))));
  HONE_ASSIGN(auto dispatches, understood(decode_json<std::vector<jobs::ConfiguredDispatch>>(
                                   answer.body, "dispatches")));
  if (dispatches.size() != 1)
    return failure("'{}' holds {} dispatches, not one", name, dispatches.size());
  return std::move(dispatches.front());
}

Status CompileService::compile_dispatch(const std::string& name, const std::string& source,
                                        const std::vector<std::string>& flags) {
  HONE_TRY(accepted(once(program_job(jobs::kCompileDispatch, name, source, flags))));
  return {};
}

Result<SpecFile> CompileService::read_spec(const std::string& path, const std::string& bytes) {
  HONE_ASSIGN(worker::Message answer,
              accepted(once(program_job(jobs::kReadSpec, path, bytes, {}))));
  SpecFile spec;
  HONE_ASSIGN(spec.entries,
              understood(decode_json<std::vector<jobs::SpecFileEntry>>(answer.body, "entries")));
  HONE_ASSIGN(spec.marking, understood(first_blob(answer)));
  return spec;
}

Result<std::string> CompileService::link_specs(const std::string& path, const std::string& first,
                                               const std::string& second) {
  worker::Message job = program_job(jobs::kLinkSpecs, path, first, {});
  job.blobs.push_back(second);
  HONE_ASSIGN(worker::Message answer, accepted(once(job)));
  return understood(first_blob(answer));
}

Result<std::string> CompileService::extract_root(const std::string& name, const std::string& source,
                                                 const std::vector<std::string>& flags) {
  HONE_ASSIGN(worker::Message answer,
              accepted(pool_.once(program_job(jobs::kExtractRoot, name, source, flags))));
  return understood(first_blob(answer));
}

Result<std::vector<std::string>> CompileService::stated_constraints(
    const std::vector<const problem::Dispatch*>& dispatches,
    const std::vector<std::string>& flags) {
  std::vector<worker::Message> messages;
  for (const problem::Dispatch* const dispatch : dispatches)
    messages.push_back(program_job(jobs::kConstraints, dispatch->name, dispatch->source, flags));
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, pool_.once_each(messages));
  std::vector<std::string> stated;
  for (worker::Outcome& outcome : outcomes) {
    stated.emplace_back();
    if (!outcome && outcome.error().kind == provider::FailureKind::kCompileCrash) continue;
    HONE_ASSIGN(const worker::Message answer, accepted(std::move(outcome)));
    HONE_ASSIGN(const auto statements,
                understood(decode_json<nlohmann::json>(answer.body, "statements")));
    if (!statements.empty()) stated.back() = statements.dump();
  }
  return stated;
}

Result<std::vector<std::string>> CompileService::canonical(const std::vector<std::string>& texts) {
  HONE_ASSIGN(const worker::Message answer,
              accepted(once({std::string(jobs::kCanonical), {{"attributes", texts}}, {}})));
  return understood(decode_json<std::vector<std::string>>(answer.body, "attributes"));
}

Status CompileService::prepare(const DispatchToPrepare& dispatch) {
  HONE_ASSIGN(const std::vector<Status> each, prepare_each({dispatch}));
  return each.front();
}

Result<std::vector<Status>> CompileService::prepare_each(
    const std::vector<DispatchToPrepare>& dispatches) {
  std::vector<std::pair<std::string, worker::Message>> servers;
  for (const DispatchToPrepare& each : dispatches) {
    nlohmann::json body = {{"flags", each.flags}, {"assemble_for", each.assemble_for}};
    servers.emplace_back(
        each.key, worker::Message{std::string(jobs::kPrepare), std::move(body), {each.source}});
  }
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, pool_.prepare_each(servers));
  std::vector<Status> statuses;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (has_crashed(outcomes[i])) {
      HONE_ASSIGN(outcomes[i], pool_.prepare(servers[i].first, servers[i].second));
    }
    statuses.push_back(prepared(outcomes[i]));
    if (statuses.back())
      stated_[dispatches[i].key] = {dispatches[i].contraction, dispatches[i].assemble_for};
  }
  return statuses;
}

Status CompileService::release(const std::string& key) {
  stated_.erase(key);
  for (Replacing& each : replacing_)
    if (each.prepared.erase(key) > 0) HONE_TRY(each.pool->release(key));
  return pool_.release(key);
}

void CompileService::add_replacing(std::string provider, worker::WorkerPool& pool,
                                   std::vector<std::string> flags) {
  replacing_.push_back({std::move(provider), &pool, std::move(flags)});
}

Status CompileService::submit(const std::string& key, worker::JobId id,
                              const std::optional<provider::Payload>& payload) {
  if (payload && !payload->replacing.empty()) return submit_replacing(key, id, *payload);
  nlohmann::json body = nlohmann::json::object();
  if (payload) body = payload->json;
  return pool_.submit(key, id, {std::string(jobs::kCompile), std::move(body), {}});
}

Status CompileService::submit_replacing(const std::string& key, worker::JobId id,
                                        const provider::Payload& payload) {
  const auto maker = std::ranges::find(replacing_, payload.replacing, &Replacing::provider);
  const auto stated = stated_.find(key);
  if (maker == replacing_.end() || stated == stated_.end())
    return failure("nobody here compiles what {} made for '{}'", payload.replacing, key);
  if (!maker->prepared.contains(key)) {
    const worker::Message message{
        std::string(jobs::kPrepare),
        {{"flags", maker->flags}, {"assemble_for", stated->second.assemble_for}},
        {stated->second.contraction}};
    HONE_ASSIGN(const worker::Outcome outcome,
                twice([&] { return maker->pool->prepare(key, message); }));
    HONE_TRY(prepared(outcome));
    maker->prepared.insert(key);
  }
  return maker->pool->submit(key, id, {std::string(jobs::kCompile), payload.json, {}});
}

Status CompileService::cancel_all() {
  for (const Replacing& each : replacing_) HONE_TRY(each.pool->cancel_all());
  return pool_.cancel_all();
}

Result<std::optional<worker::Finished>> CompileService::next_of_any(double seconds) {
  std::vector<worker::WorkerPool*> busy;
  if (pool_.outstanding() > 0) busy.push_back(&pool_);
  for (const Replacing& each : replacing_)
    if (each.pool->outstanding() > 0) busy.push_back(each.pool);
  if (busy.empty()) return pool_.next_finished(seconds);
  if (busy.size() == 1) return busy.front()->next_finished(seconds);
  // Each pool waits for its own processes only, so they are asked in turn.
  constexpr double kTurn = 0.01;
  const Stopwatch watch;
  for (;;) {
    for (worker::WorkerPool* const pool : busy) {
      HONE_ASSIGN(std::optional<worker::Finished> finished, pool->next_finished(kTurn));
      if (finished) return finished;
    }
    if (seconds >= 0 && watch.seconds() >= seconds) return std::optional<worker::Finished>();
  }
}

Result<std::optional<CompiledCandidate>> CompileService::next_finished(double seconds) {
  HONE_ASSIGN(std::optional<worker::Finished> finished, next_of_any(seconds));
  if (!finished) return std::optional<CompiledCandidate>();
  CompiledCandidate candidate{finished->id, {}, finished->seconds, {}};
  if (finished->outcome) candidate.stages = stages_from(finished->outcome->body);
  if (finished->outcome)
    candidate.artifact = or_crash(artifact_from(std::move(*finished->outcome)));
  else
    candidate.artifact = tl::unexpected(std::move(finished->outcome).error());
  return std::optional<CompiledCandidate>(std::move(candidate));
}

Result<CompiledCandidate> CompileService::compile(const std::string& key,
                                                  const std::optional<provider::Payload>& payload) {
  HONE_TRY(submit(key, 0, payload));
  HONE_ASSIGN(std::optional<CompiledCandidate> finished, next_finished());
  if (!finished) return failure("the compile workers lost a job of '{}'", key);
  return std::move(*finished);
}

}  // namespace hone::tune
