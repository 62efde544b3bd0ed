#include "provider/jobs.h"

#include "base/json.h"

namespace hone::provider::jobs {
namespace {

Status take_first(std::string& bytes, Message& message, const char* what) {
  if (message.blobs.empty()) return failure("cannot be read: the {} is missing", what);
  bytes = std::move(message.blobs.front());
  return {};
}

}  // namespace

void give_blobs(PrepareRequest& request, Message& message) {
  message.blobs.push_back(std::move(request.source));
  if (!request.statement.empty()) message.blobs.push_back(std::move(request.statement));
}

Status take_blobs(PrepareRequest& request, Message& message) {
  if (message.blobs.size() > 1) request.statement = std::move(message.blobs[1]);
  return take_first(request.source, message, "dispatch's source");
}

void to_json(nlohmann::json& json, const CompileRequest& request) {
  json = request.payload ? request.payload->json : nlohmann::json::object();
}

void from_json(const nlohmann::json& json, CompileRequest& request) {
  request.payload.reset();
  if (!json.empty()) request.payload = Payload{json};
}

void to_json(nlohmann::json& json, const Compiled& compiled) {
  json = compiled.artifact.more.json.is_null() ? nlohmann::json::object()
                                               : compiled.artifact.more.json;
  json.update(nlohmann::json(compiled.artifact));
  json["stages"] = compiled.stages;
}

void from_json(const nlohmann::json& json, Compiled& compiled) {
  compiled.artifact = json.get<Artifact>();
  compiled.stages = decode_json<CompileStages>(json, "stages").value_or(CompileStages());
  nlohmann::json& more = compiled.artifact.more.json = json;
  more.erase("stages");
  const nlohmann::json known = compiled.artifact;
  for (const auto& field : known.items()) more.erase(field.key());
}

void give_blobs(Compiled& compiled, Message& message) {
  give_blobs(compiled.artifact, message);
}

Status take_blobs(Compiled& compiled, Message& message) {
  return take_blobs(compiled.artifact, message);
}

void give_blobs(ProgramRequest& request, Message& message) {
  message.blobs.push_back(std::move(request.bytes));
  if (request.second) message.blobs.push_back(std::move(*request.second));
}

Status take_blobs(ProgramRequest& request, Message& message) {
  if (message.blobs.size() > 1) request.second = std::move(message.blobs[1]);
  return take_first(request.bytes, message, "program");
}

void give_blobs(FrontendIr& ir, Message& message) {
  if (!ir.bytes.empty() && ir.bytes.size() <= kMostBlobBytes)
    message.blobs.push_back(std::move(ir.bytes));
}

Status take_blobs(FrontendIr& ir, Message& message) {
  if (!message.blobs.empty()) ir.bytes = std::move(message.blobs.front());
  return {};
}

void to_json(nlohmann::json& json, const LoadedProgram& loaded) {
  json = loaded.program;
}

void from_json(const nlohmann::json& json, LoadedProgram& loaded) {
  json.get_to(loaded.program);
}

void give_blobs(LoadedProgram& loaded, Message& message) {
  for (FrontendIr* const ir : {&loaded.frontend_ir, &loaded.converted})
    message.blobs.push_back(ir->bytes.size() <= kMostBlobBytes / 2 ? std::move(ir->bytes) : "");
}

Status take_blobs(LoadedProgram& loaded, Message& message) {
  if (message.blobs.size() > 0) loaded.frontend_ir.bytes = std::move(message.blobs[0]);
  if (message.blobs.size() > 1) loaded.converted.bytes = std::move(message.blobs[1]);
  return {};
}

void give_blobs(SpecFile& spec, Message& message) {
  message.blobs.push_back(std::move(spec.marking));
}

Status take_blobs(SpecFile& spec, Message& message) {
  return take_first(spec.marking, message, "marking spec");
}

}  // namespace hone::provider::jobs
