// Compile workers and their provider without processes and without a compiler.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "provider/program_provider.h"
#include "space/space.h"
#include "tests/tune_fake/fake_program.h"
#include "trial/compile_service.h"
#include "worker/worker_pool.h"

namespace hone::test {

inline constexpr std::string_view kSpecFlag = "--fake-spec=";
// Flags of whole programs: "--fake-times-by-fusion=0.8" makes it take so many times as long, and
// "--fake-fused-by-x" halves its launches; with the others it does not compile, computes something
// else, cannot be tuned, heeds no spec, and is attention that cannot be tuned.
inline constexpr std::string_view kTimesFlag = "--fake-times", kRefusedFlag = "--fake-refused",
                                  kWrongFlag = "--fake-wrong", kUntunableFlag = "--fake-untunable",
                                  kDeafFlag = "--fake-deaf", kFusedFlag = "--fake-fused",
                                  kAttentionFlag = "--fake-attention";

// A file with a line for each dispatch: its name and its tile.
inline std::map<std::string, std::string> spec_in(const std::vector<std::string>& flags) {
  std::map<std::string, std::string> found;
  for (const std::string& flag : flags) {
    if (!flag.starts_with(kSpecFlag)) continue;
    std::istringstream lines(read_file(flag.substr(kSpecFlag.size())).value_or(""));
    // Of several entries for one dispatch the first is applied.
    for (std::string name, tile; lines >> name >> tile;) found.try_emplace(name, tile);
  }
  return found;
}

// A file for each dispatch, called by its name: the tile of the kernel in its place.
inline constexpr std::string_view kKernelsFlag = "--fake-kernels=";
inline void add_kernels(const std::vector<std::string>& flags,
                        std::map<std::string, std::string>& tiles) {
  for (const std::string& flag : flags) {
    if (!flag.starts_with(kKernelsFlag)) continue;
    for (const auto& file : std::filesystem::directory_iterator(flag.substr(kKernelsFlag.size())))
      tiles[file.path().stem()] = read_file(file.path()).value_or("");
  }
}

// What it is asked for is done when it is asked for. `compiled` counts candidates.
class FakePool final : public worker::WorkerPool {
 public:
  explicit FakePool(int dispatches) : dispatches_(dispatches) {}
  int compiled = 0;
  int prepared = 0;  // servers
  // The most dispatches whose candidates were outstanding at the same time.
  std::size_t dispatches_at_once = 0;
  std::set<std::string> with_candidates;  // servers that were asked for more than a default
  int programs_compiled = 0;
  // Candidates that are compiled before the user stops hone.
  int stopped_after = std::numeric_limits<int>::max();
  // By the number of the candidate, from 1: what becomes of it instead of code.
  std::map<int, provider::Failure> failures;
  // Dispatches whose entry in a spec makes the whole program so much slower, in seconds; or, as
  // "main_dispatch_0 tile=4", if it is this one.
  std::map<std::string, double> harm;
  // Whether there is a process to spare for what is begun ahead; the jobs, once they were asked
  // for.
  bool begins_ahead = false;
  std::vector<worker::Message> begun_ahead, taken_ahead;
  int launches = 1;  // of each dispatch in a call
  // Numbers of dispatches that are further launches of the first one's kernel.
  std::vector<int> launch_sets;
  // Dispatches whose kernel of this tile makes the whole program's outputs other ones.
  std::function<bool(const std::string& dispatch, std::int64_t tile)> is_wrong;
  bool returns_nothing = false;                   // the program's function does
  std::map<std::vector<std::string>, int> loads;  // of the program, by flags
  std::string in_f32;  // the program computed in f32, a module; empty: it is refused
  std::chrono::milliseconds compiles_for{0};  // a round of candidates, not the default
  bool one_by_one = false;                    // each candidate then takes as long
  std::string repaired_by;  // a flag without which the host's program is refused; empty: none
  // Of a call, by tile: what a kernel takes inside the whole program.
  std::function<double(std::int64_t)> in_program = fake_seconds;

  std::optional<Begun> begin_once(const worker::Message& message) override {
    if (!begins_ahead) return std::nullopt;
    begun_ahead.push_back(message);
    return begun_ahead.size() - 1;
  }
  Result<worker::Outcome> end_once(Begun begun) override {
    taken_ahead.push_back(begun_ahead.at(begun));
    return once(begun_ahead.at(begun));
  }
  Result<worker::Outcome> once(const worker::Message& message) override {
    if (message.kind == provider::jobs::kCanonical) return worker::Outcome(message);
    if (message.kind == provider::jobs::kReadSpec)
      return worker::Outcome(
          worker::Message{"spec", {{"entries", nlohmann::json::array()}}, {std::string()}});
    if (message.kind == provider::jobs::kLinkSpecs)
      return worker::Outcome(worker::Message{
          "linked", nlohmann::json::object(), {message.blobs.at(0) + message.blobs.at(1)}});
    const auto flags = message.body.value("flags", std::vector<std::string>());
    if (message.kind == provider::jobs::kLoadProgram ||
        message.kind == provider::jobs::kLoadUnfused) {
      ++loads[flags];
      problem::Program program;
      program.path = message.body.at("path");
      program.hash = content_hash(message.blobs.at(0));
      program.functions = {fake_function()};
      if (returns_nothing) program.functions.front().outputs.clear();
      for (int i = 0; i < dispatches_; ++i) program.dispatches.push_back(fake_dispatch(i, flags));
      for (const int i : launch_sets) {
        program.dispatches[static_cast<std::size_t>(i)].name = program.dispatches[0].name;
        program.dispatches[static_cast<std::size_t>(i)].executable =
            program.dispatches[0].executable;
      }
      for (problem::Dispatch& each : program.dispatches) {
        each.launches_per_call = launches;
        for (const std::string& flag : flags) {
          if (flag.starts_with(kUntunableFlag) || flag.starts_with(kAttentionFlag))
            each.not_tunable = "by a flag";
          if (flag.starts_with(kAttentionFlag)) each.root.kind = problem::OperationKind::kAttention;
          if (flag.starts_with(kFusedFlag)) each.launches_per_call /= 2;
        }
      }
      return worker::Outcome(worker::Message{"program", program, {}});
    }
    if (message.kind == provider::jobs::kFrontendIr)
      return worker::Outcome(
          worker::Message{"half", nlohmann::json::object(), {message.blobs.at(0)}});
    const std::map<std::string, std::string> spec = spec_in(flags);
    if (message.kind == provider::jobs::kConfigured) {
      nlohmann::json dispatches = nlohmann::json::array();
      for (int i = 0; i < dispatches_; ++i) {
        provider::jobs::ConfiguredDispatch configured;
        configured.name = fmt::format("main_dispatch_{}", i);
        const auto entry = spec.find(configured.name);
        configured.payload =
            entry == spec.end() ? payload_with(kDefaultTile) : provider::Payload{entry->second};
        dispatches.push_back(configured);
      }
      return worker::Outcome(worker::Message{"configured", {{"dispatches", dispatches}}, {}});
    }
    if (message.kind == provider::jobs::kCompileProgramInF32 && !in_f32.empty())
      return worker::Outcome(worker::Message{"module", nlohmann::json::object(), {in_f32}});
    if (message.kind == provider::jobs::kCompileProgram) {
      std::map<std::string, std::string> tiles = spec;
      add_kernels(flags, tiles);
      double seconds = dispatches_ * in_program(kDefaultTile);
      std::string kernels;
      std::string_view wrong;
      const bool heeds = std::ranges::count(flags, kDeafFlag) == 0;
      for (const auto& [name, tile] : tiles) {
        if (!heeds) break;
        seconds += in_program(tile_in(tile)) - in_program(kDefaultTile);
        for (const std::string& what : {name, name + " " + tile})
          if (const auto harmful = harm.find(what); harmful != harm.end())
            seconds += harmful->second;
      }
      for (int i = 0; i < dispatches_; ++i) {
        const std::string name = fmt::format("main_dispatch_{}", i);
        const auto entry = tiles.find(name);
        const bool configured = heeds && entry != tiles.end();
        const std::int64_t tile = configured ? tile_in(entry->second) : kDefaultTile;
        kernels += fmt::format(" {} {}", name, in_program(tile));
        if (is_wrong && is_wrong(name, tile)) wrong = " wrong";
      }
      for (const std::string& flag : flags) {
        if (flag.starts_with(kTimesFlag)) seconds *= std::stod(flag.substr(flag.find('=') + 1));
        if (flag == kWrongFlag) wrong = " wrong";
        if (flag == kRefusedFlag)
          return worker::Outcome(
              tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, "refused"}));
      }
      if (!repaired_by.empty() && std::ranges::count(flags, "--target=host") > 0 &&
          std::ranges::count(flags, repaired_by) == 0)
        return worker::Outcome(
            tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, "refused"}));
      ++programs_compiled;
      return worker::Outcome(worker::Message{
          "module", nlohmann::json::object(), {fmt::format("{}{}{}", seconds, kernels, wrong)}});
    }
    return worker::Outcome(tl::unexpected(provider::Failure{
        provider::FailureKind::kCompileError, "the fake compiler has no job " + message.kind}));
  }

  Result<worker::Outcome> prepare(const std::string& key, const worker::Message& message) override {
    ++prepared;
    sources_[key] = message.blobs.at(0);
    if (!refuses_source.empty() && message.blobs.at(0).find(refuses_source) != std::string::npos)
      return worker::Outcome(
          tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, "refused"}));
    return worker::Outcome(worker::Message{"prepared", nlohmann::json::object(), {}});
  }
  Status release(const std::string& key) override {
    sources_.erase(key);
    return {};
  }
  Status submit(const std::string& key, worker::JobId id, const worker::Message& message) override {
    worker::Finished finished{id, {}, 0.001};
    if (!message.body.empty()) with_candidates.insert(key);
    const auto failure = failures.find(++compiled);
    if (failure != failures.end()) {
      finished.outcome = tl::unexpected(failure->second);
    } else {
      const auto tile =
          message.body.empty() ? kDefaultTile : tile_in(message.body.get<std::string>());
      finished.outcome = worker::Message{"artifact",
                                         {{"format", "fake"},
                                          {"launch", provider::Launch()},
                                          {"configured", fmt::format("{}{}", kTile, tile)}},
                                         {fmt::format("{} {}{}", sources_.at(key), kTile, tile)}};
    }
    const bool is_held = compiles_for.count() > 0 && !message.body.empty();
    if (is_held && held_.empty()) held_until_ = std::chrono::steady_clock::now() + compiles_for;
    (is_held ? held_ : finished_).emplace_back(key, std::move(finished));
    std::set<std::string> outstanding;
    for (const auto& [of, candidate] : finished_) outstanding.insert(of);
    dispatches_at_once = std::max(dispatches_at_once, outstanding.size());
    return {};
  }
  Result<std::optional<worker::Finished>> next_finished(double) override {
    if (compiled > stopped_after)
      return tl::unexpected(Error{ErrorKind::kInterrupted, "stopped by the user"});
    while (!held_.empty() && std::chrono::steady_clock::now() >= held_until_) {
      finished_.push_back(std::move(held_.front()));
      held_.pop_front();
      if (one_by_one) held_until_ += compiles_for;
    }
    if (finished_.empty()) {
      if (!held_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return std::optional<worker::Finished>();
    }
    std::optional<worker::Finished> next = std::move(finished_.front().second);
    finished_.pop_front();
    return next;
  }
  std::size_t outstanding() const override { return finished_.size() + held_.size(); }
  Status cancel(const std::string& key) override {
    const auto is_of_key = [&](const auto& each) { return each.first == key; };
    std::erase_if(finished_, is_of_key);
    std::erase_if(held_, is_of_key);
    return {};
  }

  std::string refuses_source;  // dispatches whose source holds it are not prepared; empty: none

 private:
  int dispatches_;
  std::map<std::string, std::string> sources_;
  std::deque<std::pair<std::string, worker::Finished>> finished_;  // by key of their server
  std::deque<std::pair<std::string, worker::Finished>> held_;      // until a time
  std::chrono::steady_clock::time_point held_until_;
};

class FakeProvider : public provider::ProgramProvider,
                     public provider::ProgramRuntime,
                     public provider::SpecWriter {
 public:
  FakeProvider()
      : SpecWriter({.spec_flag = std::string(kSpecFlag),
                    .kernels_flag = std::string(kKernelsFlag),
                    .default_configuration = "tile"}) {}
  const provider::SpecWriter& specs() const override { return *this; }
  const provider::ProgramRuntime& runtime() const override { return *this; }
  std::string_view name() const override { return "fake"; }
  std::string_view constraint_set() const override { return "fake"; }
  std::vector<space::Value> tiles{1, 2, 4, 8, 16, 32, 64};
  std::vector<provider::FlagChoice> choices;
  std::vector<provider::FlagChoice> flag_choices(const problem::Program&,
                                                 const std::vector<std::string>&,
                                                 const std::filesystem::path&) const override {
    return choices;
  }
  std::set<std::string> without_space;  // names of dispatches
  std::string does_not_run;             // a part of modules that fail; empty: none does
  std::string why_no_space(const problem::Dispatch& dispatch) const override {
    return without_space.contains(dispatch.name) ? "its form is odd" : dispatch.not_tunable;
  }
  Result<space::Space> space_of(const problem::Dispatch&) const override {
    space::SpaceBuilder builder;
    builder.knob("tile", "", tiles);
    return builder.build();
  }
  Result<provider::Payload> payload_of(const problem::Dispatch&, const space::Space&,
                                       const space::Configuration& configuration) const override {
    return payload_with(configuration.values.at(0));
  }
  std::set<std::string> without_entry;  // names of dispatches that no spec can hold
  std::string why_no_entry(const problem::Dispatch& dispatch) const override {
    return without_entry.contains(dispatch.name) ? "it is taken apart" : "";
  }
  double least = 0;  // seconds that none of its kernels takes less than; 0: not known
  double least_seconds(const problem::Dispatch&, const device::Peak&) const override {
    return least;
  }
  Result<std::string> text_of(const std::vector<provider::SpecEntry>& entries) const override {
    std::string text;
    for (const provider::SpecEntry& entry : entries)
      text += entry.name + " " + entry.payload.json.get<std::string>() + "\n";
    return text;
  }
  Result<std::vector<provider::NamedText>> texts_in_ir(
      const provider::Payload& configured) const override {
    return std::vector{provider::NamedText{"tile", configured.json.get<std::string>()}};
  }
  bool same_class(const problem::Operation& a, const problem::Operation& b) const override {
    return a == b;
  }
  std::vector<std::string> with_spec(std::vector<std::string> flags,
                                     const std::filesystem::path& file) const override {
    flags.push_back(flag_of(file));
    return flags;
  }
  Result<provider::ReplacedExecutable> replaced(const problem::Dispatch& dispatch,
                                                const provider::Payload&, const std::string& code,
                                                const problem::Launch&) const override {
    return provider::ReplacedExecutable{dispatch.executable, code};
  }
  Result<provider::ReplacingKernel> read_replaced(const std::string&) const override {
    return input_error("no file of a fake");
  }
  Result<provider::ModuleFunctions> functions(const std::filesystem::path&) const override {
    return provider::ModuleFunctions{{fake_function()}};
  }
  std::optional<std::string> device_code(std::string_view, const std::string&) const override {
    return std::nullopt;
  }
  Result<std::vector<problem::Array>> run(const provider::ProgramCall& call,
                                          std::size_t results) const override {
    HONE_ASSIGN(const std::string module, read_file(call.module));
    if (!does_not_run.empty() && module.find(does_not_run) != std::string::npos)
      return failure("a fault");
    if (results == 0) return std::vector<problem::Array>();
    // 0, 1, 2, 3, and more for another draw of inputs: such outputs tell right from wrong.
    const bool redrawn =
        !says_nothing && call.inputs.front().filename().string().starts_with("draw");
    std::vector<float> values{0, 1, 2, 3};
    for (float& value : values) {
      if (says_nothing) value = 0;
      value += (redrawn ? 4.0F : 0.0F) + (module.ends_with("wrong") && !says_nothing ? 1.0F : 0.0F);
    }
    const auto bytes = std::as_bytes(std::span(values));
    return std::vector{
        problem::Array{fake_function().outputs[0],
                       std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())}};
  }
  bool says_nothing = false;  // outputs are zero, whatever the inputs and the kernels are
  provider::ProgramTimers timers(const device::Address&) const override {
    provider::ProgramTimers timers;
    timers.programs = [this](const provider::ProgramCall& call, double) {
      return time_program(call);
    };
    if (tells_times)
      timers.kernels = [](const provider::ProgramCall& call, double) { return kernel_times(call); };
    return timers;
  }
  virtual Result<double> time_program(const provider::ProgramCall& call) const {
    HONE_ASSIGN(const std::string module, read_file(call.module));
    // A thousandth up and down, so that there is something to compare.
    return std::stod(module) * (1 + 0.001 * (++timed_ % 3));
  }
  // A runtime that tells them has seen each kernel twice, and one that ran once at load.
  bool tells_times = false;
  static Result<provider::ProgramTimes> kernel_times(const provider::ProgramCall& call) {
    HONE_ASSIGN(const std::string module, read_file(call.module));
    std::istringstream words(module.substr(module.find(' ')));
    provider::ProgramTimes times{std::stod(module), {{"at_load", 1, 1}}};
    std::string name;
    for (double seconds = 0; words >> name >> seconds;)
      times.kernels.push_back({name, 2, 2 * seconds});
    return times;
  }
  Result<double> time_artifact(const provider::ArtifactCall&, double) const override {
    return failure("a fake artifact runs nowhere else");
  }

 private:
  mutable int timed_ = 0;
};

// Another's kernels, for dispatches with even numbers. They compile in a pool of their own.
class FakeReplacing final : public provider::Provider {
 public:
  std::string_view name() const override { return "other"; }
  std::string_view constraint_set() const override { return "other"; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override {
    return (dispatch.name.back() - '0') % 2 == 0 ? "" : "an odd number";
  }
  Result<space::Space> space_of(const problem::Dispatch&) const override {
    space::SpaceBuilder builder;
    builder.knob("tile", "", tiles);
    return builder.build();
  }
  Result<provider::Payload> payload_of(const problem::Dispatch&, const space::Space&,
                                       const space::Configuration& configuration) const override {
    provider::Payload payload = payload_with(configuration.values.at(0));
    payload.replacing = name();
    return payload;
  }
  std::vector<provider::Suspicion> suspicions(const problem::Dispatch&) const override {
    return suspected;
  }
  std::vector<space::Value> tiles{128, 256};
  std::vector<provider::Suspicion> suspected;
};

}  // namespace hone::test
