// Jobs that hone answers on another machine (worker/remote_server.h): leases, and whole programs
// under the runtime that is installed there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json_fields.h"
#include "device/place.h"
#include "provider/message.h"
#include "provider/program_runtime.h"

namespace hone::session::remote {

// The first job of a connection.
struct Begin {
  std::vector<std::string> environment;  // "NAME=VALUE"
  std::vector<device::Place> lease;      // held until the connection ends

  static void fields(auto& begin, auto&& field) {
    field("environment", begin.environment);
    field("lease", begin.lease);
  }
};

// A flag of the runtime; `file`: the name of a sent file that its value ends with, or empty.
struct Flag {
  std::string text, file;

  static void fields(auto& flag, auto&& field) {
    field("text", flag.text);
    field("file", flag.file);
  }
};

// provider::ProgramCall with names of sent files.
struct Call {
  int timer = 0;  // calls of one timer share a process there
  std::string module;
  problem::Function function;
  std::vector<std::string> inputs;
  device::Address device;
  std::vector<Flag> flags;
  double most_seconds = 0;
  double seconds = 0;  // to be timed
  std::size_t results = 0;

  static void fields(auto& call, auto&& field) {
    field("timer", call.timer);
    field("module", call.module);
    field("function", call.function);
    field("inputs", call.inputs);
    field("device", call.device);
    field("flags", call.flags);
    field("most_seconds", call.most_seconds);
    field("seconds", call.seconds);
    field("results", call.results);
  }
};

struct Launches {
  provider::Artifact artifact;
  std::vector<std::string> contents;
  std::vector<problem::TensorType> types;
  device::Address device;
  int launches = 1;
  double seconds = 0;

  static void fields(auto& call, auto&& field) {
    field("artifact", call.artifact);
    field("contents", call.contents);
    field("types", call.types);
    field("device", call.device);
    field("launches", call.launches);
    field("seconds", call.seconds);
  }
};
inline void give_blobs(Launches& launches, provider::Message& message) {
  give_blobs(launches.artifact, message);
}
inline Status take_blobs(Launches& launches, provider::Message& message) {
  return take_blobs(launches.artifact, message);
}

// Results of a call, each a .npy file as a blob.
struct Arrays {
  std::vector<problem::Array> arrays;
};
void to_json(nlohmann::json& json, const Arrays& arrays);
void from_json(const nlohmann::json& json, Arrays& arrays);
void give_blobs(Arrays& arrays, provider::Message& message);
Status take_blobs(Arrays& arrays, provider::Message& message);

inline constexpr provider::Job<Begin, provider::Nothing> kBegin{"begin"};
inline constexpr provider::Job<std::string, provider::ModuleFunctions> kFunctions{"functions",
                                                                                  "module"};
inline constexpr provider::Job<Call, Arrays> kRun{"run_program"};
inline constexpr provider::Job<Call, Arrays> kRunInTimer{"run_program_in_timer"};
inline constexpr provider::Job<Call, double> kTime{"time_program", provider::kBody, "seconds"};
inline constexpr provider::Job<Call, provider::ProgramTimes> kKernelTimes{"kernel_times"};
inline constexpr provider::Job<Launches, double> kTimeArtifact{"time_artifact", provider::kBody,
                                                               "seconds"};
inline constexpr provider::Job<int, provider::Nothing> kEndTimer{"end_timer", "timer"};

}  // namespace hone::session::remote
