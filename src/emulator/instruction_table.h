// The instruction table: for each mnemonic its handler and the shape of its operands.
//
// The table is written by hand, a file for each unit, and names the source of the semantics of each
// group: "MI300 ISA" is AMD Instinct MI300 Instruction Set Architecture (CDNA3), "LLVM" is
// AMDGPUUsage and lib/Target/AMDGPU.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/instruction.h"

namespace hone::emulator {

// How the constant of an operand becomes bits.
enum class ConstantForm : std::uint8_t {
  k32,         // a float constant is f32
  k16,         // a float constant is f16
  kInteger64,  // sign-extended; a float constant is f64
  kFloat64,    // f64; a literal is its high 32 bits
  kPair32,     // f32 in each half of a packed f32 operand
};

struct Semantics {
  Handler run = nullptr;
  int destinations = 0;
  std::array<ConstantForm, 4> forms{};  // of the sources
  RoundingClass rounding = RoundingClass::kNone;
  bool atomic = false;            // sc0 adds a destination in front
  bool writes_exec = false;       // v_cmpx: the condition goes to EXEC too
  bool ignores_operands = false;  // s_waitcnt, s_nop and the like
};

struct TableEntry {
  std::string name;  // without _e32, _e64, _dpp, _sdwa; with " clamp" for a form of its own
  Semantics semantics;
};

using InstructionTable = std::unordered_map<std::string_view, Semantics>;

// The whole table. Thread-safe.
const InstructionTable& instruction_table();

// The units of the table, in the order of the ISA's chapters.
std::vector<TableEntry> scalar_arithmetic();
std::vector<TableEntry> scalar_control();
std::vector<TableEntry> scalar_memory();
std::vector<TableEntry> vector_integers();
std::vector<TableEntry> vector_floats();
std::vector<TableEntry> vector_conversions();
std::vector<TableEntry> vector_compares();
std::vector<TableEntry> packed();
std::vector<TableEntry> cross_lane();
std::vector<TableEntry> data_share();
std::vector<TableEntry> vector_memory();
std::vector<TableEntry> atomics();
std::vector<TableEntry> matrix();

}  // namespace hone::emulator
