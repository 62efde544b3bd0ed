#include "trial/compile_service.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/stopwatch.h"
#include "provider/retry.h"

namespace hone::trial {
namespace {

using provider::Attempt;
using provider::retried;

// Larger programs are mostly constants, which the first phase leaves as they are.
constexpr std::size_t kMostBytesConverted = std::size_t{1} << 26;

bool shares_converted(const ProgramToCompile& program) {
  return program.shares_converted && program.bytes.size() <= kMostBytesConverted;
}

// Frontend IR or converted IR of a program; null where it is not known.
using KnownIr = std::shared_ptr<const std::string>;
worker::Message load_job(const ProgramToCompile& program, const problem::GivenSizes& sizes,
                         const KnownIr& frontend, const KnownIr& converted) {
  const KnownIr& known = frontend ? frontend : converted;
  return jobs::kLoadProgram.ask({.path = program.path,
                                 .bytes = program.bytes,
                                 .flags = program.flags,
                                 .second = known ? std::optional(*known) : std::nullopt,
                                 .given = program.given.value_or(sizes),
                                 .frontend_ir = program.frontend_flags.has_value(),
                                 .converted = !frontend && shares_converted(program)});
}

std::string key_of_load(const ProgramToCompile& program, const problem::GivenSizes& sizes) {
  return key_of(load_job(program, sizes, nullptr, nullptr));
}

std::string key_of_converted(const ProgramToCompile& program) {
  return key_of(
      jobs::kLoadProgram.ask({.path = program.path, .bytes = program.bytes, .converted = true}));
}

worker::Message frontend_ir_job(const ProgramToCompile& program) {
  return jobs::kFrontendIr.ask({program.path, program.bytes, *program.frontend_flags});
}

worker::Message in_f32_job(const ProgramToCompile& program) {
  return jobs::kCompileProgramInF32.ask({program.path, program.bytes, program.flags});
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
  return or_crash(jobs::kCompileProgram.answered_in(*std::move(outcome)));
}

// Loads of one program are the same, whatever is known of it: that only makes them shorter.
bool is_same_job(const worker::Message& a, const worker::Message& b) {
  if (a.kind != jobs::kLoadProgram)
    return a.kind == b.kind && a.body == b.body && a.blobs == b.blobs;
  const auto asked = [](nlohmann::json body) {
    body.erase("converted");
    return body;
  };
  return a.kind == b.kind && asked(a.body) == asked(b.body) && a.blobs.front() == b.blobs.front();
}

CompiledCandidate compiled(worker::Finished finished) {
  CompiledCandidate candidate{finished.id, {}, finished.seconds, {}, finished.ended};
  auto answer = finished.outcome
                    ? or_crash(jobs::kCompile.answered_in(*std::move(finished.outcome)))
                    : tl::unexpected(std::move(finished.outcome).error());
  if (answer) candidate.stages = answer->stages;
  candidate.artifact = std::move(answer).map(&jobs::Compiled::artifact);
  return candidate;
}

}  // namespace

std::shared_ptr<const std::string> CompiledPrograms::find(const std::string& key) const {
  const auto found = std::ranges::find(kept_, key, &Kept::key);
  return found == kept_.end() ? nullptr : found->bytes;
}

std::shared_ptr<const std::string> CompiledPrograms::keep(const std::string& key,
                                                          std::string bytes) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));
  std::erase_if(kept_, [&](const Kept& each) { return each.key == key; });
  if (shared->size() > most_bytes_) return shared;
  kept_.push_back({key, shared});
  std::size_t total = 0;
  for (const Kept& each : kept_) total += each.bytes->size();
  for (; total > most_bytes_; kept_.pop_front()) total -= kept_.front().bytes->size();
  return shared;
}

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
  return retried(Attempt::kProgram, call(), call);
}

Result<problem::Program> CompileService::load_program(const ProgramToCompile& program) {
  if (const auto kept = loaded_.extract(key_of_load(program, sizes_)))
    return std::move(kept.mapped());
  HONE_ASSIGN(std::vector<Result<problem::Program>> loaded, load_programs({program}));
  return std::move(loaded.front());
}

Result<problem::Program> CompileService::load_unfused(const ProgramToCompile& program) {
  HONE_ASSIGN(jobs::LoadedProgram loaded,
              ask(jobs::kLoadUnfused, {.path = program.path,
                                       .bytes = program.bytes,
                                       .flags = program.flags,
                                       .converted = shares_converted(program)}));
  keep_converted(program, loaded);
  return std::move(loaded.program);
}

void CompileService::keep_converted(const ProgramToCompile& program, jobs::LoadedProgram& loaded) {
  if (!loaded.converted.bytes.empty())
    compiled_.keep(key_of_converted(program), std::move(loaded.converted.bytes));
}

void CompileService::keep_loaded(const ProgramToCompile& program, problem::Program loaded) {
  loaded_.insert_or_assign(key_of_load(program, sizes_), std::move(loaded));
}

Result<std::vector<Result<problem::Program>>> CompileService::load_programs(
    const std::vector<ProgramToCompile>& programs) {
  std::vector<worker::Message> messages;
  for (const ProgramToCompile& each : programs)
    messages.push_back(load_job(each, sizes_, known_frontend_ir(each), known_converted(each)));
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once(messages));
  std::vector<Result<problem::Program>> loaded;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Result<jobs::LoadedProgram> answer = answer_of(jobs::kLoadProgram, std::move(outcomes[i]));
    if (answer && !answer->frontend_ir.bytes.empty())
      compiled_.keep(key_of(frontend_ir_job(programs[i])), std::move(answer->frontend_ir.bytes));
    if (answer) keep_converted(programs[i], *answer);
    loaded.push_back(std::move(answer).map(&jobs::LoadedProgram::program));
  }
  return loaded;
}

Result<std::vector<worker::Outcome>> CompileService::each_once(
    const std::vector<worker::Message>& messages) {
  std::vector<std::optional<worker::Outcome>> known;
  std::vector<worker::Message> unknown;
  for (const worker::Message& message : messages) {
    HONE_ASSIGN(known.emplace_back(), take_prefetched(message));
    if (!known.back()) unknown.push_back(message);
  }
  HONE_ASSIGN(std::vector<worker::Outcome> rest, limited_pool().once_each(unknown));
  std::vector<worker::Outcome> outcomes;
  for (std::size_t i = 0, next = 0; i < messages.size(); ++i) {
    outcomes.push_back(std::move(known[i] ? *known[i] : rest[next]));
    if (!known[i]) ++next;
    HONE_ASSIGN(outcomes.back(),
                retried(Attempt::kProgram, Result<worker::Outcome>(std::move(outcomes.back())),
                        [&] { return limited_pool().once(messages[i]); }));
  }
  return outcomes;
}

Result<CompiledModule> CompileService::compile_program(const ProgramToCompile& program) {
  HONE_ASSIGN(std::vector<CompiledModule> compiled, compile_each({program}));
  return std::move(compiled.front());
}

bool CompileService::prefetch_compile(const ProgramToCompile& program) {
  Result<std::vector<ProgramRequest>> requests = requests_of({program});
  if (!requests || !requests->front()) return false;
  worker::Message job = jobs::kCompileProgram.ask(*std::move(requests->front()));
  return compiled_.find(key_of(job)) != nullptr || prefetch(std::move(job));
}

void CompileService::prefetch_load(const ProgramToCompile& program) {
  prefetch(load_job(program, sizes_, known_frontend_ir(program), known_converted(program)));
}

std::shared_ptr<const std::string> CompileService::known_frontend_ir(
    const ProgramToCompile& program) const {
  return program.frontend_flags ? compiled_.find(key_of(frontend_ir_job(program))) : nullptr;
}

std::shared_ptr<const std::string> CompileService::known_converted(
    const ProgramToCompile& program) const {
  return shares_converted(program) ? compiled_.find(key_of_converted(program)) : nullptr;
}

void CompileService::prefetch_compile_in_f32(const ProgramToCompile& program) {
  prefetch(in_f32_job(program));
}

bool CompileService::prefetch(worker::Message job) {
  // The flag search has begun to load the programs that are split next.
  const auto is_same = [&](const Prefetched& each) { return is_same_job(each.message, job); };
  if (std::ranges::any_of(prefetched_, is_same)) return true;
  const auto pending = limited_pool().begin_once(job);
  if (pending) prefetched_.push_back({std::move(job), *pending});
  return pending.has_value();
}

Result<std::vector<CompileService::ProgramRequest>> CompileService::requests_of(
    const std::vector<ProgramToCompile>& programs) {
  using FrontendIr = tl::expected<std::shared_ptr<const std::string>, provider::Failure>;
  std::map<std::string, FrontendIr> frontend_ir;
  std::vector<worker::Message> unknown;
  for (const ProgramToCompile& each : programs) {
    if (!each.frontend_flags) continue;
    worker::Message job = frontend_ir_job(each);
    const auto [ir, is_new] = frontend_ir.try_emplace(key_of(job));
    if (is_new) ir->second = compiled_.find(ir->first);
    if (is_new && *ir->second == nullptr) unknown.push_back(std::move(job));
  }
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once(unknown));
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    FrontendIr& ir = frontend_ir.at(key_of(unknown[i]));
    if (!outcomes[i]) {
      ir = tl::unexpected(std::move(outcomes[i]).error());
      continue;
    }
    HONE_ASSIGN(jobs::FrontendIr answer, answer_of(jobs::kFrontendIr, std::move(outcomes[i])));
    if (!answer.bytes.empty()) ir = compiled_.keep(key_of(unknown[i]), std::move(answer.bytes));
  }
  std::vector<ProgramRequest> made;
  for (const ProgramToCompile& each : programs) {
    const FrontendIr ir =
        each.frontend_flags ? frontend_ir.at(key_of(frontend_ir_job(each))) : FrontendIr();
    if (!ir) {
      made.push_back(tl::unexpected(ir.error()));
      continue;
    }
    // Frontend IR that is too large to be handed on is compiled again for each program.
    const bool has_ir = *ir != nullptr;
    made.push_back(jobs::ProgramRequest{.path = each.path,
                                        .bytes = has_ir ? **ir : each.bytes,
                                        .flags = each.flags,
                                        .frontend_ir = has_ir});
  }
  return made;
}

Result<std::optional<worker::Outcome>> CompileService::take_prefetched(
    const worker::Message& message) {
  const auto found = std::ranges::find_if(
      prefetched_, [&](const Prefetched& each) { return is_same_job(each.message, message); });
  if (found == prefetched_.end()) return std::optional<worker::Outcome>();
  const worker::WorkerPool::Begun pending = found->pending;
  prefetched_.erase(found);
  HONE_ASSIGN(worker::Outcome outcome, pool_.end_once(pending));
  return std::optional(std::move(outcome));
}

Result<std::vector<CompiledModule>> CompileService::compile_each(
    const std::vector<ProgramToCompile>& programs) {
  HONE_ASSIGN(std::vector<ProgramRequest> requests, requests_of(programs));
  std::vector<CompiledModule> compiled(programs.size());
  std::vector<worker::Message> messages;
  std::vector<std::size_t> places;  // of `messages`
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (!requests[i]) {
      compiled[i] = tl::unexpected(std::move(requests[i]).error());
      continue;
    }
    worker::Message job = jobs::kCompileProgram.ask(*std::move(requests[i]));
    if (const auto known = compiled_.find(key_of(job))) {
      compiled[i] = *known;
      continue;
    }
    messages.push_back(std::move(job));
    places.push_back(i);
  }
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once(messages));
  for (std::size_t m = 0; m < messages.size(); ++m) {
    compiled[places[m]] = module_of(std::move(outcomes[m]));
    // With frontend flags, the files of its specs may change between calls.
    const CompiledModule& module = compiled[places[m]];
    if (module && !programs[places[m]].frontend_flags) compiled_.keep(key_of(messages[m]), *module);
  }
  return compiled;
}

Result<CompiledModule> CompileService::compile_program_in_f32(const ProgramToCompile& program) {
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, each_once({in_f32_job(program)}));
  return module_of(std::move(outcomes.front()));
}

Result<std::vector<jobs::ConfiguredDispatch>> CompileService::configured(
    const ProgramToCompile& program) {
  HONE_ASSIGN(std::vector<ProgramRequest> requests, requests_of({program}));
  ProgramRequest& request = requests.front();
  return answer_of(jobs::kConfigured, request ? once(jobs::kConfigured.ask(*std::move(request)))
                                              : worker::Outcome(tl::unexpected(request.error())));
}

Result<jobs::ConfiguredDispatch> CompileService::configured_dispatch(
    const std::string& name, const std::string& source, const std::vector<std::string>& flags) {
  HONE_ASSIGN(auto dispatches, ask(jobs::kConfiguredDispatch, {name, source, flags}));
  if (dispatches.size() != 1)
    return failure("'{}' holds {} dispatches, not one", name, dispatches.size());
  return std::move(dispatches.front());
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
    servers.emplace_back(
        each.key,
        jobs::kPrepare.ask({each.flags, each.assemble_for, each.source,
                            own_kernels_.empty() ? "" : problem::statement_text(each.statement)}));
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, pool_.prepare_each(servers));
  std::vector<Status> statuses;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    HONE_ASSIGN(outcomes[i],
                retried(Attempt::kProgram, Result<worker::Outcome>(std::move(outcomes[i])),
                        [&] { return pool_.prepare(servers[i].first, servers[i].second); }));
    statuses.push_back(prepared(outcomes[i]));
    if (statuses.back())
      stated_[dispatches[i].key] = {dispatches[i].statement, dispatches[i].assemble_for,
                                    dispatches[i].is_waited_for};
  }
  return statuses;
}

Status CompileService::release(const std::string& key) {
  std::erase_if(submitted_, [&](const auto& entry) { return entry.second.key == key; });
  if (stated_.erase(key) == 0) return {};
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
  const worker::JobId id = ++last_job_;
  HONE_TRY(payload && !payload->replacing.empty()
               ? send_replacing(id, key, *payload)
               : pool_.submit(key, id, jobs::kCompile.ask({payload})));
  submitted_.emplace(id, Submitted{key, payload});
  return id;
}

Status CompileService::send_replacing(worker::JobId id, const std::string& key,
                                      const provider::Payload& payload) {
  if (own_kernels_.contains(payload.replacing))
    return pool_.submit(key, id, jobs::kCompile.ask({payload}));
  const auto maker = std::ranges::find(replacing_, payload.replacing, &Replacing::provider);
  const auto stated = stated_.find(key);
  if (maker == replacing_.end() || stated == stated_.end())
    return failure("nobody here compiles what {} made for '{}'", payload.replacing, key);
  if (!maker->prepared.contains(key)) {
    const worker::Message message =
        jobs::kPrepare.ask({maker->flags, stated->second.assemble_for,
                            problem::statement_text(stated->second.statement)});
    const auto call = [&] { return maker->pool->prepare(key, message); };
    HONE_ASSIGN(const worker::Outcome outcome, retried(Attempt::kProgram, call(), call));
    HONE_TRY(prepared(outcome));
    maker->prepared.insert(key);
    if (stated->second.is_waited_for) maker->pool->hurry(key);
  }
  return maker->pool->submit(key, id, jobs::kCompile.ask({payload}));
}

Status CompileService::cancel(const std::string& key) {
  if (std::erase_if(submitted_, [&](const auto& entry) { return entry.second.key == key; }) == 0)
    return {};
  for (const Replacing& each : replacing_) HONE_TRY(each.pool->cancel(key));
  return pool_.cancel(key);
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

Result<std::optional<CompiledCandidate>> CompileService::next_finished(const std::string& key,
                                                                       double seconds) {
  const Stopwatch watch;
  for (;;) {
    const auto done = std::ranges::find_if(submitted_, [&](const auto& entry) {
      return entry.second.finished && (key.empty() || entry.second.key == key);
    });
    if (done != submitted_.end()) return std::move(submitted_.extract(done).mapped().finished);
    const double left = seconds < 0 ? seconds : std::max(0.0, seconds - watch.seconds());
    HONE_ASSIGN(const bool taken, take_finished(left));
    if (!taken) return std::optional<CompiledCandidate>();
  }
}

Result<bool> CompileService::take_finished(double seconds) {
  HONE_ASSIGN(std::optional<worker::Finished> next, next_of_any(seconds));
  if (!next) return false;
  if (const auto job = submitted_.find(next->id); job != submitted_.end())
    job->second.finished = compiled(std::move(*next));
  return true;
}

Result<CompiledCandidate> CompileService::compile(const std::string& key,
                                                  const std::optional<provider::Payload>& payload) {
  HONE_TRY(submit(key, payload));
  HONE_ASSIGN(std::optional<CompiledCandidate> finished, next_finished(key));
  if (!finished) return failure("the compile workers lost a job of '{}'", key);
  return std::move(*finished);
}

Status CompileService::compile_ahead(
    const DispatchToPrepare& dispatch,
    const std::vector<std::optional<provider::Payload>>& payloads) {
  HONE_TRY(prepare(dispatch));
  for (const std::optional<provider::Payload>& payload : payloads)
    HONE_TRY(submit(dispatch.key, payload));
  return {};
}

Result<std::vector<CompiledCandidate>> CompileService::compile_alone(
    const DispatchToPrepare& dispatch,
    const std::vector<std::optional<provider::Payload>>& payloads) {
  if (!stated_.contains(dispatch.key)) HONE_TRY(compile_ahead(dispatch, payloads));
  std::vector<worker::JobId> wanted;
  for (const std::optional<provider::Payload>& payload : payloads) {
    const auto job = std::ranges::find_if(submitted_, [&](const auto& entry) {
      return entry.second.key == dispatch.key && entry.second.payload == payload;
    });
    if (job != submitted_.end()) {
      wanted.push_back(job->first);
      continue;
    }
    HONE_ASSIGN(wanted.emplace_back(), submit(dispatch.key, payload));
  }
  std::map<worker::JobId, CompiledCandidate> finished;
  const auto is_missing = [&](worker::JobId job) { return !finished.contains(job); };
  while (std::ranges::any_of(wanted, is_missing)) {
    HONE_ASSIGN(std::optional<CompiledCandidate> next, next_finished(dispatch.key));
    if (!next) return failure("the compile workers lost a job of '{}'", dispatch.key);
    finished.emplace(next->id, std::move(*next));
  }
  HONE_TRY(release(dispatch.key));
  std::vector<CompiledCandidate> compiled;
  for (const worker::JobId job : wanted) compiled.push_back(finished.at(job));
  return compiled;
}

}  // namespace hone::trial
