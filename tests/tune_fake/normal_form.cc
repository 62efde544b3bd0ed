#include "tests/tune_fake/normal_form.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "provider/artifact.h"
#include "provider/ptx_kernel.h"
#include "provider/resources.h"

namespace hone::test {
namespace {

constexpr std::string_view kProgram = "<program>";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

double six_digits(double value) {
  return std::isfinite(value) ? std::stod(fmt::format("{:.6g}", value)) : value;
}

// Calls `change` with each text, and rounds each number that is no integer.
template <class Change>
void walk(nlohmann::json& json, const Change& change) {
  if (json.is_string()) change(json.get_ref<std::string&>());
  if (json.is_number_float()) json = six_digits(json.get<double>());
  if (!json.is_structured()) return;
  for (auto& [key, value] : json.items()) walk(value, change);
}

std::string without_paths(const std::string& text) {
  static const std::string temporary = std::filesystem::temp_directory_path().string();
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins =
        text[at] == '/' &&
        (at == 0 || std::string_view("= \"'({,:").find(text[at - 1]) != std::string_view::npos);
    if (!begins) {
      result += text[at++];
      continue;
    }
    const std::string path =
        text.substr(at, std::min(text.find_first_of(" \"')},;\n", at), text.size()) - at);
    std::error_code code;
    if (std::filesystem::is_regular_file(path, code))
      result += fmt::format("<file {}>", hash_and_length(read_file(path).value_or("")));
    else
      result += path.starts_with(temporary) ? "<path>" : path;
    at += path.size();
  }
  return result;
}

// Names and pids of whatever else ran: no part of a tuning.
void forget_processes(nlohmann::json& json) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("processes")) json["processes"] = nlohmann::json::array();
  for (auto& [key, value] : json.items()) forget_processes(value);
}

// Which device a job is for was said in two fields of the job's own: its cores, and the index of a
// GPU. The recordings are of then.
void name_device(nlohmann::json& body) {
  const auto device = body.is_object() ? body.find("device") : body.end();
  if (device == body.end()) return;
  const nlohmann::json address = *device;
  body.erase("device");
  body["cores"] = address.at("cores");
  if (address.contains("index")) body[address.at("kind").get<std::string>()] = address.at("index");
}

std::string shortened(std::string text) {
  constexpr std::size_t kMost = 200;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

std::string Places::named(std::string text) const {
  replace_all(text, program, kProgram);
  return text;
}

std::string Places::placed(std::string text) const {
  replace_all(text, kProgram, program);
  return text;
}

nlohmann::json normal_job(const worker::Message& job) {
  nlohmann::json body = job.body;
  name_device(body);
  if (body.is_object()) body.erase("front_half");  // whether its bytes are wanted too
  walk(body, [](std::string& text) { text = without_paths(text); });
  nlohmann::json blobs = nlohmann::json::array();
  for (const std::string& blob : job.blobs) blobs.push_back(hash_and_length(blob));
  return {{"kind", job.kind}, {"body", std::move(body)}, {"blobs", std::move(blobs)}};
}

nlohmann::json normal_answer(nlohmann::json body, const Places& places) {
  walk(body, [&](std::string& text) { text = places.named(std::move(text)); });
  forget_processes(body);
  return body;
}

nlohmann::json placed_answer(nlohmann::json body, const Places& places) {
  walk(body, [&](std::string& text) { text = places.placed(std::move(text)); });
  return body;
}

std::string hash_and_length(std::string_view bytes) {
  return fmt::format("{} of {} bytes", content_hash(bytes), bytes.size());
}

std::string code_name(const nlohmann::json& artifact, const std::string& code) {
  provider::Artifact whole;
  whole.format = artifact.at("format");
  whole.launch = artifact.at("launch");
  whole.code = code;
  if (whole.format == provider::kCudaPtx && whole.launch.then.empty())
    return ptx_name(code, whole.launch.entry);
  return fmt::format("code {} of {} bytes", provider::identity(whole), code.size());
}

std::string ptx_name(const std::string& ptx, const std::string& entry) {
  return fmt::format(".entry {}\n{{\nptx {}\n}}\n", entry,
                     hash_and_length(provider::ptx_kernel(ptx, entry).value_or(ptx)));
}

std::string module_name(const std::string& module) {
  return "module " + hash_and_length(module);
}

std::string differences(const nlohmann::json& recorded, const nlohmann::json& asked) {
  constexpr std::size_t kMost = 8;
  const nlohmann::json patch = nlohmann::json::diff(recorded, asked);
  std::string text;
  for (std::size_t i = 0; i < patch.size() && i < kMost; ++i) {
    const std::string path = patch[i].at("path");
    const nlohmann::json::json_pointer at(path);
    const bool is_recorded = patch[i].at("op") != "add", is_asked = patch[i].at("op") != "remove";
    text += fmt::format("  {}: {}, recorded {}\n", path,
                        is_asked ? shortened(patch[i].at("value").dump()) : "nothing",
                        is_recorded ? "as " + shortened(recorded.at(at).dump()) : "as nothing");
  }
  if (patch.size() > kMost) text += fmt::format("  and {} more\n", patch.size() - kMost);
  return text;
}

}  // namespace hone::test
