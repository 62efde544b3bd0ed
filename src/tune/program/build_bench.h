// Builds of one whole program: compiled, checked against the default's outputs and timed
// interleaved under the provider's own runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "measure/array_difference.h"
#include "measure/comparison.h"
#include "tune/program/build.h"
#include "tune/program/checked_inputs.h"
#include "tune/services/context.h"

namespace hone::tune {

// Why a build is not timed.
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
  // Its spec and its kernels, once they are written; by their names a compile is known again.
  std::filesystem::path spec_file = {}, kernels_folder = {};
  Unusable unusable = Unusable::kNot;
  std::string failure = {};  // the reason, for people
  bool may_differ = false;   // it may come out otherwise: an accident, a limit of time
  // The default's kernels with right ones in the place of wrong ones: what it computes is right,
  // and the outputs of all that is added behind it are compared with its own.
  bool repairs = false;
  std::string code = {};                // content hash of the module
  std::optional<BuildId> same_as = {};  // of kCopy: the one with the same module
  measure::PairedComparison against_default = {};

  // It is compiled at once, as its user will.
  bool plainly = false;

  bool usable() const { return unusable == Unusable::kNot; }
  void fail(Unusable why, std::string words) {
    unusable = why;
    failure = std::move(words);
  }
  // What a spec and kernels of others say is read late (provider::jobs::kFrontHalf).
  bool shares_front_half() const { return !plainly && uses_spec(); }
};

// As the compiler looks for the file that replaces an executable.
std::string file_of_replaced(const std::string& executable);
// Writes each under that name into `folder`, which is made where it is not there. An environment
// error where it cannot be.
Status write_replaced(const std::filesystem::path& folder,
                      const std::vector<provider::ReplacedExecutable>& replaced);

class BuildBench {
 public:
  // `folder` keeps modules and inputs while this lives. An input error when the function cannot be
  // called (dynamic shapes).
  static Result<BuildBench> create(Context& context, const problem::Program& program,
                                   std::string bytes, const problem::Function& function,
                                   std::filesystem::path folder);

  // Compiles the builds, side by side where the pool and memory allow it, and checks their outputs.
  // The first must be the default. One that is here already stays as it is, unless it was set
  // aside. A module that is the same as another build's is not timed twice.
  Status add_each(std::vector<ProgramBuild> builds);
  Status add(ProgramBuild build);

  // Why the build would not be timed; empty where it would. It is not kept.
  Result<std::string> failure_of(ProgramBuild build);

  // Compiles a build anew and at once, as its user will, where add() had it share a front half with
  // others, and takes that module. A failure where it is another one and does not compile, does not
  // run or gives wrong outputs.
  Status compile_plainly(const BuildId& id);

  // Begins that compile beside what follows, where the pool has a process for it and it disturbs
  // nothing. For the build that is likely to ship.
  Status compile_plainly_ahead(const BuildId& id);

  // The largest error of the first one's outputs, in root mean square as a share of the output, by
  // the independent compile in f32 on this machine's cores (Options::reference_flags). A failure
  // where that does not compile or run.
  Result<double> error_of_first();

  // Times the usable ones of these, the default among them, in `rounds` rounds, each in random
  // order and from scratch; what was known of their times is forgotten. `seed`: of the order. Fewer
  // rounds, one at least, where all would take more than `most_seconds`.
  Status time(int rounds, const std::vector<BuildId>& builds, std::uint64_t seed,
              double most_seconds);

  // Seconds per call of each of these, which are usable: one round, interleaved in random order.
  Result<std::vector<double>> sample(const std::vector<BuildId>& builds, std::uint64_t seed);
  // What each kernel of this one, which is usable, takes while it runs, where the provider's
  // runtime tells it (ProgramProvider::tells_kernel_times).
  Result<provider::ProgramTimes> kernel_times(const BuildId& id) const;
  // Removes the file of a build that will not run again.
  void discard(const BuildId& id);
  // Takes a usable build out of the rounds that follow: `why` stands in its row.
  void set_aside(const BuildId& id, std::string why);

  // One row for each for the store, under its label with `label` behind it.
  Result<std::vector<store::ProgramMeasurement>> rows(std::string_view label) const;

  store::Id program() const { return program_; }  // its row: the program and the function called
  const std::vector<ProgramBuild>& all() const { return builds_; }
  const ProgramBuild* find(const BuildId& id) const { return find_build(builds_, id); }
  // The one that is timed for it: itself, or that with the same module. Nothing where it is unknown
  // or not usable.
  const ProgramBuild* timed_for(const BuildId& id) const;

 private:
  explicit BuildBench(Context& context) : context_(&context) {}
  std::vector<ProgramBuild> unknown_of(std::vector<ProgramBuild> builds);
  Status add_some(std::vector<ProgramBuild> builds);
  Result<std::vector<trial::CompiledModule>> compile(std::vector<ProgramBuild>& builds);
  // What its compile is; writes its spec and kernels where that was not done.
  Result<trial::ProgramToCompile> to_compile(ProgramBuild& build);
  Status check(ProgramBuild& build, const trial::CompiledModule& compiled);
  // Runs a build on the inputs of each checked set; a failure where it fails on one.
  Result<std::vector<std::vector<problem::Array>>> outputs_of(const ProgramBuild& build) const;
  // Takes the default's outputs for what others are compared with, on inputs that tell.
  Status expect(const ProgramBuild& build);
  Status compare_outputs(ProgramBuild& build,
                         const std::vector<std::vector<problem::Array>>& outputs);
  // How far the expected outputs of a set move, by the build that gave them.
  Result<std::optional<OutputMoves>> moves_of_set(CheckedSet& set);
  RunOnFiles run_on_files(const ProgramBuild& build) const;
  Status note_differences(ProgramBuild& build, const std::vector<problem::Array>& outputs) const;
  Status say_what_is_repaired(ProgramBuild& build, const std::vector<problem::Array>& outputs);
  // CheckedBuild::repaired_error of these outputs.
  Result<double> ask_the_host(const std::vector<problem::Array>& outputs);
  // The results of the program by that compile on this machine's cores.
  Result<std::vector<problem::Array>> outputs_of_host();
  provider::ProgramCall call(const ProgramBuild& build) const;
  double sample_seconds() const;
  // The results of the program computed in f32 for the inputs of a set, made when they are first
  // asked for; empty where that is not possible.
  Result<std::vector<problem::Array>> wide_outputs(CheckedSet& set);
  // The same by the code that these flags make, on this device; `module`: compiled with them, or
  // where to. A failure that says why not.
  Result<std::vector<problem::Array>> outputs_in_f32(const std::vector<std::string>& flags,
                                                     const device::Address& device,
                                                     const CheckedSet& set,
                                                     const std::filesystem::path& module);
  // Begins to compile that, where it may be asked for.
  void compare_in_f32_later(std::size_t builds);
  const ProgramBuild* with_code(std::string_view code) const;

  Context* context_;
  std::string path_;
  std::string bytes_;
  store::Id program_ = 0;
  problem::Function function_;
  double flops_ = 0;  // of a call
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> inputs_;
  std::vector<ProgramBuild> builds_;
  std::size_t made_ = 0;  // names files
  // With outputs of the default, or of what repairs it: `expected_by_`.
  std::vector<CheckedSet> checked_;
  BuildId expected_by_ = {};
  bool narrow_ = false;  // it computes in f16 or bf16
  bool wide_begun_ = false;
};

}  // namespace hone::tune
