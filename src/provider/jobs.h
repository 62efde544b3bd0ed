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
//     compile_dispatch {"path", "flags"}, blob: a dispatch's source   -> {}
//     read_spec       {"path", "flags"}, blob: a tuning spec -> {"entries": [SpecFileEntry]},
//                                                               blob: its marking spec
//     extract_root    {"path", "flags"}, blob: a dispatch's source (path: its name)
//                                                            -> {}, blob: the program's text
//     constraints     {"path", "flags"}, blob: a dispatch's source (path: its name)
//                                                            -> {"statements": opaque}
//     link_specs      {"path", "flags"}, blobs: two specs     -> blob: both as one
//     canonical       {"attributes": [NamedText::text]}      -> {"attributes": [text]}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "provider/payload.h"

namespace hone::provider::jobs {

inline constexpr std::string_view kLoadProgram = "load_program";
inline constexpr std::string_view kFrontHalf = "front_half";
inline constexpr std::string_view kCompileProgram = "compile_program";
inline constexpr std::string_view kCompileProgramInF32 = "compile_program_in_f32";
inline constexpr std::string_view kConfigured = "configured";
inline constexpr std::string_view kConfiguredDispatch = "configured_dispatch";
inline constexpr std::string_view kCompileDispatch = "compile_dispatch";
inline constexpr std::string_view kReadSpec = "read_spec";
inline constexpr std::string_view kLinkSpecs = "link_specs";
inline constexpr std::string_view kExtractRoot = "extract_root";
inline constexpr std::string_view kConstraints = "constraints";
inline constexpr std::string_view kRevision = "revision";
inline constexpr std::string_view kCanonical = "canonical";
inline constexpr std::string_view kPrepare = "prepare";
inline constexpr std::string_view kCompile = "compile";

// What a compile of the whole program gave one dispatch.
struct ConfiguredDispatch {
  std::string name;        // the export's symbol
  Payload payload;         // "attributes" in JSON
  std::vector<int> marks;  // entries of a marking spec that match in it
};

// An entry of a tuning spec, as the compiler reads it.
struct SpecFileEntry {
  std::string matcher;
  int line = 0;     // 0: not known
  Payload payload;  // as far as the entry says it; "attributes" in JSON
};

void to_json(nlohmann::json& json, const SpecFileEntry& entry);
void from_json(const nlohmann::json& json, SpecFileEntry& entry);
void to_json(nlohmann::json& json, const ConfiguredDispatch& dispatch);
void from_json(const nlohmann::json& json, ConfiguredDispatch& dispatch);

}  // namespace hone::provider::jobs
