#include "provider/iree/iree_spec_writer.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "problem/code_target.h"
#include "provider/code_object_metadata.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/spec/tuning_spec.h"
#include "provider/iree/vector/vector_provider.h"
#include "provider/ptx_kernel.h"

namespace hone::iree {
namespace {

// Writes the bytes of a dense attribute as MLIR does.
std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4U];
    text += kDigits[value & 15U];
  }
  return text;
}

// Reads hexadecimal text back into bytes; nothing if it is no such text.
std::optional<std::string> bytes_of(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    unsigned value = 0;
    const char* const end = text.data() + at + 2;
    if (std::from_chars(text.data() + at, end, value, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

// Between the two; nothing where one of them is missing.
std::optional<std::string> between(const std::string& text, std::string_view before,
                                   std::string_view behind) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + before.size(), end = text.find(behind, begin);
  if (end == std::string::npos) return std::nullopt;
  return text.substr(begin, end - begin);
}

}  // namespace

IreeSpecWriter::IreeSpecWriter(std::string version, std::string target, std::string_view flag)
    : SpecWriter({.spec_flag = std::string(flag),
                  .kernels_flag = std::string(kReplacedFlag),
                  .default_configuration = "lowering_config",
                  .default_translation = "translation_info"}),
      version_(std::move(version)),
      target_(std::move(target)) {}

Result<std::string> IreeSpecWriter::text_of(const std::vector<provider::SpecEntry>& entries) const {
  std::vector<TuningSpecEntry> rows;
  for (const provider::SpecEntry& entry : entries) {
    HONE_ASSIGN(const Attributes attributes, attributes_from(entry.payload));
    rows.push_back({entry.root, attributes.lowering_config, attributes.translation_info,
                    attributes.init_config, attributes.consumer_config, entry.name,
                    attributes.decomposition_config, attributes.sibling_config, entry.surrounding,
                    attributes.surrounding_configs, attributes.interchange, entry.only});
  }
  return tuning_spec_text(rows, fmt::format("Tuning spec made by hone for IREE {} on {}.\n"
                                            "Use: iree-compile {}",
                                            version_, target_, flag_of("THIS_FILE")));
}

bool IreeSpecWriter::same_class(const problem::Operation& a, const problem::Operation& b) const {
  return iree::same_spec_class(a, b);
}

std::string IreeSpecWriter::why_no_entry(const problem::Dispatch& dispatch) const {
  const Status matched = can_match(matched_root(dispatch.root, dispatch.surrounding));
  return matched ? std::string() : matched.error().message;
}

bool IreeSpecWriter::same_in_spec(const provider::Payload& a, const provider::Payload& b) const {
  Result<Attributes> one = attributes_from(a), other = attributes_from(b);
  if (!one || !other) return false;
  for (Attributes* each : {&*one, &*other}) {
    each->statement = -1;
    each->knobs.clear();
    each->options.clear();
  }
  return *one == *other;
}

Result<provider::Payload> IreeSpecWriter::as_compiled(const provider::Payload& payload,
                                                      const provider::Artifact& artifact) const {
  HONE_ASSIGN(Attributes attributes, attributes_from(payload));
  // Code of a store is without them. The spec then has hone's own words, which the compiler reads.
  if (artifact.more.json.is_null()) return payload;
  HONE_ASSIGN(const MadeTexts made, made_texts_from(artifact.more));
  attributes.lowering_config = artifact.configured;
  attributes.translation_info = made.translation;
  attributes.decomposition_config = made.decomposition;
  return payload_of(attributes);
}

Result<std::vector<provider::NamedText>> IreeSpecWriter::texts_in_ir(
    const provider::Payload& configured) const {
  HONE_ASSIGN(const Attributes attributes, attributes_from(configured));
  std::vector<provider::NamedText> texts{{"lowering_config", attributes.lowering_config},
                                         {"translation_info", attributes.translation_info}};
  if (!attributes.decomposition_config.empty())
    texts.push_back({"decomposition_config", attributes.decomposition_config});
  return texts;
}

std::vector<std::string> IreeSpecWriter::with_spec(std::vector<std::string> flags,
                                                   const std::filesystem::path& file) const {
  flags.push_back(flag_of(file));
  // The text of a pass pipeline has no way to write such a path.
  if (file.string().find_first_of("{}") != std::string::npos) return flags;
  // The first dispatch that wants a spec reads it under a lock (IREECodegenLibraryManager.cpp of
  // IREE 3.13). Its verifier then waits for the threads of the compiler, and while it waits it may
  // begin with another dispatch, which wants the lock that it holds itself. What was read once is
  // kept by its path, so a pass that reads it while nothing else runs prevents that.
  const std::string preload = fmt::format(
      "iree-codegen-materialize-tuning-specs{{tuning-spec-path={{{}}}}}", file.string());
  constexpr std::string_view kPipeline = "--iree-preprocessing-pass-pipeline=builtin.module(";
  // The compiler takes the last of several.
  const auto own = std::find_if(flags.rbegin(), flags.rend(), [&](const std::string& flag) {
    return flag.starts_with(kPipeline) && flag.ends_with(')');
  });
  if (own == flags.rend())
    flags.push_back(fmt::format("{}{})", kPipeline, preload));
  else
    own->insert(kPipeline.size(), own->size() == kPipeline.size() + 1 ? preload : preload + ",");
  return flags;
}

// Finds fields by text, since hone writes the file itself. The compiler checks their meaning.
Result<provider::ReplacingKernel> IreeSpecWriter::read_replaced(const std::string& text) const {
  if (const auto entry = between(text, "hal.executable.export public @\"", "\"")) {
    const auto layout = between(text, "layout(", ") count(");
    if (layout) return provider::ReplacingKernel{*entry, *layout, {}};
  }
  const auto dispatch = between(text, "sym_name = \"", "\"");
  const auto launch = between(text, "layout = ", ",\n");
  const auto code = between(text, "dense<\"0x", "\"");
  auto bytes = code ? bytes_of(*code) : std::nullopt;
  if (!dispatch || !launch || !bytes)
    return input_error("this is no kernel as hone writes them for the place of another");
  if (!problem::code_target(*bytes) && bytes->ends_with('\0')) bytes->pop_back();  // PTX's end
  return provider::ReplacingKernel{*dispatch, *launch, *std::move(bytes)};
}

namespace {

// Facts of a finished variant.
struct Variant {
  std::string_view name, target, ending;
  std::string code;        // as the runtime gives it to the driver
  int subgroup_size = 32;  // of the kernel
};

Result<Variant> variant_of(const problem::Dispatch& dispatch, const std::string& code, bool amd) {
  // The driver reads PTX up to its terminating zero.
  Variant variant{"cuda_nvptx_fb", R"("cuda", "cuda-nvptx-fb")", "ptx", code + '\0'};
  if (!amd && provider::ptx_kernel(code, dispatch.name)) return variant;
  const auto kernels = provider::code_object_kernels(code);
  const auto found = std::ranges::find(kernels, provider::symbol_in_code(dispatch.name),
                                       &provider::CodeObjectKernel::name);
  if (found == kernels.end())
    return failure("the replacement of '{}' has no kernel of that name", dispatch.name);
  return Variant{"rocm_hsaco_fb", R"("rocm", "rocm-hsaco-fb")", "hsaco", code,
                 found->subgroup_size};
}

}  // namespace

Result<provider::ReplacedExecutable> IreeSpecWriter::replaced(const problem::Dispatch& dispatch,
                                                              const provider::Payload& payload,
                                                              const std::string& code,
                                                              const problem::Launch& launch) const {
  if (is_vector_payload(payload)) {
    HONE_ASSIGN(std::string text,
                vector_executable(dispatch.statement, payload, dispatch.executable));
    return provider::ReplacedExecutable{dispatch.executable, std::move(text)};
  }
  const std::string layout = dispatch.statement ? dispatch.statement->layout : "";
  if (layout.empty())
    return failure("how '{}' is launched is not stated: no kernel can take its place",
                   dispatch.name);
  HONE_ASSIGN(const Variant variant, variant_of(dispatch, code, target_.starts_with("gfx")));
  // The attributes that say how it is launched have no place in the short form of the export.
  std::string text = fmt::format(
      R"mlir(// In the place of {name}.
hal.executable private @"{executable}" {{
  hal.executable.variant public @{variant} target(<{target}>) objects([
    #hal.executable.object<{{path = "{executable}.{ending}", data = dense<"0x{code}"> : vector<{bytes}xi8>}}>
  ]) {{
    "hal.executable.export"() <{{sym_name = "{name}", ordinal = 0 : index, layout = {layout},
      workgroup_size = [{bx} : index, {by} : index, {bz} : index], subgroup_size = {subgroup} : index,
      workgroup_local_memory = {shared} : index}}> ({{
    ^bb0(%device: !hal.device):
      %x = arith.constant {gx} : index
      %y = arith.constant {gy} : index
      %z = arith.constant {gz} : index
      hal.return %x, %y, %z : index, index, index
    }}, {{}}) : () -> ()
  }}
}}
)mlir",
      fmt::arg("name", dispatch.name), fmt::arg("executable", dispatch.executable),
      fmt::arg("variant", variant.name), fmt::arg("target", variant.target),
      fmt::arg("ending", variant.ending), fmt::arg("code", hexadecimal(variant.code)),
      fmt::arg("bytes", variant.code.size()), fmt::arg("layout", layout),
      fmt::arg("bx", launch.block[0]), fmt::arg("by", launch.block[1]),
      fmt::arg("bz", launch.block[2]), fmt::arg("subgroup", variant.subgroup_size),
      fmt::arg("shared", launch.shared_bytes), fmt::arg("gx", launch.grid[0]),
      fmt::arg("gy", launch.grid[1]), fmt::arg("gz", launch.grid[2]));
  return provider::ReplacedExecutable{dispatch.executable, std::move(text)};
}

std::optional<std::filesystem::path> IreeSpecWriter::take_spec(
    std::vector<std::string>& flags) const {
  std::optional<std::filesystem::path> spec;
  for (const std::string_view name : {kCudaSpecFlag, kSpecFlag})
    std::erase_if(flags, [&](const std::string& flag) {
      if (!flag.starts_with(name)) return false;
      spec = flag.substr(name.size());
      return true;
    });
  if (!spec) return spec;
  // with_spec() adds more than the flag.
  const std::vector<std::string> added = with_spec({}, *spec);
  std::erase_if(flags,
                [&](const std::string& flag) { return std::ranges::count(added, flag) > 0; });
  return spec;
}

}  // namespace hone::iree
