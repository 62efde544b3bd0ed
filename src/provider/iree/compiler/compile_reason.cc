#include "provider/iree/compiler/compile_reason.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>

namespace hone::iree {
namespace {

// The integer between `before` and `after`, where the text has both around one.
std::optional<std::int64_t> number_between(std::string_view text, std::string_view before,
                                           std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(begin + before.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() ||
      !rest.substr(static_cast<std::size_t>(end - rest.data())).starts_with(after))
    return std::nullopt;
  return number;
}

// LLVMCPUCheckIRBeforeLLVMConversion and GPUCheckResourceUsage report the size of the code's demand
// and the limit. "failed to distribute" means that a GPU pipeline's vector distribution found no
// layout.
std::string known_reason(std::string_view text) {
  const auto stack = number_between(text, "bytes for function. Got ", " bytes");
  const auto stack_limit = number_between(text, "exceeded stack allocation limit of ", " bytes");
  if (stack && stack_limit) return fmt::format("stack {} B, limit {} B", *stack, *stack_limit);
  // LLVMCPUVerifyVectorSizeLegality.
  if (const auto vectors =
          number_between(text, "operations with large vector sizes (", " bytes) were found"))
    return fmt::format("vectors of more than {} B", *vectors);
  const auto shared = number_between(text, " op uses ", " bytes of shared memory");
  const auto shared_limit =
      number_between(text, "bytes of shared memory; exceeded the limit of ", " bytes");
  if (shared && shared_limit)
    return fmt::format("shared memory {} B, limit {} B", *shared, *shared_limit);
  if (text.find("op failed to distribute\n") != std::string_view::npos ||
      text.ends_with("op failed to distribute"))
    return "no vector layout: the compiler cannot distribute it over threads";
  return {};
}

// Removes "dispatch:16:9: ".
std::string_view without_place(std::string_view text) {
  constexpr std::string_view kSource = "dispatch:";
  if (!text.starts_with(kSource)) return text;
  const std::size_t end = text.find_first_not_of("0123456789:", kSource.size());
  return end == std::string_view::npos || text[end] != ' ' ? text : text.substr(end + 1);
}

}  // namespace

std::string with_reason(std::string_view diagnostics) {
  const std::string reason = known_reason(diagnostics);
  if (reason.empty()) return std::string(without_place(diagnostics));
  return fmt::format("{}\n{}", reason, diagnostics);
}

std::string reason_in_program(std::string_view message) {
  if (std::string reason = known_reason(message); !reason.empty()) return reason;
  constexpr std::string_view kLinker = "lld: error: ", kHeading = "IREE cannot compile";
  if (const std::size_t at = message.find(kLinker); at != std::string_view::npos)
    message.remove_prefix(at + kLinker.size());
  else if (const std::size_t end = message.find('\n');
           message.starts_with(kHeading) && end != std::string_view::npos)
    message.remove_prefix(end + 1);
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace hone::iree
