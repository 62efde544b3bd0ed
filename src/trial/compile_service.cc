#include "trial/compile_service.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/stopwatch.h"
#include "provider/retry.h"

namespace hone::trial {
namespace {

// `half`: of the program, null where it is not known.
worker::Message load_job(const ProgramToCompile& program, const problem::GivenSizes& sizes,
                         const std::shared_ptr<const std::string>& half) {
  return jobs::kLoadProgram.ask({.path = program.path,
                                 .bytes = program.bytes,
                                 .flags = program.flags,
                                 .second = half ? std::optional(*half) : std::nullopt,
                                 .given = program.given.value_or(sizes),
                                 .front_half = program.front_flags.has_value()});
}

worker::Message front_half_job(const ProgramToCompile& program) {
  return jobs::kFrontHalf.ask({program.path, program.bytes, *program.front_flags});
}

worker::Message prepare_job(const std::vector<std::string>& flags, const std::string& assemble_for,
                            const std::string& source) {
  return {
      std::string(jobs::kPrepare), {{"flags", flags}, {"assemble_for", assemble_for}}, {source}};
}

// Retries `call` as long as provider/retry.h allows, and returns its last outcome. `outcome` is
// that of the first call.
template <class Call>
Result<worker::Outcome> final_of(Result<worker::Outcome> outcome, const Call& call) {
  for (int tries = 1; outcome && !*outcome; ++tries) {
    if (!provider::is_tried_again(provider::Attempt::kProgram, outcome->error().kind, tries)) break;
    outcome = call();
  }
  return outcome;
}

Result<std::string> first_blob(worker::Message message) {
  return jobs::kCompileProgram.answered_in(std::move(message));
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

// Stage times are informative only: unreadable ones count as zero.
CompileStages stages_from(const nlohmann::json& body) {
  const auto seconds = decode_json<std::map<std::string, double>>(body, "stages");
  if (!seconds) return {};
  const auto of = [&](const char* stage) {
    const auto found = seconds->find(stage);
    return found == seconds->end() ? 0.0 : found->second;
  };
  return {of("configure"), of("translate"), of("serialize"), of("assemble")};
}

// An unreadable answer means that the compiler has overwritten it: it has crashed without noticing.
template <class T>
tl::expected<T, provider::Failure> or_crash(Result<T> answer) {
  if (answer) return std::move(*answer);
  return tl::unexpected(provider::Failure{provider::FailureKind::kCompileCrash,
                                          "the compile worker's answer " + answer.error().message});
}

CompiledModule module_of(worker::Outcome outcome) {
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  return or_crash(first_blob(*std::move(outcome)));
}

}  // namespace

Result<worker::Message> CompileService::accepted(Result<worker::Outcome> outcome) {
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  if (*outcome) return std::move(**outcome);
  const provider::Failure& failed = outcome->error();
  if (failed.kind == provider::FailureKind::kCompileError) return input_error("{}", failed.message);
  return failure("{}: {}", provider::name_of(failed.kind), failed.message);
}

// A refusal concerns one dispatch of a program that the compiler has accepted. The user made no
// mistake, and the other dispatches go on.
Status CompileService::prepared(const worker::Outcome& outcome) {
  const auto answer = accepted(outcome);
  return answer ? Status() : failure("{}", answer.error().message);
}

worker::WorkerPool& CompileService::limited_pool() {
  pool_.limit_once(most_seconds_ ? most_seconds_() : std::nullopt);
  return pool_;
}

Result<worker::Outcome> CompileService::once(const worker::Message& message) {
  const auto call = [&] { return limited_pool().once(message); };
  return final_of(call(), call);
}

Result<problem::Program> CompileService::load_program(const std::string& path,
                                                      const std::string& bytes,
                                                      const std::vector<std::string>& flags,
                                                      std::optional<problem::GivenSizes> given) {
  HONE_ASSIGN(std::vector<Result<problem::Program>> loaded,
              load_programs({{path, bytes, flags, std::nullopt, std::move(given)}}));
  return std::move(loaded.front());
}

Result<problem::Program> CompileService::load_program_to_compile(
    const std::string& path, const std::string& bytes, const std::vector<std::string>& flags,
    std::optional<problem::GivenSizes> given) {
  HONE_ASSIGN(std::vector<Result<problem::Program>> loaded,
              load_programs({{path, bytes, flags, flags, std::move(given)}}));
  return std::move(loaded.front());
}

Result<std::vector<Result<problem::Program>>> CompileService::load_programs(
    const std::vector<ProgramToCompile>& programs) {
  std::vector<worker::Message> messages;
  for (const ProgramToCompile& each : programs)
    messages.push_back(load_job(each, sizes_, known_half(each)));
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once(messages));
  std::vector<Result<problem::Program>> loaded;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (outcomes[i] && programs[i].front_flags && !outcomes[i]->blobs.empty())
      compiled_.keep(key_of(front_half_job(programs[i])), std::move(outcomes[i]->blobs.front()));
    loaded.push_back(answer_of(jobs::kLoadProgram, std::move(outcomes[i])));
  }
  return loaded;
}

Result<std::vector<worker::Outcome>> CompileService::each_once(
    const std::vector<worker::Message>& messages) {
  std::vector<std::optional<worker::Outcome>> known;
  std::vector<worker::Message> unknown;
  for (const worker::Message& message : messages) {
    HONE_ASSIGN(known.emplace_back(), taken_ahead(message));
    if (!known.back()) unknown.push_back(message);
  }
  HONE_ASSIGN(std::vector<worker::Outcome> rest, limited_pool().once_each(unknown));
  std::vector<worker::Outcome> outcomes;
  for (std::size_t i = 0, next = 0; i < messages.size(); ++i) {
    outcomes.push_back(std::move(known[i] ? *known[i] : rest[next]));
    if (!known[i]) ++next;
    HONE_ASSIGN(outcomes.back(), final_of(std::move(outcomes.back()),
                                          [&] { return limited_pool().once(messages[i]); }));
  }
  return outcomes;
}

Result<CompiledModule> CompileService::compile_program(const std::string& path,
                                                       const std::string& bytes,
                                                       const std::vector<std::string>& flags) {
  HONE_ASSIGN(std::vector<CompiledModule> compiled, compile_each({{path, bytes, flags}}));
  return std::move(compiled.front());
}

void CompileService::compile_ahead(const ProgramToCompile& program) {
  Result<std::vector<Job>> job = jobs_of(jobs::kCompileProgram.kind, {program});
  if (job && job->front()) begin_ahead(std::move(*job->front()));
}

void CompileService::load_ahead(const ProgramToCompile& program) {
  begin_ahead(load_job(program, sizes_, known_half(program)));
}

std::shared_ptr<const std::string> CompileService::known_half(
    const ProgramToCompile& program) const {
  return program.front_flags ? compiled_.find(key_of(front_half_job(program))) : nullptr;
}

void CompileService::compile_in_f32_ahead(const ProgramToCompile& program) {
  begin_ahead(jobs::kCompileProgramInF32.ask({program.path, program.bytes, program.flags}));
}

void CompileService::begin_ahead(worker::Message job) {
  const auto begun = limited_pool().begin_once(job);
  if (begun) ahead_.push_back({std::move(job), *begun});
}

Result<std::vector<CompileService::Job>> CompileService::jobs_of(
    std::string_view kind, const std::vector<ProgramToCompile>& programs) {
  using Half = tl::expected<std::shared_ptr<const std::string>, provider::Failure>;
  std::map<std::string, Half> halves;
  std::vector<worker::Message> unknown;
  for (const ProgramToCompile& each : programs) {
    if (!each.front_flags) continue;
    worker::Message job = front_half_job(each);
    const auto [half, is_new] = halves.try_emplace(key_of(job));
    if (is_new) half->second = compiled_.find(half->first);
    if (is_new && *half->second == nullptr) unknown.push_back(std::move(job));
  }
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once(unknown));
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    Half& half = halves.at(key_of(unknown[i]));
    if (!outcomes[i])
      half = tl::unexpected(std::move(outcomes[i]).error());
    else if (!outcomes[i]->blobs.empty())
      half = compiled_.keep(key_of(unknown[i]), std::move(outcomes[i]->blobs.front()));
  }
  std::vector<Job> made;
  for (const ProgramToCompile& each : programs) {
    const Half half = each.front_flags ? halves.at(key_of(front_half_job(each))) : Half();
    if (!half) {
      made.push_back(tl::unexpected(half.error()));
      continue;
    }
    // A front half that is too large to be handed on is compiled again for each program.
    const bool from_half = *half != nullptr;
    made.push_back(
        provider::message_of(kind, provider::kBody,
                             jobs::ProgramRequest{.path = each.path,
                                                  .bytes = from_half ? **half : each.bytes,
                                                  .flags = each.flags,
                                                  .front_half = from_half}));
  }
  return made;
}

Result<std::optional<worker::Outcome>> CompileService::taken_ahead(const worker::Message& message) {
  const auto found = std::ranges::find_if(ahead_, [&](const Ahead& each) {
    return each.message.kind == message.kind && each.message.body == message.body &&
           each.message.blobs == message.blobs;
  });
  if (found == ahead_.end()) return std::optional<worker::Outcome>();
  const worker::WorkerPool::Begun begun = found->begun;
  ahead_.erase(found);
  HONE_ASSIGN(worker::Outcome outcome, pool_.end_once(begun));
  return std::optional(std::move(outcome));
}

Result<std::vector<CompiledModule>> CompileService::compile_each(
    const std::vector<ProgramToCompile>& programs) {
  HONE_ASSIGN(std::vector<Job> jobs, jobs_of(jobs::kCompileProgram.kind, programs));
  std::vector<CompiledModule> compiled(programs.size());
  std::vector<worker::Message> messages;
  std::vector<std::size_t> places;  // of `messages`
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (!jobs[i]) {
      compiled[i] = tl::unexpected(std::move(jobs[i]).error());
      continue;
    }
    if (const auto known = compiled_.find(key_of(*jobs[i]))) {
      compiled[i] = *known;
      continue;
    }
    messages.push_back(std::move(*jobs[i]));
    places.push_back(i);
  }
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once(messages));
  for (std::size_t m = 0; m < messages.size(); ++m) {
    compiled[places[m]] = module_of(std::move(outcomes[m]));
    remember(programs[places[m]], messages[m], compiled[places[m]]);
  }
  return compiled;
}

// Keeps no program with front flags: the files of its specs may change between calls.
void CompileService::remember(const ProgramToCompile& program, const worker::Message& job,
                              const CompiledModule& module) {
  if (module && !program.front_flags) compiled_.keep(key_of(job), *module);
}

Result<CompiledModule> CompileService::compile_program_in_f32(
    const std::string& path, const std::string& bytes, const std::vector<std::string>& flags) {
  const worker::Message job = jobs::kCompileProgramInF32.ask({path, bytes, flags});
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once({job}));
  return module_of(std::move(outcomes.front()));
}

Result<std::vector<jobs::ConfiguredDispatch>> CompileService::configured(
    const ProgramToCompile& program) {
  HONE_ASSIGN(const std::vector<Job> made, jobs_of(jobs::kConfigured.kind, {program}));
  const Job& job = made.front();
  return answer_of(jobs::kConfigured,
                   job ? once(*job) : worker::Outcome(tl::unexpected(job.error())));
}

Result<jobs::ConfiguredDispatch> CompileService::configured_dispatch(
    const std::string& name, const std::string& source, const std::vector<std::string>& flags) {
  HONE_ASSIGN(auto dispatches, ask(jobs::kConfiguredDispatch, {name, source, flags}));
  if (dispatches.size() != 1)
    return failure("'{}' holds {} dispatches, not one", name, dispatches.size());
  return std::move(dispatches.front());
}

Result<SpecFile> CompileService::read_spec(const std::string& path, const std::string& bytes) {
  HONE_ASSIGN(const worker::Message answer,
              accepted(once(jobs::kReadSpec.ask({.path = path, .bytes = bytes}))));
  SpecFile spec;
  HONE_ASSIGN(spec.entries, understood(jobs::kReadSpec.answered_in(answer)));
  HONE_ASSIGN(spec.marking, understood(first_blob(answer)));
  return spec;
}

Result<std::string> CompileService::extract_root(const std::string& name, const std::string& source,
                                                 const std::vector<std::string>& flags) {
  return answer_of(jobs::kExtractRoot,
                   limited_pool().once(jobs::kExtractRoot.ask({name, source, flags})));
}

Result<nlohmann::json> CompileService::ask(std::string_view job, const std::string& path,
                                           const std::string& bytes,
                                           const std::vector<std::string>& flags) {
  HONE_ASSIGN(worker::Message answer,
              accepted(once(provider::message_of(job, provider::kBody,
                                                 jobs::ProgramRequest{path, bytes, flags}))));
  return std::move(answer.body);
}

Result<std::vector<std::string>> CompileService::stated_constraints(
    const std::vector<const problem::Dispatch*>& dispatches,
    const std::vector<std::string>& flags) {
  std::vector<worker::Message> messages;
  for (const problem::Dispatch* const dispatch : dispatches)
    messages.push_back(jobs::kConstraints.ask({dispatch->name, dispatch->source, flags}));
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, limited_pool().once_each(messages));
  std::vector<std::string> stated;
  for (worker::Outcome& outcome : outcomes) {
    stated.emplace_back();
    if (!outcome && outcome.error().kind == provider::FailureKind::kCompileCrash) continue;
    HONE_ASSIGN(const auto statements, answer_of(jobs::kConstraints, std::move(outcome)));
    if (!statements.empty()) stated.back() = statements.dump();
  }
  return stated;
}

Status CompileService::prepare(const DispatchToPrepare& dispatch) {
  HONE_ASSIGN(const std::vector<Status> each, prepare_each({dispatch}));
  return each.front();
}

Result<std::vector<Status>> CompileService::prepare_each(
    const std::vector<DispatchToPrepare>& dispatches) {
  std::vector<std::pair<std::string, worker::Message>> servers;
  for (const DispatchToPrepare& each : dispatches)
    servers.emplace_back(each.key, prepare_job(each.flags, each.assemble_for, each.source));
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, pool_.prepare_each(servers));
  std::vector<Status> statuses;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    HONE_ASSIGN(outcomes[i], final_of(std::move(outcomes[i]), [&] {
                  return pool_.prepare(servers[i].first, servers[i].second);
                }));
    statuses.push_back(prepared(outcomes[i]));
    if (statuses.back())
      stated_[dispatches[i].key] = {dispatches[i].statement, dispatches[i].assemble_for};
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

Result<worker::JobId> CompileService::submit(const std::string& key,
                                             const std::optional<provider::Payload>& payload) {
  HONE_TRY(submit_as(++last_job_, key, payload));
  return last_job_;
}

Status CompileService::submit_as(worker::JobId id, const std::string& key,
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
    const worker::Message message = prepare_job(maker->flags, stated->second.assemble_for,
                                                problem::statement_text(stated->second.statement));
    const auto call = [&] { return maker->pool->prepare(key, message); };
    HONE_ASSIGN(const worker::Outcome outcome, final_of(call(), call));
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
  // Polls the pools in turn, since each waits for its own processes only.
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

std::vector<worker::JobTime> CompileService::take_job_times() {
  std::vector<worker::JobTime> times = pool_.take_job_times();
  for (const Replacing& each : replacing_)
    for (worker::JobTime& time : each.pool->take_job_times()) times.push_back(std::move(time));
  return times;
}

Result<std::optional<CompiledCandidate>> CompileService::next_finished(double seconds) {
  HONE_ASSIGN(std::optional<worker::Finished> finished, next_of_any(seconds));
  if (!finished) return std::optional<CompiledCandidate>();
  CompiledCandidate candidate{finished->id, {}, finished->seconds, {}, finished->ended};
  if (finished->outcome) candidate.stages = stages_from(finished->outcome->body);
  if (finished->outcome)
    candidate.artifact = or_crash(artifact_from(std::move(*finished->outcome)));
  else
    candidate.artifact = tl::unexpected(std::move(finished->outcome).error());
  return std::optional<CompiledCandidate>(std::move(candidate));
}

Result<CompiledCandidate> CompileService::compile(const std::string& key,
                                                  const std::optional<provider::Payload>& payload) {
  HONE_TRY(submit(key, payload));
  HONE_ASSIGN(std::optional<CompiledCandidate> finished, next_finished());
  if (!finished) return failure("the compile workers lost a job of '{}'", key);
  return std::move(*finished);
}

Result<std::vector<CompiledCandidate>> CompileService::compile_alone(
    const DispatchToPrepare& dispatch,
    const std::vector<std::optional<provider::Payload>>& payloads) {
  HONE_TRY(prepare(dispatch));
  std::vector<CompiledCandidate> compiled;
  for (const std::optional<provider::Payload>& payload : payloads) {
    HONE_ASSIGN(compiled.emplace_back(), compile(dispatch.key, payload));
  }
  HONE_TRY(release(dispatch.key));
  return compiled;
}

}  // namespace hone::trial
