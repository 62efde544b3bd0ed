#include "profiler/profile_run.h"

#include <deque>

#include "base/stopwatch.h"
#include "profiler/profiled_operation.h"
#include "profiler/tree.h"

namespace hone::profiler {
namespace {

class ProfileRun {
 public:
  ProfileRun(tune::Context& context, const ProfileOptions& options,
             const std::vector<SelectedOperation>& plan,
             const std::function<Status(const ProfileRow&)>& row)
      : context_(context), options_(options), plan_(plan), row_(row) {
    for (const SelectedOperation& each : plan_) dispatches_ += each.configurations.size();
  }

  Result<ProfileSpent> run() {
    while (next_ < plan_.size() || !begun_.empty()) {
      HONE_TRY(begin_ahead());
      // Finish all compiles first if compiling disturbs measuring; otherwise they go on meanwhile.
      const bool disturbs = context_.options.traits().compiling_disturbs;
      HONE_TRY(wait_for(disturbs ? begun_.size() : 1));
      do HONE_TRY(finish_front());
      while (disturbs && !begun_.empty());
    }
    return spent_;
  }

 private:
  Status begin_ahead() {
    // Begin several at once: the compiler splits and reads them together in less time.
    if (!begun_.empty() && unfinished() > options_.ahead / 2) return {};
    const std::size_t first = begun_.size();
    while (next_ < plan_.size() && (begun_.empty() || unfinished() < options_.ahead)) {
      begun_.emplace_back(context_, options_, spent_, plan_[next_++], servers_);
      HONE_TRY(begun_.back().open());
    }
    if (first == begun_.size()) return {};
    say();
    HONE_TRY(split(first));
    std::vector<trial::DispatchToPrepare> compiles;
    for (std::size_t i = first; i < begun_.size(); ++i) HONE_TRY(begun_[i].begin(compiles));
    return submit(first, compiles);
  }

  Status submit(std::size_t first, const std::vector<trial::DispatchToPrepare>& compiles) {
    const Stopwatch watch;
    HONE_ASSIGN(const std::vector<Status> prepared, context_.compiler.prepare_each(compiles));
    std::span<const Status> rest = prepared;
    for (std::size_t i = first; i < begun_.size(); ++i) {
      HONE_ASSIGN(const std::size_t taken, begun_[i].submit(rest));
      rest = rest.subspan(taken);
    }
    spent_.compile += watch.seconds();
    return {};
  }

  // Splits the operations from `first` on. They are joined into as many parts as there are
  // processes; functions whose kernels stay unknown are then split alone.
  Status split(std::size_t first) {
    const Stopwatch watch;
    const std::size_t count = begun_.size() - first;
    const std::size_t parts = std::min(count, options_.processes);
    std::vector<trial::ProgramToCompile> joined;
    for (std::size_t part = 0; part < parts; ++part) {
      std::vector<std::string> texts;
      for (std::size_t i = first_of(part, parts, count); i < first_of(part + 1, parts, count); ++i)
        texts.push_back(begun_[first + i].text());
      joined.push_back({"several operations", joined_sources(texts), context_.flags()});
    }
    HONE_ASSIGN(const auto programs, context_.compiler.load_programs(joined));
    for (std::size_t part = 0; part < parts; ++part) {
      const Result<problem::Program>& program = programs[part];
      HONE_TRY(interruption(program));
      // Skip a part that the compiler refuses: a bad function in it must not cost the others.
      if (!program) continue;
      for (std::size_t i = first_of(part, parts, count); i < first_of(part + 1, parts, count); ++i)
        begun_[first + i].take_kernels(*program);
    }
    HONE_TRY(split_alone(first));
    spent_.load += watch.seconds();
    return {};
  }

  static std::size_t first_of(std::size_t part, std::size_t parts, std::size_t count) {
    return part * count / parts;
  }

  Status split_alone(std::size_t first) {
    std::vector<trial::ProgramToCompile> alone;
    for (std::size_t i = first; i < begun_.size(); ++i)
      for (const ProfiledFunction* const function : begun_[i].unsplit())
        alone.push_back(begun_[i].alone(*function));
    HONE_ASSIGN(const auto programs, context_.compiler.load_programs(alone));
    std::size_t next = 0;
    for (std::size_t i = first; i < begun_.size(); ++i)
      for (ProfiledFunction* const function : begun_[i].unsplit())
        HONE_TRY(begun_[i].take_split(*function, programs[next++]));
    return {};
  }

  std::size_t unfinished() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < begun_.size(); ++i)
      count += plan_[next_ - begun_.size() + i].configurations.size();
    return count;
  }

  // Waits until none of the first `operations` operations compiles.
  Status wait_for(std::size_t operations) {
    const Stopwatch watch;
    const auto is_compiling = [&] {
      for (std::size_t i = 0; i < operations; ++i)
        if (begun_[i].compiling() > 0) return true;
      return false;
    };
    while (is_compiling()) {
      HONE_ASSIGN(const auto compiled, context_.compiler.next_finished(""));
      if (!compiled) return failure("the compile workers lost a job");
      bool taken = false;
      for (std::size_t i = 0; i < begun_.size() && !taken; ++i) {
        HONE_ASSIGN(taken, begun_[i].take(*compiled));
      }
      say();
    }
    spent_.compile += watch.seconds();
    return {};
  }

  Status finish_front() {
    // Compute the next operation's expected results: on a GPU the host has nothing else to do.
    const bool disturbs = context_.options.traits().compiling_disturbs;
    if (!disturbs && begun_.size() > 1) begun_[1].expect_ahead();
    HONE_TRY(begun_.front().finish());
    for (const ProfileRow& row : begun_.front().rows()) HONE_TRY(row_(row));
    done_ += plan_[next_ - begun_.size()].configurations.size();
    begun_.pop_front();
    say();
    return {};
  }

  void say() const {
    tune::Progress progress;
    progress.step = "profiling the dispatches";
    progress.tried = done_;
    progress.planned = dispatches_;
    if (done_ > 0)
      progress.seconds_left =
          watch_.seconds() / static_cast<double>(done_) * static_cast<double>(dispatches_ - done_);
    context_.observer.progress(progress);
  }

  tune::Context& context_;
  const ProfileOptions& options_;
  const std::vector<SelectedOperation>& plan_;
  const std::function<Status(const ProfileRow&)>& row_;
  std::deque<ProfiledOperation> begun_;  // the last of the plan's first next_
  std::size_t next_ = 0, done_ = 0, dispatches_ = 0;
  std::size_t servers_ = 0;
  ProfileSpent spent_;
  Stopwatch watch_;
};

}  // namespace

Result<ProfileSpent> profile_dispatches(tune::Context& context, const ProfileOptions& options,
                                        const std::vector<SelectedOperation>& plan,
                                        const std::function<Status(const ProfileRow&)>& row) {
  return ProfileRun(context, options, plan, row).run();
}

}  // namespace hone::profiler
