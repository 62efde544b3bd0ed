// The jobs of the compile workers, with their requests and answers: what the tuner asks
// (trial/compile_service.h) and a provider's half in the worker process answers
// (compile_worker.h). Every provider does kPrepare and kCompile, and kRevision where its builds
// have no other name. The other jobs are for providers whose dispatches are pieces of programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "provider/artifact.h"
#include "provider/message.h"

namespace hone::provider::jobs {

// Data that the candidates of one dispatch share.
struct PrepareRequest {
  std::vector<std::string> flags;
  // The GPU ("sm_90") that the workers assemble PTX for, where they find ptxas.
  std::string assemble_for = {};
  std::string source = {};  // of the dispatch: a blob
  // Statement of it (problem::statement_text), for workers that also write kernels: a second blob.
  std::string statement = {};

  static void fields(auto& request, auto&& field) {
    field("flags", request.flags);
    field.or_default("assemble_for", request.assemble_for);
  }
};
void give_blobs(PrepareRequest& request, Message& message);
Status take_blobs(PrepareRequest& request, Message& message);

// A candidate of the prepared dispatch; without a payload, the compiler's default.
struct CompileRequest {
  std::optional<Payload> payload;
};
void to_json(nlohmann::json& json, const CompileRequest& request);
void from_json(const nlohmann::json& json, CompileRequest& request);

struct Compiled {
  Artifact artifact;  // Artifact::more lies beside its fields in JSON
  CompileStages stages = {};
};
void to_json(nlohmann::json& json, const Compiled& compiled);
// Stages are informative: unreadable ones count as zero.
void from_json(const nlohmann::json& json, Compiled& compiled);
void give_blobs(Compiled& compiled, Message& message);
Status take_blobs(Compiled& compiled, Message& message);

// Request of a job about a program, a dispatch or a spec.
struct ProgramRequest {
  std::string path;   // of its file, or the dispatch's name: for messages
  std::string bytes;  // a blob: of the file, or of its frontend IR; or a dispatch's source
  std::vector<std::string> flags = {};
  // A further blob: the frontend IR of a program to load, or its converted IR, where it is known;
  // of two specs the second one, which `path` names.
  std::optional<std::string> second = {};
  std::optional<problem::GivenSizes> given = {};  // of a program to load
  // `bytes` are the frontend IR; of a program to load: whether its frontend IR is asked for.
  bool frontend_ir = false;
  // Whether `second` of a program to load is its converted IR. Without `second`, that is asked for.
  bool converted = false;

  static void fields(auto& request, auto&& field) {
    field("path", request.path);
    field("flags", request.flags);
    field("given", request.given);
    field.when(request.frontend_ir, "front_half", request.frontend_ir);
    field.when(request.converted, "converted", request.converted);
  }
};
void give_blobs(ProgramRequest& request, Message& message);
Status take_blobs(ProgramRequest& request, Message& message);

// A program, compiled until specs and others' kernels come in.
struct FrontendIr {
  std::string bytes;  // a blob; empty: none was asked for, or it is too large for a message

  static void fields(auto&, auto&&) {}
};
void give_blobs(FrontendIr& ir, Message& message);
Status take_blobs(FrontendIr& ir, Message& message);

struct LoadedProgram {
  problem::Program program;
  FrontendIr frontend_ir = {};  // where it was asked for and not known
  // Likewise: behind the first phase of the frontend, which flags of later phases do not change.
  FrontendIr converted = {};
};
void to_json(nlohmann::json& json, const LoadedProgram& loaded);
void from_json(const nlohmann::json& json, LoadedProgram& loaded);
void give_blobs(LoadedProgram& loaded, Message& message);
Status take_blobs(LoadedProgram& loaded, Message& message);

// Configuration of one dispatch in a compile of the whole program.
struct ConfiguredDispatch {
  std::string name;        // the export's symbol
  Payload payload;         // "attributes" in JSON
  std::vector<int> marks;  // entries of a marking spec that match in it

  static void fields(auto& dispatch, auto&& field) {
    field("name", dispatch.name);
    field("attributes", dispatch.payload.json);
    field("marks", dispatch.marks);
  }
};

// An entry of a tuning spec, as the compiler reads it.
struct SpecFileEntry {
  std::string matcher;
  int line = 0;     // 0: not known
  Payload payload;  // as far as the entry says it; "attributes" in JSON

  static void fields(auto& entry, auto&& field) {
    field("matcher", entry.matcher);
    field("line", entry.line);
    field("attributes", entry.payload.json);
  }
};

// A tuning spec's entries, and a spec that marks the operations that they match (iree::SpecFile).
struct SpecFile {
  std::vector<SpecFileEntry> entries;
  std::string marking;  // a blob

  static void fields(auto& spec, auto&& field) { field("entries", spec.entries); }
};
void give_blobs(SpecFile& spec, Message& message);
Status take_blobs(SpecFile& spec, Message& message);

using Texts = std::vector<std::string>;
template <class Answer>
using ProgramJob = Job<ProgramRequest, Answer>;

inline constexpr Job<PrepareRequest, Nothing> kPrepare{"prepare"};
inline constexpr Job<CompileRequest, Compiled> kCompile{"compile"};
inline constexpr Job<Nothing, std::string> kRevision{"revision", kBody, "revision"};

inline constexpr ProgramJob<LoadedProgram> kLoadProgram{"load_program"};
// Its regions and operations, before anything is fused (iree::load_unfused).
inline constexpr ProgramJob<LoadedProgram> kLoadUnfused{"load_unfused"};
inline constexpr ProgramJob<FrontendIr> kFrontendIr{"front_half"};
inline constexpr ProgramJob<std::string> kCompileProgram{"compile_program", kBody, kBlob};
// Computes in f32 what the program says in f16 or bf16, arguments and results included.
inline constexpr ProgramJob<std::string> kCompileProgramInF32{"compile_program_in_f32", kBody,
                                                              kBlob};
inline constexpr ProgramJob<std::vector<ConfiguredDispatch>> kConfigured{"configured", kBody,
                                                                         "dispatches"};
// Jobs about one dispatch, given its source.
inline constexpr ProgramJob<std::vector<ConfiguredDispatch>> kConfiguredDispatch{
    "configured_dispatch", kBody, "dispatches"};
// The dispatch as text at the phase executable-configurations.
inline constexpr ProgramJob<std::string> kConfiguredText{"configured_text", kBody, kBlob};
inline constexpr ProgramJob<Nothing> kCompileDispatch{"compile_dispatch"};  // it is legal
// The root operation as a program's text.
inline constexpr ProgramJob<std::string> kExtractRoot{"extract_root", kBody, kBlob};
inline constexpr ProgramJob<nlohmann::json> kConstraints{"constraints", kBody, "statements"};
// Jobs about tuning specs and their attributes.
inline constexpr ProgramJob<SpecFile> kReadSpec{"read_spec"};
// Both as one, in which the first comes first.
inline constexpr ProgramJob<std::string> kLinkSpecs{"link_specs", kBody, kBlob};
// Each NamedText::text as the compiler prints it.
inline constexpr Job<Texts, Texts> kCanonical{"canonical", "attributes", "attributes"};

}  // namespace hone::provider::jobs
