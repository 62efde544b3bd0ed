// What of a job and of its answer a recording keeps: the one place that says when two jobs are the
// same. Whoever changes the form of a job that means the same says here how the new form reads as
// the recorded one, or accepts the new form (README.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "worker/message.h"

namespace hone::test {

// The places of a tuning on this machine, which recordings name otherwise.
struct Places {
  std::string program;  // the file that is tuned
  // Any text with <program> in place of its path, and back.
  std::string named(std::string text) const;
  std::string placed(std::string text) const;
};

// A job as it is compared: its kind, its body and the hashes of its blobs. A path of a file is that
// file's hash, any other path below the folder for temporary files is "<path>", and a number that
// is no integer has six digits.
nlohmann::json normal_job(const worker::Message& job);

// An answer's body as it is kept, and as the tuner gets it when it is recorded too: with six
// digits, and without what other processes of the machine were at.
nlohmann::json normal_answer(nlohmann::json body, const Places& places);
nlohmann::json placed_answer(nlohmann::json body, const Places& places);

// What stands for compiled code: equal for equal code (provider::identity), and for PTX a kernel
// with that name.
std::string code_name(const nlohmann::json& artifact, const std::string& code);
std::string ptx_name(const std::string& ptx, const std::string& entry);
std::string module_name(const std::string& module);

// Hash and length of some bytes: "1f0c... of 4096 bytes".
std::string hash_and_length(std::string_view bytes);

// Where `asked` differs from `recorded`, a line each: "/body/handle: 3, recorded as 2".
std::string differences(const nlohmann::json& recorded, const nlohmann::json& asked);

}  // namespace hone::test
