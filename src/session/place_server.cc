#include "session/place_server.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "provider/iree/compiler/iree_runtime.h"
#include "session/places.h"
#include "session/remote_jobs.h"
#include "session/toolchain.h"
#include "worker/remote_server.h"

namespace hone::session {
namespace remote {

void to_json(nlohmann::json& json, const Arrays& arrays) {
  json = {{"arrays", arrays.arrays.size()}};
}

void from_json(const nlohmann::json& json, Arrays& arrays) {
  arrays.arrays.resize(exact<std::size_t>(json.at("arrays")));
}

void give_blobs(Arrays& arrays, provider::Message& message) {
  for (const problem::Array& array : arrays.arrays) message.blobs.push_back(to_npy(array));
}

Status take_blobs(Arrays& arrays, provider::Message& message) {
  if (message.blobs.size() != arrays.arrays.size()) return failure("cannot be read: no arrays");
  for (std::size_t i = 0; i < arrays.arrays.size(); ++i) {
    HONE_ASSIGN(arrays.arrays[i], problem::from_npy(message.blobs[i]));
  }
  return {};
}

}  // namespace remote

namespace {

class PlaceServer {
 public:
  Result<provider::Message> answer(provider::Message job, const std::filesystem::path& files,
                                   int stop_fd) {
    files_ = files;
    stop_fd_ = stop_fd;
    if (job.kind == remote::kBegin) return answered(remote::kBegin, &PlaceServer::begin, job);
    if (job.kind == remote::kFunctions)
      return answered(remote::kFunctions, &PlaceServer::functions, job);
    if (job.kind == remote::kRun) return answered(remote::kRun, &PlaceServer::run, job);
    if (job.kind == remote::kRunInTimer)
      return answered(remote::kRunInTimer, &PlaceServer::run_in_timer, job);
    if (job.kind == remote::kTime) return answered(remote::kTime, &PlaceServer::time, job);
    if (job.kind == remote::kKernelTimes)
      return answered(remote::kKernelTimes, &PlaceServer::kernel_times, job);
    if (job.kind == remote::kTimeArtifact)
      return answered(remote::kTimeArtifact, &PlaceServer::time_artifact, job);
    if (job.kind == remote::kEndTimer)
      return answered(remote::kEndTimer, &PlaceServer::end_timer, job);
    return failure("no job '{}' is served here", job.kind);
  }

 private:
  template <class Request, class Answer>
  Result<provider::Message> answered(const provider::Job<Request, Answer>& job,
                                     Result<Answer> (PlaceServer::*does)(const Request&),
                                     provider::Message& message) {
    HONE_ASSIGN(const Request request, job.asked_in(std::move(message)));
    HONE_ASSIGN(Answer answer, (this->*does)(request));
    return job.answer(std::move(answer));
  }

  Result<provider::Nothing> begin(const remote::Begin& begin) {
    for (const std::string& each : begin.environment) {
      const std::size_t equals = each.find('=');
      if (equals == std::string::npos) return input_error("'{}' is no NAME=VALUE", each);
      ::setenv(each.substr(0, equals).c_str(), each.c_str() + equals + 1, /*overwrite=*/1);
    }
    std::vector<device::Place> places = begin.lease;
    for (device::Place& place : places) place.address.host.clear();
    HONE_ASSIGN(held_, lease_here(places));
    return provider::Nothing();
  }

  Result<provider::ModuleFunctions> functions(const std::string& module) {
    return runtime().functions(files_ / module);
  }

  Result<remote::Arrays> run(const remote::Call& call) {
    return runtime().run(call_of(call), call.results).map(as_arrays);
  }

  Result<remote::Arrays> run_in_timer(const remote::Call& call) {
    return timers_of(call).calls(call_of(call), call.results).map(as_arrays);
  }

  Result<double> time(const remote::Call& call) {
    return timers_of(call).programs(call_of(call), call.seconds);
  }

  Result<provider::ProgramTimes> kernel_times(const remote::Call& call) {
    return timers_of(call).kernels(call_of(call), call.seconds);
  }

  Result<double> time_artifact(const remote::Launches& launches) {
    provider::ArtifactCall call;
    call.artifact = &launches.artifact;
    for (const std::string& name : launches.contents)
      call.contents.push_back(name.empty() ? std::filesystem::path() : files_ / name);
    call.types = launches.types;
    call.device = launches.device;
    call.stop_fd = stop_fd_;
    call.launches = launches.launches;
    return runtime().time_artifact(call, launches.seconds);
  }

  Result<provider::Nothing> end_timer(const int& number) {
    timers_.erase(number);
    return provider::Nothing();
  }

  static remote::Arrays as_arrays(std::vector<problem::Array> arrays) {
    return {std::move(arrays)};
  }

  const iree::IreeRuntime& runtime() {
    if (!runtime_) runtime_.emplace(iree::find_runtime());
    return *runtime_;
  }

  const provider::ProgramTimers& timers_of(const remote::Call& call) {
    const auto found = timers_.find(call.timer);
    if (found != timers_.end()) return found->second;
    return timers_.emplace(call.timer, runtime().timers(call.device)).first->second;
  }

  provider::ProgramCall call_of(const remote::Call& call) const {
    provider::ProgramCall made{.module = files_ / call.module,
                               .function = call.function,
                               .inputs = {},
                               .device = call.device,
                               .runtime_flags = {},
                               .stop_fd = stop_fd_,
                               .most_seconds = call.most_seconds};
    for (const std::string& input : call.inputs) made.inputs.push_back(files_ / input);
    for (const remote::Flag& flag : call.flags)
      made.runtime_flags.push_back(flag.file.empty() ? flag.text
                                                     : flag.text + (files_ / flag.file).string());
    return made;
  }

  std::filesystem::path files_;
  int stop_fd_ = -1;
  std::vector<device::LockFile> held_;
  std::optional<iree::IreeRuntime> runtime_;
  std::map<int, provider::ProgramTimers> timers_;
};

}  // namespace

int serve_places() {
  PlaceServer server;
  worker::RunnerOptions runner;
  runner.command = {own_executable(), "worker", "run"};
  return worker::serve_remote(
      std::move(runner),
      [&](provider::Message job, const std::filesystem::path& files, int stop_fd) {
        return server.answer(std::move(job), files, stop_fd);
      });
}

}  // namespace hone::session
