// One operation of a tree on its way through profile_dispatches(): loading, compiling, verifying,
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

// A kernel of a function.
struct ProfiledKernel {
  problem::Dispatch dispatch;
  std::optional<trial::TrialRunner> runner = {};  // since its dispatch has a row
  trial::Trial trial = {};
  trial::RunnerKernel kernel = {};  // with its code once that is here
};

// A function of the file: one dispatch of the profiler, several kernels where the compiler makes
// so many of it (slices of k and their sum, a padded image).
struct ProfiledFunction {
  ProfileRow row;
  std::string source;  // the file's text with this function alone
  std::vector<ProfiledKernel> kernels;
  bool done = false;  // failed, or all of it is known
};

class ProfiledOperation {
 public:
  // `servers`: counts those that compile kernels of all operations, each of which has one.
  ProfiledOperation(tune::Context& context, const ProfileOptions& options, ProfileSpent& spent,
                    SelectedOperation plan, std::size_t& servers);
  ProfiledOperation(const ProfiledOperation&) = delete;
  ProfiledOperation& operator=(const ProfiledOperation&) = delete;

  Status open();  // reads the file
  // Its functions that are meant, as a module's text.
  const std::string& text() const { return text_; }
  // Takes the kernels of its functions from `program`, into which the text was split, perhaps among
  // others'.
  void take_kernels(const problem::Program& program);
  // The functions of which take_kernels() could not tell the kernels: all before it was called.
  // Each is to be split by itself, and given to take_split().
  std::vector<ProfiledFunction*> unsplit();
  trial::ProgramToCompile alone(const ProfiledFunction& function) const;
  Status take_split(ProfiledFunction& function, const Result<problem::Program>& program);
  // Takes what the store knows of the kernels, and adds the others to `compiles`.
  Status begin(std::vector<trial::DispatchToPrepare>& compiles);
  // Hands in to be compiled what was prepared, of what begin() added: `prepared[0]` is of the
  // first. Returns how many there were.
  Result<std::size_t> submit(std::span<const Status> prepared);
  std::size_t compiling() const { return compiling_.size(); }
  // Whether it was this operation's.
  Result<bool> take(const trial::CompiledCandidate& compiled);
  // Lets threads compute what its dispatches must give, where one is to be verified.
  void expect_ahead();
  // Once nothing compiles any more: verifies and measures. Then the rows are as they are.
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
  // The row says so.
  void take_failure(ProfiledFunction& function, const provider::Failure& failure);

  // A compiler may drop a configuration without a word. What each kernel was configured with is
  // compared with what its function's file says.
  Status check_applied();
  std::string name_of(const ProfiledFunction& function) const;
  // One kernel that takes the function's arguments; any other is called as a whole.
  bool is_launched_alone(const ProfiledFunction& function) const;
  Status set_problem(const problem::Dispatch& dispatch, const measure::ProblemRequest& problem);
  Status verify(ProfiledFunction& function);
  // The module that has it. The file's functions that are not launched alone are compiled as one,
  // any other by itself.
  Result<trial::CompiledModule> module_of(const ProfiledFunction& function);
  Status record_verification(ProfiledFunction& function, const measure::Verification& verification);
  Status measure_single();
  Status measure_parts(ProfiledFunction& function);
  Status measure(std::vector<ProfiledKernel*> kernels);
  Status take_known_libraries(store::Id dispatch);

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
