// Compiling, as the tuner sees it: typed calls over a pool of worker processes.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "provider/artifact.h"
#include "provider/jobs.h"
#include "trial/timeline.h"
#include "worker/worker_pool.h"

namespace hone::trial {

namespace jobs = provider::jobs;

struct CompiledCandidate {
  worker::JobId id = 0;  // that submit() gave
  tl::expected<provider::Artifact, provider::Failure> artifact;
  double seconds = 0;
  CompileStages stages = {};  // of what compiled
  double ended = 0;           // as worker::Finished
};

// A whole module's bytes, or the reason why the compiler made none.
using CompiledModule = tl::expected<std::string, provider::Failure>;

// In-memory cache of compiled programs: frontend IR (jobs::kFrontendIr), and modules that both a
// search and a proof need.
class CompiledPrograms {
 public:
  // Holds at most so many bytes.
  explicit CompiledPrograms(std::size_t most_bytes = std::size_t{1} << 30)
      : most_bytes_(most_bytes) {}

  // Returns the bytes kept under `key` (provider::key_of a job); null if there are none.
  std::shared_ptr<const std::string> find(const std::string& key) const;
  // Keeps `bytes` and evicts the oldest entries if all together are too large. Bytes that are too
  // large by themselves are not kept. Returns the bytes in any case.
  std::shared_ptr<const std::string> keep(const std::string& key, std::string bytes);

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<const std::string> bytes;
  };
  std::size_t most_bytes_;
  std::deque<Kept> kept_;  // the oldest first
};

struct ProgramToCompile {
  std::string path;  // of its file, for messages
  std::string bytes;
  std::vector<std::string> flags;
  // Flags of the frontend IR, if `flags` add only specs and replaced kernels to these. Programs
  // with equal frontend flags share one frontend IR. None: the program is compiled at once, as its
  // user will. For load_programs(), with `flags`: known frontend IR is not made again, and a new
  // one is kept for later compiles.
  std::optional<std::vector<std::string>> frontend_flags = {};
  // Sizes that a load gives to what the program leaves open; none: the sizes of the service.
  std::optional<problem::GivenSizes> given = {};
  // A load shares what the frontend's first phase makes of the program with others that set this:
  // their flags differ in those of later phases alone.
  bool shares_converted = false;
};

struct DispatchToPrepare {
  std::string key;  // of its server
  std::string source;
  std::vector<std::string> flags;
  // The GPU ("sm_90") that the workers assemble PTX for, where they find ptxas.
  std::string assemble_for = {};
  // The dispatch's statement for other providers (problem::Dispatch::statement).
  std::optional<problem::Statement> statement = {};
  bool is_waited_for = false;  // its candidates go before others (WorkerPool::hurry)
};

// Typed calls to the compile workers. For one thread. Errors: kInterrupted if the tuner was told to
// stop, kEnvironment if no worker can be started. A refusal by the compiler is a kInput error with
// its words for a program of the user's. It is a Failure for a candidate that hone proposed.
class CompileService {
 public:
  // `sizes`: for what programs leave open, if a load has none of its own (iree::load_program).
  explicit CompileService(worker::WorkerPool& pool, problem::GivenSizes sizes = {})
      : pool_(pool), sizes_(std::move(sizes)) {}
  // Sets a function that gives the time limit of each job, in seconds, except for candidates.
  // nullopt: the pool's own limit.
  void limit_by(std::function<std::optional<double>()> most_seconds) {
    most_seconds_ = std::move(most_seconds);
  }

  // Runs a job that stands alone (provider/jobs.h). A refusal by the compiler is an input error.
  template <class Request, class Answer>
  Result<Answer> ask(const provider::Job<Request, Answer>& job,
                     const std::type_identity_t<Request>& request = {}) {
    return answer_of(job, once(job.ask(request)));
  }
  // Loads a program; with frontend flags, keeps its frontend IR.
  Result<problem::Program> load_program(const ProgramToCompile& program);
  // Reads a program before anything is fused (jobs::kLoadUnfused); loads share what its first phase
  // makes of it.
  Result<problem::Program> load_unfused(const ProgramToCompile& program);
  // Keeps a program that load_programs() has returned, for the next load_program() of it.
  void keep_loaded(const ProgramToCompile& program, problem::Program loaded);
  // Loads several programs, concurrently if the pool can; results are in their order.
  Result<std::vector<Result<problem::Program>>> load_programs(
      const std::vector<ProgramToCompile>& programs);
  Result<CompiledModule> compile_program(const ProgramToCompile& program);
  // Compiles several programs, concurrently if the pool can; results are in their order. Modules
  // that were compiled at once, without frontend IR, are kept for the next request.
  Result<std::vector<CompiledModule>> compile_each(const std::vector<ProgramToCompile>& programs);
  // Compiles a program as computed in f32 (jobs::kCompileProgramInF32). Fails if the provider does
  // not know the job.
  Result<CompiledModule> compile_program_in_f32(const ProgramToCompile& program);
  // Start to compile or load a program in the background, if the pool has a process for it: whether
  // it has begun, or is compiled already, is returned. The
  // next call with the same request takes the result. They wait for frontend IR, and keep it for
  // later loads. An error in it is reported by the call that takes the result.
  bool prefetch_compile(const ProgramToCompile& program);
  void prefetch_load(const ProgramToCompile& program);
  void prefetch_compile_in_f32(const ProgramToCompile& program);
  // Returns each dispatch's configuration in a compile of the program.
  Result<std::vector<jobs::ConfiguredDispatch>> configured(const ProgramToCompile& program);
  // Returns the compiler's configuration of one dispatch, given its source.
  Result<jobs::ConfiguredDispatch> configured_dispatch(const std::string& name,
                                                       const std::string& source,
                                                       const std::vector<std::string>& flags);
  // Returns the compiler's constraints on each dispatch's configurations on a GPU, as the provider
  // reads them (problem::Dispatch::stated_constraints). Empty if the compiler states none, or
  // crashes. The dispatches are read concurrently.
  Result<std::vector<std::string>> stated_constraints(
      const std::vector<const problem::Dispatch*>& dispatches,
      const std::vector<std::string>& flags);

  // Makes a server for the candidates of one dispatch. Fails with the compiler's words.
  Status prepare(const DispatchToPrepare& dispatch);
  // Prepares several dispatches, concurrently if the pool can; returns each one's status in their
  // order.
  Result<std::vector<Status>> prepare_each(const std::vector<DispatchToPrepare>& dispatches);
  Status release(const std::string& key);
  // Adds another provider's pool, which is not owned. From now on it compiles the candidates whose
  // payload names `provider` (Payload::replacing), from the statement that prepare() was given.
  void add_replacing(std::string provider, worker::WorkerPool& pool,
                     std::vector<std::string> flags);
  // Adds another provider whose candidates this service's own workers compile.
  void add_replacing(std::string provider) { own_kernels_.insert(std::move(provider)); }
  // Submits a candidate of a prepared dispatch; without a payload, the compiler's default. Returns
  // the id that it finishes under, unique within this service. Candidates of several dispatches may
  // be outstanding.
  Result<worker::JobId> submit(const std::string& key,
                               const std::optional<provider::Payload>& payload);
  // Waits at most `seconds` (negative: no limit) for the next finished candidate of the dispatch
  // `key`; "": of any. What finishes of others is kept for them. Nothing if none finished, or none
  // is outstanding.
  Result<std::optional<CompiledCandidate>> next_finished(const std::string& key,
                                                         double seconds = -1);
  // Compiles one candidate of a prepared dispatch and waits for it. No other candidate of the
  // dispatch may be outstanding.
  Result<CompiledCandidate> compile(const std::string& key,
                                    const std::optional<provider::Payload>& payload);
  // Prepares a dispatch for these candidates alone and compiles them side by side. Results are in
  // their order. compile_ahead() begins with candidates of which some will be asked for; without
  // that, release() ends them.
  Status compile_ahead(const DispatchToPrepare& dispatch,
                       const std::vector<std::optional<provider::Payload>>& payloads);
  Result<std::vector<CompiledCandidate>> compile_alone(
      const DispatchToPrepare& dispatch,
      const std::vector<std::optional<provider::Payload>>& payloads);
  // Drops the outstanding candidates of the dispatch `key`, whose server stays prepared.
  Status cancel(const std::string& key);
  // Returns the jobs of all pools, other than candidates, that have ended since the last call.
  std::vector<worker::JobTime> take_job_times();

 private:
  // Compile workers of another provider. They prepare a dispatch when its first candidate comes.
  struct Replacing {
    std::string provider;
    worker::WorkerPool* pool = nullptr;
    std::vector<std::string> flags;
    std::set<std::string> prepared = {};  // keys
  };
  // Data of prepare() for the workers in `replacing_`.
  struct Stated {
    std::optional<problem::Statement> statement;
    std::string assemble_for;
    bool is_waited_for = false;
  };

  // Returns the pool, with its time limit updated (limit_by).
  worker::WorkerPool& limited_pool();
  Result<worker::Outcome> once(const worker::Message& message);
  // Returns the answer, or the compiler's words as an error about the user's program.
  static Result<worker::Message> accepted(Result<worker::Outcome> outcome);
  static Status prepared(const worker::Outcome& outcome);
  template <class T>
  static Result<T> understood(Result<T> answer) {
    if (answer) return answer;
    return failure("the compile worker's answer {}", answer.error().message);
  }
  template <class Request, class Answer>
  static Result<Answer> answer_of(const provider::Job<Request, Answer>& job,
                                  Result<worker::Outcome> outcome) {
    HONE_ASSIGN(worker::Message answer, accepted(std::move(outcome)));
    return understood(job.answered_in(std::move(answer)));
  }
  // Runs these jobs concurrently, retrying those in which the compiler crashes. Waits for jobs that
  // were prefetched.
  Result<std::vector<worker::Outcome>> each_once(const std::vector<worker::Message>& messages);
  // Makes the requests for the programs, or the reason why there is none. A program with
  // frontend IR gets the request for the rest. Unknown frontend IR is compiled concurrently.
  using ProgramRequest = tl::expected<jobs::ProgramRequest, provider::Failure>;
  Result<std::vector<ProgramRequest>> requests_of(const std::vector<ProgramToCompile>& programs);
  // Returns the frontend IR; null if none is kept.
  std::shared_ptr<const std::string> known_frontend_ir(const ProgramToCompile& program) const;
  std::shared_ptr<const std::string> known_converted(const ProgramToCompile& program) const;
  void keep_converted(const ProgramToCompile& program, jobs::LoadedProgram& loaded);
  bool prefetch(worker::Message job);
  // Returns the prefetched result, waiting for it; nullopt if none was started.
  Result<std::optional<worker::Outcome>> take_prefetched(const worker::Message& message);
  // Does for all pools what WorkerPool::next_finished() does for one.
  Result<std::optional<worker::Finished>> next_of_any(double seconds);
  // Waits at most `seconds` for the next finished candidate, and keeps it for who submitted it.
  Result<bool> take_finished(double seconds);
  Status send_replacing(worker::JobId id, const std::string& key, const provider::Payload& payload);

  struct Prefetched {
    worker::Message message;
    worker::WorkerPool::Begun pending;
  };

  // A candidate from its submission until somebody takes its result.
  struct Submitted {
    std::string key;
    std::optional<provider::Payload> payload;
    std::optional<CompiledCandidate> finished = {};
  };

  worker::WorkerPool& pool_;
  std::vector<Prefetched> prefetched_;
  std::map<worker::JobId, Submitted> submitted_;
  CompiledPrograms compiled_;
  std::map<std::string, problem::Program> loaded_;  // by provider::key_of the job
  std::vector<Replacing> replacing_;
  std::set<std::string> own_kernels_;     // names of providers
  std::map<std::string, Stated> stated_;  // by key
  std::function<std::optional<double>()> most_seconds_;
  worker::JobId last_job_ = 0;
  problem::GivenSizes sizes_;
};

}  // namespace hone::trial
