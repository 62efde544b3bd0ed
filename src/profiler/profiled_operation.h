// Operation of a tree on its way through profile_dispatches(): loading, compiling, verifying,
// measuring.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/expected_problem.h"
#include "profiler/profile_run.h"
#include "trial/trial_runner.h"

namespace hone::profiler {

// Kernel of a function.
struct ProfiledKernel {
  problem::Dispatch dispatch;
  std::optional<trial::TrialRunner> runner = {};  // since its dispatch has a row
  trial::Trial trial = {};
  trial::RunnerKernel kernel = {};  // with its code once that is here
};

// Function of the file: one dispatch of the profiler. It has several kernels if the compiler makes
// so many of it (slices of k and their sum, a padded image).
struct ProfiledFunction {
  ProfileRow row;
  std::string source;  // the file's text with this function alone
  std::vector<ProfiledKernel> kernels;
  bool done = false;  // failed, or all of it is known
};

class ProfiledOperation {
 public:
  // `servers`: number of compile servers in use, over all operations; each kernel to compile has
  // one.
  ProfiledOperation(tune::Context& context, const ProfileOptions& options, ProfileSpent& spent,
                    SelectedOperation plan, std::size_t& servers);
  ProfiledOperation(const ProfiledOperation&) = delete;
  ProfiledOperation& operator=(const ProfiledOperation&) = delete;

  Status open();  // reads the file
  // Returns the selected functions, as a module's text.
  const std::string& text() const { return text_; }
  // Takes the kernels of its functions from `program`: the text split into dispatches, perhaps with
  // other operations' text.
  void take_kernels(const problem::Program& program);
  // Returns the functions whose kernels take_kernels() could not tell, or all before its call. Each
  // must be split by itself, and passed to take_split().
  std::vector<ProfiledFunction*> unsplit();
  trial::ProgramToCompile alone(const ProfiledFunction& function) const;
  Status take_split(ProfiledFunction& function, const Result<problem::Program>& program);
  // Takes known results from the store, and adds the other kernels to `compiles`.
  Status begin(std::vector<trial::DispatchToPrepare>& compiles);
  // Submits the kernels that begin() added and the compiler prepared; `prepared[0]` is the first
  // one's status. Returns how many begin() added.
  Result<std::size_t> submit(std::span<const Status> prepared);
  std::size_t compiling() const { return compiling_.size(); }
  // Takes a compiled candidate; returns whether it was this operation's.
  Result<bool> take(const trial::CompiledCandidate& compiled);
  // Starts computing the expected results in the background, if a dispatch is to be verified.
  void expect_ahead();
  // Verifies and measures, once nothing compiles any more. The rows are final afterwards.
  Status finish();
  std::vector<ProfileRow> rows() const;

 private:
  struct Compiling {
    ProfiledFunction* function;
    ProfiledKernel* kernel;
  };
  std::vector<ProfiledKernel> kernels_in(const problem::Program& program,
                                         const ProfiledFunction& function) const;
  Status make_trials(ProfiledFunction& function);
  Status take_known(ProfiledFunction& function);
  Status fail(ProfiledFunction& function, const provider::Failure& failure, ProfiledKernel* kernel);
  // Records the failure in the function's row.
  void take_failure(ProfiledFunction& function, const provider::Failure& failure);

  // Compares each kernel's applied configuration with its function's text: a compiler may silently
  // drop one.
  Status check_applied();
  std::string name_of(const ProfiledFunction& function) const;
  // Returns whether the function is a single kernel with the function's arguments. Any other
  // function is called as a whole.
  bool is_launched_alone(const ProfiledFunction& function) const;
  Status set_problem(const problem::Dispatch& dispatch, const measure::ProblemRequest& problem);
  Status verify(ProfiledFunction& function);
  // Returns the module with the function. Functions that are not launched alone are compiled as one
  // module; each other function has its own.
  Result<trial::CompiledModule> module_of(const ProfiledFunction& function);
  Status measure_single();
  Status measure_parts(ProfiledFunction& function);
  Status measure(std::vector<ProfiledKernel*> kernels);

  tune::Context& context_;
  const ProfileOptions& options_;
  ProfileSpent& spent_;
  SelectedOperation plan_;
  std::size_t& servers_;
  std::string path_, text_;
  std::vector<std::string> names_;  // of the functions
  std::vector<ProfiledFunction> functions_;
  std::vector<ProfileRow> library_rows_;
  std::vector<Compiling> compiling_;
  ExpectedProblem expected_;
  std::optional<problem::Dispatch> problem_;              // that the runner has
  std::optional<std::string> module_of_whole_functions_;  // empty: it does not compile
};

}  // namespace hone::profiler
