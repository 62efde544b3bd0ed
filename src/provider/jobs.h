// The jobs of the compile workers as messages: what the tuner asks
// (trial/compile_service.h) and a provider's half in the worker process answers
// (compile_worker.h).
//
// Every provider answers:
//   once
//     revision        {}                                     -> {"revision"}
//   prepare           {"flags", "assemble_for"}, blob: a dispatch's source   -> {}
//   run
//     compile         a Payload, or {} for the default       -> {"format", "launch", "configured",
//                                                               "stages": {name: seconds}} and
//                                                               Artifact::more, blob: the code
// A provider whose dispatches are pieces of programs also answers, all once:
//     load_program    {"path", "flags", "given": GivenSizes, "front_half": bool}, blobs: the file,
//                     and its front half where that is known -> problem::Program, blob where it was
//                                                               asked for: its front half
//     front_half      {"path", "flags"}, blob: the file      -> {}, blob: the program, compiled
//                                                               until specs and others' kernels
//                                                               come in
//     compile_program {"path", "flags", "front_half": bool}, blob: the file, or its front half
//                                                            -> {}, blob: the module
//     compile_program_in_f32 as compile_program, computing in f32 what it says in f16 or bf16,
//                                                               arguments and results included
//     configured      as compile_program                     -> {"dispatches":
//                                                               [ConfiguredDispatch]}
//     configured_dispatch {"path", "flags"}, blob: a dispatch's source -> as configured
//     compile_dispatch {"path", "flags"}, blob: a dispatch's source   -> {}: it is legal
//     read_spec       {"path", "flags"}, blob: a tuning spec -> {"entries": [SpecFileEntry]},
//                                                               blob: its marking spec
//     extract_root    {"path", "flags"}, blob: a dispatch's source (path: its name)
//                                                            -> {}, blob: the program's text
//     constraints     {"path", "flags"}, blob: a dispatch's source (path: its name)
//                                                            -> {"statements": opaque}
//     link_specs      {"path", "flags"}, blobs: two specs     -> blob: both as one, of which the
//                                                               first comes first; "path" names
//                                                               the second
//     canonical       {"attributes": [NamedText::text]}      -> {"attributes": [text]}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "provider/message.h"
#include "provider/payload.h"

namespace hone::provider::jobs {

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

// Request of a job about a program, a dispatch or a spec.
struct ProgramRequest {
  std::string path;
  std::string bytes;  // the first blob
  std::vector<std::string> flags = {};
  std::optional<std::string> second = {};  // a further blob
  std::optional<problem::GivenSizes> given = {};
  bool front_half = false;

  static void fields(auto& request, auto&& field) {
    field("path", request.path);
    field("flags", request.flags);
    field("given", request.given);
    field.when(request.front_half, "front_half", request.front_half);
  }
};
// Puts the blobs into `message`. The worker reads them in place: a program may hold its weights.
void give_blobs(ProgramRequest& request, Message& message);

using Texts = std::vector<std::string>;
template <class Answer>
using ProgramJob = Job<ProgramRequest, Answer>;

inline constexpr Job<Nothing, std::string> kRevision{"revision", kBody, "revision"};
inline constexpr Job<Texts, Texts> kCanonical{"canonical", "attributes", "attributes"};
inline constexpr ProgramJob<problem::Program> kLoadProgram{"load_program"};
inline constexpr ProgramJob<std::string> kFrontHalf{"front_half", kBody, kBlob};
inline constexpr ProgramJob<std::string> kCompileProgram{"compile_program", kBody, kBlob};
inline constexpr ProgramJob<std::string> kCompileProgramInF32{"compile_program_in_f32", kBody,
                                                              kBlob};
inline constexpr ProgramJob<std::vector<ConfiguredDispatch>> kConfigured{"configured", kBody,
                                                                         "dispatches"};
inline constexpr ProgramJob<std::vector<ConfiguredDispatch>> kConfiguredDispatch{
    "configured_dispatch", kBody, "dispatches"};
inline constexpr ProgramJob<Nothing> kCompileDispatch{"compile_dispatch"};
inline constexpr ProgramJob<std::vector<SpecFileEntry>> kReadSpec{"read_spec", kBody, "entries"};
inline constexpr ProgramJob<std::string> kLinkSpecs{"link_specs", kBody, kBlob};
inline constexpr ProgramJob<std::string> kExtractRoot{"extract_root", kBody, kBlob};
inline constexpr ProgramJob<nlohmann::json> kConstraints{"constraints", kBody, "statements"};
inline constexpr std::string_view kPrepare = "prepare";
inline constexpr std::string_view kCompile = "compile";

}  // namespace hone::provider::jobs
