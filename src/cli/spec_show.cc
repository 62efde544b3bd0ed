// hone spec show: the entries of a spec in order, with origin and proof.
#include <algorithm>
#include <cctype>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/spec_entries_table.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "provider/iree/compile_worker.h"
#include "session/out_folder.h"
#include "session/toolchain.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct SpecShowOptions {
  ToolchainOptions toolchain;
  std::string spec;  // or a folder of --out
  bool with_defaults = false;
  bool json = false;
};

// A measured dispatch of results.json.
struct Measured {
  std::string dispatch;
  double speedup = 0;  // of its fastest candidate, over the default
};

// Reads results.json; without one nothing is known. Rows of another form are passed over.
Result<std::vector<Measured>> measured_in(const fs::path& file) {
  std::error_code code;
  if (!fs::exists(file, code)) return std::vector<Measured>();
  HONE_ASSIGN(const std::string text, read_file(file));
  const auto rows = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<Measured> measured;
  for (const nlohmann::json& row : rows.is_array() ? rows : nlohmann::json::array()) {
    if (!row.is_object() || !row.contains("dispatch") || !row["dispatch"].is_string() ||
        !row.contains("speedup") || !row["speedup"].is_number())
      continue;
    const auto name = row["dispatch"].get<std::string>();
    auto found = std::ranges::find(measured, name, &Measured::dispatch);
    if (found == measured.end()) found = measured.insert(found, {name, 0});
    found->speedup = std::max(found->speedup, row["speedup"].get<double>());
  }
  return measured;
}

// The dispatch that hone wrote the entry for: its matcher is @match_NUMBER_DISPATCH, with
// underscores for other characters.
const Measured* proof_of(const iree::MergedEntry& entry, const std::vector<Measured>& measured) {
  for (const Measured& each : measured) {
    std::string symbol = "_" + each.dispatch;
    for (char& c : symbol)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    const std::string_view matcher = entry.matcher;
    constexpr std::string_view kStart = "match_";
    if (!matcher.starts_with(kStart) || !matcher.ends_with(symbol)) continue;
    const std::string_view number =
        matcher.substr(kStart.size() - 1, matcher.size() - symbol.size() - kStart.size() + 1);
    if (std::ranges::count(number, '_') == 1) return &each;
  }
  return nullptr;
}

// A dispatch for any target: the compiler links its specs when it configures one.
constexpr const char* kProduct = R"mlir(
func.func @product(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
)mlir";

// Returns the compiler's own tuning spec for the target; empty if it has none.
Result<std::string> default_spec(const Toolchain& toolchain, const ToolchainOptions& options) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-spec-"));
  std::vector<std::string> flags = compile_flags(options);
  flags.emplace_back("--iree-codegen-enable-default-tuning-specs");
  flags.push_back("--iree-codegen-dump-tuning-specs-to=" + folder.path().string());
  HONE_TRY(toolchain.compiler().configured({"product.mlir", kProduct, flags}));
  for (const fs::directory_entry& dumped : fs::directory_iterator(folder.path()))
    return read_file(dumped.path());
  return std::string();
}

CommandResult show_spec(SpecShowOptions& options) {
  std::error_code code;
  OutFolder folder;
  if (fs::is_directory(options.spec, code)) {
    HONE_ASSIGN(folder, read_out_folder(options.spec));
    if (folder.spec.empty())
      return input_error("'{}' has no tuning spec: its {} names none", options.spec, kFlagsName);
  } else {
    folder.spec_path = options.spec;
    HONE_ASSIGN(folder.spec, read_file(options.spec));
  }
  const fs::path results = fs::path(folder.spec_path).parent_path() / "results.json";
  HONE_ASSIGN(const std::vector<Measured> measured, measured_in(results));
  HONE_ASSIGN(const Toolchain toolchain, Toolchain::start(options.toolchain));
  iree::SpecSources sources{{folder.spec_path}, {folder.spec}};
  std::string note;
  if (options.with_defaults) {
    const std::string target = options.toolchain.target;
    HONE_ASSIGN(std::string text, default_spec(toolchain, options.toolchain));
    if (text.empty()) {
      note = fmt::format("IREE has no tuning spec of its own for {}\n", target);
    } else {
      note = "IREE's own entries count under --iree-codegen-enable-default-tuning-specs\n";
      sources.paths.push_back(fmt::format("IREE's own for {}", target));
      sources.bytes.push_back(std::move(text));
    }
  }
  HONE_ASSIGN(const iree::MergedSpec spec, toolchain.compiler().ask(iree::kMergeSpecs, sources));

  nlohmann::json rows = entries_json(spec.entries);
  output::Table table({{"entry", "entry", output::kRight},
                       {"matches", "matches"},
                       {"state", "state"},
                       {"speedup", "alone", output::kRight},
                       {"origin", "from"},
                       {"lowering_config", "configuration"}});
  for (std::size_t i = 0; i < spec.entries.size(); ++i) {
    const iree::MergedEntry& entry = spec.entries[i];
    const Measured* const proof = proof_of(entry, measured);
    const std::optional<double> speedup =
        proof != nullptr ? std::optional(proof->speedup) : std::nullopt;
    rows[i]["speedup"] = speedup ? nlohmann::json(*speedup) : nlohmann::json();
    table.add({{i + 1, ""},
               {entry.matches, ""},
               {state_of(entry), ""},
               output::number_cell(speedup, "x", 2),
               {entry.origin, ""},
               {entry.lowering_config, entry.lowering_config.empty() ? "-" : ""}});
  }
  nlohmann::json kernels = nlohmann::json::array();
  for (const auto& [name, bytes] : folder.kernels) kernels.push_back(name);
  if (options.json) {
    output::print_document(
        {{"spec", folder.spec_path},
         {"entries", rows},
         {"kernels", kernels},
         {"flags", folder.flags},
         {"note", note},
         {"results", measured.empty() ? nlohmann::json() : nlohmann::json(results.string())}});
    return 0;
  }
  fmt::print("{}: {} entries, the first match wins\n\n{}", folder.spec_path, spec.entries.size(),
             table.to_text(output::screen_width()));
  fmt::print("{}", note);
  if (measured.empty())
    fmt::print("no measurement beside it: {} is missing\n", results.string());
  else
    fmt::print("alone: speedup of the dispatch's fastest candidate by itself, from {}\n",
               results.string());
  for (const nlohmann::json& kernel : kernels)
    fmt::print("kernel: {}\n", kernel.get<std::string>());
  if (!folder.flags.empty()) fmt::print("flags: {}\n", fmt::join(folder.flags, " "));
  return 0;
}

}  // namespace

void add_spec_show_command(CLI::App& spec, Action& run) {
  const auto [command, options] = add_command<SpecShowOptions>(
      spec, run, "show", "Show the entries of a spec in order: match, configuration, origin, proof",
      show_spec);
  command.add_option("SPEC", options.spec, "tuning spec (.mlir, .mlirbc) or folder of --out")
      ->required();
  add_toolchain_options(command, options.toolchain);
  command.add_flag("--defaults", options.with_defaults,
                   "add IREE's own entries for --target behind the spec's");
  command.add_flag("--json", options.json, "print one JSON document");
  command.footer(
      "Times come from the results.json beside the spec. hone spec check says what the\n"
      "entries do to a program.");
  command.allow_extras();
}

}  // namespace hone::cli
