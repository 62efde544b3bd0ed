// plant_faults STORE: changes one instruction in the code object of each candidate that is not a
// default, so that it computes something else. Prints "CANDIDATE KIND: INSTRUCTION" for each.
// Kinds of faults take turns. Exit status: 0, or 2 if the store cannot be changed.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/elf.h"
#include "emulator/code_object.h"
#include "store/store.h"

namespace hone {
namespace {

constexpr std::uint32_t kNop = 0xBF800000;  // s_nop 0

struct Fault {
  std::string_view kind;
  std::vector<std::string_view> mnemonics;  // any of them
  std::uint32_t flipped = 0;                // bits of the first dword; 0: s_nop replaces it
  bool all = false;                         // such instructions, not the first alone
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      {"store dropped", {"global_store", "buffer_store"}},
      {"matrix instruction dropped", {"v_mfma"}},
      {"local write dropped", {"ds_write"}},
      // The first one may wait for nothing.
      {"barriers dropped", {"s_barrier"}, 0, /*all=*/true},
      {"local read moved by 16 bytes", {"ds_read_b64", "ds_read_b128", "ds_read_u16"}, 16},
      // The first one may scale a sum that is zero.
      {"exponentials dropped", {"v_exp_f32"}, 0, /*all=*/true},
  };
  return kFaults;
}

std::optional<std::size_t> file_offset(std::string_view file, std::uint64_t address) {
  const auto elf = read_elf(file);
  if (!elf) return std::nullopt;
  for (const ElfSegment& segment : elf->segments)
    if (segment.type == PT_LOAD && address >= segment.address &&
        address < segment.address + segment.bytes.size())
      return static_cast<std::size_t>(segment.bytes.data() - file.data()) +
             (address - segment.address);
  return std::nullopt;
}

void change(char* at, std::uint64_t bytes, const Fault& fault) {
  if (fault.flipped == 0) {
    for (std::uint64_t byte = 0; byte + 4 <= bytes; byte += 4) std::memcpy(at + byte, &kNop, 4);
    return;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  word ^= fault.flipped;
  std::memcpy(at, &word, sizeof word);
}

// Returns the text of the first changed instruction; nullopt if there is none of the kind.
std::optional<std::string> plant(std::string& file, const Fault& fault) {
  const auto code = emulator::read_code_object(std::as_bytes(std::span(file)));
  if (!code) return std::nullopt;
  const emulator::Program& program = code->program();
  const auto& instructions = program.instructions();
  std::optional<std::string> changed;
  for (std::uint32_t i = 0; i + 1 < instructions.size(); ++i) {
    const std::string text(program.text(i));
    const auto is_named = [&](std::string_view name) { return text.starts_with(name); };
    if (std::ranges::none_of(fault.mnemonics, is_named)) continue;
    const auto offset = file_offset(file, instructions[i].address);
    if (!offset) continue;
    change(file.data() + *offset, instructions[i + 1].address - instructions[i].address, fault);
    if (!changed) changed = text;
    if (!fault.all) break;
  }
  return changed;
}

std::int64_t threads_of(const store::ArtifactRow& artifact) {
  const auto launch = nlohmann::json::parse(artifact.launch, nullptr, false);
  std::int64_t threads = 1;
  for (const auto& extent : launch.value("block", nlohmann::json::array()))
    threads *= extent.get<std::int64_t>();
  return threads;
}

Status plant_all(const char* path) {
  HONE_ASSIGN(store::Store store, store::Store::open(path, store::Mode::kReadWrite));
  HONE_ASSIGN(const std::vector<store::CandidateView> rows, store.candidate_rows());
  std::set<std::string> seen;  // equal code is verified once
  for (const store::CandidateView& row : rows)
    if (row.is_default) seen.insert(row.identity);
  std::size_t turn = 0;
  for (const store::CandidateView& row : rows) {
    if (row.is_default || !row.format.ends_with("hsaco") || !seen.insert(row.identity).second)
      continue;
    HONE_ASSIGN(store::ArtifactRow artifact, store.load_artifact(row.candidate));
    for (std::size_t next = 0; next < faults().size(); ++next) {
      const Fault& fault = faults()[(turn + next) % faults().size()];
      // A workgroup of one wave waits for nobody.
      if (fault.mnemonics.front() == "s_barrier" && threads_of(artifact) <= 64) continue;
      const auto changed = plant(artifact.code, fault);
      if (!changed) continue;
      HONE_TRY(store.record(artifact));
      fmt::print("{} {}: {}\n", row.candidate, fault.kind, *changed);
      turn += next + 1;
      break;
    }
  }
  return {};
}

}  // namespace
}  // namespace hone

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: plant_faults STORE\n");
    return 2;
  }
  const hone::Status planted = hone::plant_all(arguments[1]);
  if (!planted) fmt::print(stderr, "{}\n", planted.error().message);
  return planted ? 0 : 2;
}
