#include "provider/iree/replaced_executable.h"

#include <charconv>
#include <optional>

#include "provider/iree/compiler/compiler_session.h"
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

// Reads hexadecimal text back into bytes and drops their terminating zero. Nothing if the text is
// not hexadecimal or has no such zero.
std::optional<std::string> bytes_of(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    unsigned value = 0;
    const char* const end = text.data() + at + 2;
    if (std::from_chars(text.data() + at, end, value, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  if (!bytes.ends_with('\0')) return std::nullopt;
  bytes.pop_back();
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

std::string layout_of(const problem::Dispatch& dispatch) {
  return dispatch.statement ? dispatch.statement->layout : std::string();
}

// Finds fields by text, since hone writes the file itself. The compiler checks their meaning.
Result<provider::ReplacingKernel> read_replaced_executable(const std::string& text) {
  const auto dispatch = between(text, "sym_name = \"", "\"");
  const auto launch = between(text, "layout = ", ",\n");
  const auto code = between(text, "dense<\"0x", "\"");
  const auto bytes = code ? bytes_of(*code) : std::nullopt;
  if (!dispatch || !launch || !bytes)
    return input_error("this is no kernel as hone writes them for the place of another");
  return provider::ReplacingKernel{*dispatch, *launch, *bytes};
}

Result<provider::ReplacedExecutable> replaced_executable(const problem::Dispatch& dispatch,
                                                         const std::string& ptx,
                                                         const problem::Launch& launch) {
  const std::string layout = layout_of(dispatch);
  if (layout.empty())
    return failure("how '{}' is launched is not stated: no kernel can take its place",
                   dispatch.name);
  if (!provider::ptx_kernel(ptx, dispatch.name))
    return failure("the replacement of '{}' has no kernel of that name", dispatch.name);
  // The driver reads PTX up to its terminating zero.
  const std::string code = ptx + '\0';
  // The attributes that say how it is launched have no place in the short form of the export.
  std::string text = fmt::format(
      R"mlir(// In the place of {name}.
hal.executable private @{executable} {{
  hal.executable.variant public @cuda_nvptx_fb target(<"cuda", "cuda-nvptx-fb">) objects([
    #hal.executable.object<{{path = "{executable}.ptx", data = dense<"0x{code}"> : vector<{bytes}xi8>}}>
  ]) {{
    "hal.executable.export"() <{{sym_name = "{name}", ordinal = 0 : index, layout = {layout},
      workgroup_size = [{bx} : index, {by} : index, {bz} : index], subgroup_size = 32 : index,
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
      fmt::arg("code", hexadecimal(code)), fmt::arg("bytes", code.size()),
      fmt::arg("layout", layout), fmt::arg("bx", launch.block[0]), fmt::arg("by", launch.block[1]),
      fmt::arg("bz", launch.block[2]), fmt::arg("shared", launch.shared_bytes),
      fmt::arg("gx", launch.grid[0]), fmt::arg("gy", launch.grid[1]),
      fmt::arg("gz", launch.grid[2]));
  return provider::ReplacedExecutable{dispatch.executable, std::move(text)};
}

std::string replaced_executables_flag(const std::filesystem::path& folder) {
  return std::string(kReplacedFlag) + folder.string();
}

}  // namespace hone::iree
