#include "emulator/instruction_table.h"

#include <iterator>
#include <utility>

namespace hone::emulator {
namespace {

std::vector<TableEntry> all_units() {
  std::vector<TableEntry> all;
  for (std::vector<TableEntry> unit :
       {scalar_arithmetic(), scalar_control(), scalar_memory(), vector_integers(), vector_floats(),
        vector_conversions(), vector_compares(), packed(), cross_lane(), data_share(),
        vector_memory(), atomics(), matrix()}) {
    all.insert(all.end(), std::make_move_iterator(unit.begin()),
               std::make_move_iterator(unit.end()));
  }
  return all;
}

}  // namespace

const InstructionTable& instruction_table() {
  static const std::vector<TableEntry> entries = all_units();
  static const InstructionTable table = [] {
    InstructionTable by_name;
    for (const TableEntry& entry : entries) by_name.emplace(entry.name, entry.semantics);
    return by_name;
  }();
  return table;
}

}  // namespace hone::emulator
