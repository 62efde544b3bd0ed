#include "emulator/race_watch.h"

#include <fmt/format.h>

#include <bit>

namespace hone::emulator {
namespace {

const char* verb(Access access) {
  switch (access) {
    case Access::kRead:
      return "reads";
    case Access::kWrite:
    case Access::kRewrite:
      return "writes";
    case Access::kAtomic:
      return "updates";
  }
  return "";
}

}  // namespace

std::optional<std::string> RaceWatch::note(int wave, std::uint64_t offset, std::size_t bytes,
                                           Access access) {
  const auto own = static_cast<std::uint16_t>(1u << wave);
  for (std::size_t at = static_cast<std::size_t>(offset); at < offset + bytes; ++at) {
    Cell& cell = cells_[at];
    if (cell.epoch != epoch_) cell = {epoch_, 0, 0, 0};
    const auto others = [&](std::uint16_t waves) {
      return static_cast<std::uint16_t>(waves & ~own);
    };
    // A wave that wrote the byte itself reads its own value: a different one would have been a race
    // before.
    const bool own_value = access == Access::kRead && (cell.writers & own) != 0;
    std::uint16_t writers =
        access == Access::kRewrite || own_value ? std::uint16_t{0} : others(cell.writers);
    if (access != Access::kAtomic)
      writers = static_cast<std::uint16_t>(writers | others(cell.updaters));
    const bool changes = access == Access::kWrite || access == Access::kAtomic;
    const std::uint16_t readers = changes ? others(cell.readers) : std::uint16_t{0};
    if (writers != 0 || readers != 0) {
      return fmt::format(
          "race in local memory: wave {} {} offset {}, which wave {} {} since the last barrier",
          wave, verb(access), at, std::countr_zero(writers != 0 ? writers : readers),
          writers != 0 ? "wrote" : "read");
    }
    std::uint16_t& mine = access == Access::kRead     ? cell.readers
                          : access == Access::kAtomic ? cell.updaters
                                                      : cell.writers;
    mine = static_cast<std::uint16_t>(mine | own);
  }
  return std::nullopt;
}

}  // namespace hone::emulator
