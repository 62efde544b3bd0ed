#include "problem/code_target.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/elf.h"
#include "base/ranges.h"

namespace hone::problem {
namespace {

constexpr std::uint16_t kMachineCuda = 190, kMachineAmd = 224;
constexpr unsigned char kCudaAbiOfFlags8 = 8;

// EF_AMDGPU_MACH_AMDGCN_*, the low byte of an AMD code object's flags.
struct Processor {
  std::uint8_t number;
  std::string_view name;
};
constexpr Processor kProcessors[] = {
    {0x2c, "gfx900"},  {0x2d, "gfx902"},  {0x2e, "gfx904"},  {0x2f, "gfx906"},  {0x30, "gfx908"},
    {0x31, "gfx909"},  {0x32, "gfx90c"},  {0x33, "gfx1010"}, {0x34, "gfx1011"}, {0x35, "gfx1012"},
    {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x39, "gfx1033"}, {0x3d, "gfx1035"},
    {0x3e, "gfx1034"}, {0x3f, "gfx90a"},  {0x40, "gfx940"},  {0x41, "gfx1100"}, {0x42, "gfx1013"},
    {0x43, "gfx1150"}, {0x44, "gfx1103"}, {0x45, "gfx1036"}, {0x46, "gfx1101"}, {0x47, "gfx1102"},
    {0x48, "gfx1200"}, {0x49, "gfx1250"}, {0x4a, "gfx1151"}, {0x4b, "gfx941"},  {0x4c, "gfx942"},
    {0x4e, "gfx1201"}, {0x4f, "gfx950"},  {0x55, "gfx1152"}, {0x58, "gfx1153"}};

std::string amd_name(std::uint32_t flags) {
  const auto number = static_cast<std::uint8_t>(flags & 0xff);
  for (const Processor& each : kProcessors)
    if (each.number == number) return std::string(each.name);
  return fmt::format("gfx?{:#04x}", number);
}

// 90 of "sm_90" and "sm_90a"; 0 of another name.
int capability(std::string_view target) {
  int number = 0;
  if (target.starts_with("sm_"))
    std::from_chars(target.data() + 3, target.data() + target.size(), number);
  return number;
}

}  // namespace

std::optional<std::string> code_target(std::string_view code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, code.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  if (header.e_machine == kMachineAmd) return amd_name(header.e_flags);
  if (header.e_machine != kMachineCuda) return std::nullopt;
  const int shift = header.e_ident[EI_ABIVERSION] >= kCudaAbiOfFlags8 ? 8 : 0;
  return fmt::format("sm_{}", (header.e_flags >> shift) & 0xff);
}

bool has_its_instructions(std::string_view processor, std::string_view made_for) {
  return processor == "gfx942" && (made_for == "gfx940" || made_for == "gfx941");
}

Result<std::string> for_processor(std::string_view code, std::string_view processor) {
  const std::string made_for = code_target(code).value_or("no GPU");
  std::string copy(code);
  if (made_for == processor) return copy;
  if (!has_its_instructions(processor, made_for))
    return failure("the code is for {}, whose instructions '{}' need not have", made_for,
                   processor);
  const auto number = std::ranges::find(kProcessors, processor, &Processor::name)->number;
  copy[offsetof(Elf64_Ehdr, e_flags)] = static_cast<char>(number);
  constexpr std::uint32_t kMetadata = 32;  // NT_AMDGPU_METADATA, which names it as text
  if (const auto elf = read_elf(code))
    if (const auto note = amdgpu_note(*elf, kMetadata))
      if (const std::size_t at = note->rfind(made_for); at != std::string_view::npos)
        copy.replace(to_index(note->data() - code.data()) + at, made_for.size(), processor);
  return copy;
}

Result<std::string> target_under_override(std::string_view target, std::string_view version) {
  if (version.empty() || !target.starts_with("gfx")) return std::string(target);
  std::array<int, 3> parts{};
  const char* at = version.data();
  const char* const end = version.data() + version.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto read = std::from_chars(at, end, parts[i]);
    const bool last = i + 1 == parts.size();
    const bool follows = last ? read.ptr == end : read.ptr != end && *read.ptr == '.';
    if (read.ec != std::errc() || !follows || parts[i] < 0 || (i > 0 && parts[i] > 15))
      return input_error(
          "HSA_OVERRIDE_GFX_VERSION is '{}'; it must be three numbers like 9.4.2 for gfx942",
          version);
    at = read.ptr + 1;
  }
  return fmt::format("gfx{}{:x}{:x}", parts[0], parts[1], parts[2]);
}

std::string override_for(std::string_view target) {
  if (!target.starts_with("gfx") || target.size() < 6) return {};
  const std::string_view major = target.substr(3, target.size() - 5);
  std::array<int, 2> digits{};
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const char* const digit = target.data() + target.size() - 2 + i;
    if (std::from_chars(digit, digit + 1, digits[i], 16).ec != std::errc()) return {};
  }
  return fmt::format("{}.{}.{}", major, digits[0], digits[1]);
}

Status check_code_target(std::string_view code, std::string_view target) {
  const std::optional<std::string> made_for = code_target(code);
  if (!made_for || *made_for == target) return {};
  const int theirs = capability(*made_for), ours = capability(target);
  if (theirs > 0 && theirs / 10 == ours / 10 && theirs <= ours) return {};
  return failure("the code is for {}, not for {}", *made_for, target);
}

}  // namespace hone::problem
