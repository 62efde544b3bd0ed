// Compiling, as the tuner sees it: typed calls over a pool of worker processes.
#pragma once

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
#include "provider/payload.h"
#include "trial/compiled_programs.h"
#include "worker/worker_pool.h"

namespace hone::trial {

namespace jobs = provider::jobs;

// Seconds that the parts of one compile took, as far as its provider tells them; `assemble` is the
// GPU assembler's.
struct CompileStages {
  double configure = 0, translate = 0, serialize = 0, assemble = 0;
};

struct CompiledCandidate {
  worker::JobId id = 0;  // that submit() gave
  tl::expected<provider::Artifact, provider::Failure> artifact;
  double seconds = 0;
  CompileStages stages = {};  // of what compiled
};

// A whole module's bytes, or why the compiler gave none.
using CompiledModule = tl::expected<std::string, provider::Failure>;

struct ProgramToCompile {
  std::string path;  // of its file, for messages
  std::string bytes;
  std::vector<std::string> flags;
  // Where `flags` say more than these, and more only of specs and of kernels that take the place of
  // the compiler's own: what compiles the program up to there, once for all that begin so. Of
  // load_programs(), with `flags`: that this half, where it is known, is not made again, and else
  // is kept for what is compiled later. None: the program is compiled at once, as its user will.
  std::optional<std::vector<std::string>> front_flags = {};
  // To load it: what it leaves open; none: the sizes of the service.
  std::optional<problem::GivenSizes> given = {};
};

struct DispatchToPrepare {
  std::string key;  // of its server
  std::string source;
  std::vector<std::string> flags;
  // The GPU ("sm_90") that the workers assemble PTX for, where they find ptxas.
  std::string assemble_for = {};
  // What it states for other providers (problem::Dispatch::statement).
  std::string statement = {};
};

// A tuning spec's entries, and a spec that marks what they match (iree::SpecFile).
struct SpecFile {
  std::vector<jobs::SpecFileEntry> entries;
  std::string marking;
};

// For one thread. Errors: kInterrupted when the tuner was told to stop, kEnvironment when no worker
// can be started; what the compiler refuses is a kInput error with its words where a program was
// given by the user, and a Failure where hone proposed a candidate.
class CompileService {
 public:
  // `sizes`: of what programs leave open, where a load has none of its own (iree::load_program).
  explicit CompileService(worker::WorkerPool& pool, problem::GivenSizes sizes = {})
      : pool_(pool), sizes_(std::move(sizes)) {}
  // Asked before each job but those on candidates: how many seconds it may take; nothing: as the
  // pool has it.
  void limit_by(std::function<std::optional<double>()> most_seconds) {
    most_seconds_ = std::move(most_seconds);
  }

  // Asks for a job that stands alone (provider/jobs.h); what the compiler refuses is an input
  // error.
  template <class Request, class Answer>
  Result<Answer> ask(const provider::Job<Request, Answer>& job,
                     const std::type_identity_t<Request>& request = {}) {
    return answer_of(job, once(job.ask(request)));
  }
  Result<problem::Program> load_program(const std::string& path, const std::string& bytes,
                                        const std::vector<std::string>& flags,
                                        std::optional<problem::GivenSizes> given = {});
  // Its front half (ProgramToCompile::front_flags) is kept.
  Result<problem::Program> load_program_to_compile(const std::string& path,
                                                   const std::string& bytes,
                                                   const std::vector<std::string>& flags,
                                                   std::optional<problem::GivenSizes> given = {});
  // Loads several programs, side by side where the pool can; results are in their order.
  Result<std::vector<Result<problem::Program>>> load_programs(
      const std::vector<ProgramToCompile>& programs);
  Result<CompiledModule> compile_program(const std::string& path, const std::string& bytes,
                                         const std::vector<std::string>& flags);
  // Compiles several programs, side by side where the pool can; results are in their order. What
  // was compiled at once is known when it is asked for again.
  Result<std::vector<CompiledModule>> compile_each(const std::vector<ProgramToCompile>& programs);
  // Begins to compile, or to split, a program beside what follows, where the pool has a process for
  // it. The next call that asks for the same takes the result. A front half is waited for, and kept
  // for what is loaded from now on; what is wrong with it is said by the call that asks for it.
  void compile_ahead(const ProgramToCompile& program);
  void load_ahead(const ProgramToCompile& program);
  void compile_in_f32_ahead(const ProgramToCompile& program);
  // Compiles a program as computed in f32 (provider::jobs). Fails for a provider that does not know
  // the job.
  Result<CompiledModule> compile_program_in_f32(const std::string& path, const std::string& bytes,
                                                const std::vector<std::string>& flags);
  // How each dispatch is configured by a compile of the program.
  Result<std::vector<jobs::ConfiguredDispatch>> configured(const ProgramToCompile& program);
  // Returns the compiler's configuration of one dispatch, given its source.
  Result<jobs::ConfiguredDispatch> configured_dispatch(const std::string& name,
                                                       const std::string& source,
                                                       const std::vector<std::string>& flags);
  Result<SpecFile> read_spec(const std::string& path, const std::string& bytes);
  // The root operation of a dispatch as a program's text (iree::extract_root).
  Result<std::string> extract_root(const std::string& name, const std::string& source,
                                   const std::vector<std::string>& flags);
  // What the provider answers to a job of its own about a program.
  Result<nlohmann::json> ask(std::string_view job, const std::string& path,
                             const std::string& bytes, const std::vector<std::string>& flags);
  // What the compiler states about each dispatch's legal configurations on a GPU, as the provider
  // reads it (problem::Dispatch::stated_constraints); empty where it states nothing, or dies. The
  // dispatches are read side by side.
  Result<std::vector<std::string>> stated_constraints(
      const std::vector<const problem::Dispatch*>& dispatches,
      const std::vector<std::string>& flags);

  // Makes a server for the candidates of one dispatch. A failure with the compiler's words.
  Status prepare(const DispatchToPrepare& dispatch);
  // Prepares several, side by side where the pool can; says in their order what became of each.
  Result<std::vector<Status>> prepare_each(const std::vector<DispatchToPrepare>& dispatches);
  Status release(const std::string& key);
  // From now on candidates whose payload says that they are `provider`'s (Payload::replacing) are
  // compiled there, of what prepare() was told that their dispatch states. The pool is not owned.
  void add_replacing(std::string provider, worker::WorkerPool& pool,
                     std::vector<std::string> flags);
  // Hands in a candidate; no payload: the compiler's own choice. Returns the number that it is
  // finished under, which no other candidate of this service has.
  Result<worker::JobId> submit(const std::string& key,
                               const std::optional<provider::Payload>& payload);
  // Waits at most `seconds` (negative: without limit) for the next finished candidate; nothing when
  // none finished, or none is outstanding.
  Result<std::optional<CompiledCandidate>> next_finished(double seconds = -1);
  // One candidate of a prepared dispatch, waited for; none other may be outstanding.
  Result<CompiledCandidate> compile(const std::string& key,
                                    const std::optional<provider::Payload>& payload);
  // Prepares a dispatch for these candidates alone, and compiles one after the other. Results are
  // in their order.
  Result<std::vector<CompiledCandidate>> compile_alone(
      const DispatchToPrepare& dispatch,
      const std::vector<std::optional<provider::Payload>>& payloads);
  Status cancel_all();

 private:
  // Compile workers of another provider. They are given a dispatch once a candidate of it comes.
  struct Replacing {
    std::string provider;
    worker::WorkerPool* pool = nullptr;
    std::vector<std::string> flags;
    std::set<std::string> prepared = {};  // keys
  };
  // What they are to be given.
  struct Stated {
    std::string statement, assemble_for;
  };

  // The pool, whose jobs are limited from here on.
  worker::WorkerPool& limited_pool();
  Result<worker::Outcome> once(const worker::Message& message);
  // The answer, or the compiler's words as an error about the user's program.
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
  // Each of these jobs once, and once more where the compiler crashes, side by side; what was begun
  // ahead is waited for.
  Result<std::vector<worker::Outcome>> each_once(const std::vector<worker::Message>& messages);
  // The jobs that do this to the programs, or why there is none: of those with a front half, what
  // comes after it. Front halves that are not known are compiled side by side.
  using Job = tl::expected<worker::Message, provider::Failure>;
  Result<std::vector<Job>> jobs_of(std::string_view kind,
                                   const std::vector<ProgramToCompile>& programs);
  // Null where none is kept.
  std::shared_ptr<const std::string> known_half(const ProgramToCompile& program) const;
  void begin_ahead(worker::Message job);
  void remember(const ProgramToCompile& program, const worker::Message& job,
                const CompiledModule& module);
  // What was begun of it ahead, waited for; nothing where nothing was.
  Result<std::optional<worker::Outcome>> taken_ahead(const worker::Message& message);
  // As WorkerPool::next_finished(), of all pools.
  Result<std::optional<worker::Finished>> next_of_any(double seconds);
  Status submit_as(worker::JobId id, const std::string& key,
                   const std::optional<provider::Payload>& payload);
  Status submit_replacing(const std::string& key, worker::JobId id,
                          const provider::Payload& payload);

  struct Ahead {
    worker::Message message;
    worker::WorkerPool::Begun begun;
  };

  worker::WorkerPool& pool_;
  std::vector<Ahead> ahead_;
  CompiledPrograms compiled_;
  std::vector<Replacing> replacing_;
  std::map<std::string, Stated> stated_;  // by key
  std::function<std::optional<double>()> most_seconds_;
  worker::JobId last_job_ = 0;
  problem::GivenSizes sizes_;
};

}  // namespace hone::trial
