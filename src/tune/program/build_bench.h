// Builds of one whole program: compiled, checked against the default's outputs and timed
// interleaved under the provider's own runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/array_difference.h"
#include "measure/comparison.h"
#include "tune/program/build.h"
#include "tune/program/checked_inputs.h"
#include "tune/program/program_in_f32.h"
#include "tune/program/program_outputs.h"
#include "tune/services/context.h"

namespace hone::tune {

// Reason why a build is not timed.
enum class Unusable {
  kNot,  // it is timed
  kDoesNotCompile,
  kDoesNotRun,
  kWrong,  // its outputs are others
  kCopy,   // its module is another build's, which is timed for it
  kSetAside,
};

struct ProgramBuild : CheckedBuild {
  std::string compiled = {};  // module; empty: add() compiles it, and takes it in any case

  std::filesystem::path module = {};  // compiled; empty when it does not compile
  Unusable unusable = Unusable::kNot;
  std::string failure = {};  // the reason, for people
  bool may_differ = false;   // it may come out otherwise: an accident, a limit of time
  // Whether it is the default with its wrong kernels replaced by correct ones. Outputs of all
  // builds that are added later are compared with its own.
  bool repairs = false;
  std::string code = {};                // content hash of the module
  std::optional<BuildId> same_as = {};  // of kCopy: the one with the same module
  measure::PairedComparison against_default = {};

  // Whether it is compiled in one step, as its user will.
  bool plainly = false;

  bool usable() const { return unusable == Unusable::kNot; }
  void fail(Unusable why, std::string words) {
    unusable = why;
    failure = std::move(words);
  }
  // Whether it uses a shared frontend compile: the compiler reads a spec and replacing kernels
  // later (provider::jobs::kFrontendIr).
  bool shares_frontend_ir() const { return !plainly && uses_spec(); }
};

// Returns the name under which the compiler looks for the file that replaces an executable.
std::string file_of_replaced(const std::string& executable);
// Writes each kernel under that name into `folder`, which is created if necessary. Environment
// error: it cannot be created.
Status write_replaced(const std::filesystem::path& folder,
                      const std::vector<provider::ReplacedExecutable>& replaced);

class BuildBench {
 public:
  // `folder` holds modules and inputs as long as the bench lives. Input error: the function cannot
  // be called (dynamic shapes).
  static Result<BuildBench> create(Context& context, const problem::Program& program,
                                   std::string bytes, const problem::Function& function,
                                   std::filesystem::path folder);

  // Compiles the builds, in parallel if the pool and memory allow it, and checks their outputs. The
  // first build of the bench, normally the default, gives the expected outputs and the time to
  // compare with. A known build stays as it is, unless it was set aside. A module that equals
  // another build's is not timed twice.
  Status add_each(std::vector<ProgramBuild> builds);
  Status add(ProgramBuild build);

  // Returns why the build would not be timed; empty if it would. The build is not kept; `module`
  // takes what it compiles to.
  Result<std::string> failure_of(ProgramBuild build, std::string& module);

  // Compiles a build again in one step, as its user will, if add() used a shared frontend compile,
  // and takes the new module. Failure: it does not compile, or it is another module that does not
  // run or gives wrong outputs.
  Status compile_plainly(const BuildId& id);

  // Prefetch a build's compile, and that one, if they disturb nothing, in free processes of the
  // pool. For a build that is likely to ship, added or not. Return whether it runs or is done.
  Result<bool> compile_ahead(const ProgramBuild& build) const;
  Result<bool> compile_plainly_ahead(ProgramBuild build) const;

  // Returns the largest error of the first build's outputs: root mean square, as a share of the
  // output. Measured by the independent compile in f32 on this machine's cores
  // (Options::reference_flags). Failure: that does not compile or run.
  Result<double> error_of_first();

  // Times the usable ones of `builds`, which include the default, in `rounds` rounds, each in
  // random order and loaded anew. Earlier times are dropped. `seed`: of the order. Runs fewer
  // rounds, at least one, if all would take more than `most_seconds`.
  Status time(int rounds, const std::vector<BuildId>& builds, std::uint64_t seed,
              double most_seconds);

  // Returns seconds per call of each of `builds`, all usable, by one round in random order.
  Result<std::vector<double>> sample(const std::vector<BuildId>& builds, std::uint64_t seed);
  // Returns the time of each kernel inside the running program, of a usable build. Requires a
  // runtime that reports it (ProgramRuntime::timers).
  Result<provider::ProgramTimes> kernel_times(const BuildId& id) const;
  // Removes the file of a build that will not run again.
  void discard(const BuildId& id);
  // Excludes a usable build from the rounds that follow; `why` goes into its row.
  void set_aside(const BuildId& id, std::string why);

  // Returns a row for each build, for the store; its name is the build's label followed by `label`.
  Result<std::vector<store::ProgramMeasurement>> rows(std::string_view label) const;

  store::Id program() const { return program_; }  // its row: the program and the function called
  const std::vector<ProgramBuild>& all() const { return builds_; }
  const ProgramBuild* find(const BuildId& id) const { return find_build(builds_, id); }
  // Returns the build that is timed for it: itself, or the one with the same module. Null if it is
  // unknown or not usable.
  const ProgramBuild* timed_for(const BuildId& id) const;
  const problem::Function& function() const { return function_; }  // that is called
  // The first arguments on which outputs are compared, with the expected outputs; null if outputs
  // cannot tell right from wrong.
  const CheckedSet* first_checked() const {
    const bool tells = context_->state->unchecked_outputs.empty() && !checked_.empty();
    return tells ? &checked_.front() : nullptr;
  }

 private:
  explicit BuildBench(Context& context) : context_(&context) {}
  std::vector<ProgramBuild> unknown_of(std::vector<ProgramBuild> builds);
  Status add_some(std::vector<ProgramBuild> builds);
  Result<std::vector<trial::CompiledModule>> compile(std::vector<ProgramBuild>& builds);
  // Returns the compile request of a build, whose spec and kernels it writes.
  Result<trial::ProgramToCompile> to_compile(const ProgramBuild& build) const;
  Status check(ProgramBuild& build, const trial::CompiledModule& compiled);
  // Runs a build on the inputs of each checked set; a failure if it fails on one.
  Result<std::vector<std::vector<problem::Array>>> outputs_of(const ProgramBuild& build) const;
  // Takes the first build's outputs as the expected ones, on inputs for which they are informative.
  Status expect(const ProgramBuild& build);
  bool is_as_in_f32(const std::vector<JudgedOutput>& judged,
                    const std::vector<problem::Array>& outputs, const CheckedSet& set) const;
  Status compare_outputs(ProgramBuild& build,
                         const std::vector<std::vector<problem::Array>>& outputs);
  // Returns how far a set's expected outputs move, measured with the build that gave them.
  Result<std::optional<OutputMoves>> moves_of_set(CheckedSet& set);
  RunOnFiles run_on_files(const ProgramBuild& build) const;
  Status note_differences(ProgramBuild& build, const std::vector<problem::Array>& outputs) const;
  Status say_what_is_repaired(ProgramBuild& build, const std::vector<problem::Array>& outputs);
  // Returns CheckedBuild::repaired_error of these outputs.
  Result<double> ask_the_host(const std::vector<problem::Array>& outputs);
  provider::ProgramCall call(const ProgramBuild& build) const;
  double sample_seconds() const;
  // Prefetches the f32 compile if so many builds may need it.
  void compare_in_f32_later(std::size_t builds);
  const ProgramBuild* with_code(std::string_view code) const;

  Context* context_;
  std::string path_;
  std::shared_ptr<const std::string> bytes_;
  store::Id program_ = 0;
  problem::Function function_;
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> inputs_;
  provider::ProgramCaller calls_;  // may be empty
  std::vector<ProgramBuild> builds_;
  std::size_t made_ = 0;  // names files
  // Inputs and the outputs expected for them, by the build `expected_by_`: the default or the one
  // that repairs it.
  std::vector<CheckedSet> checked_;
  BuildId expected_by_ = {};
  // Modules, by hash, whose outputs are the expected ones, and how they differ.
  std::map<std::string, std::vector<measure::ArrayDifference>> right_;
  std::optional<ProgramInF32> in_f32_;
  bool narrow_ = false;  // it computes in f16 or bf16
  bool wide_begun_ = false;
};

}  // namespace hone::tune
