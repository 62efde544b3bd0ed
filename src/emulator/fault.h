// Faults: how a launch ends early on the emulated device.
#pragma once

#include <cstdint>
#include <string>

namespace hone::emulator {

enum class FaultKind {
  kUnknownInstruction,  // an opcode or modifier that the instruction table lacks
  kMemory,              // an address outside every allocation, or a write to read-only memory
  kLds,                 // an access beyond the workgroup's local memory
  kScratch,             // an access beyond a lane's private memory
  kInstructionLimit,    // the launch executed more instructions than its limit: a hang
  kRace,                // two waves, one address in local memory and no barrier between
  kTrap,                // s_trap: an assertion of the program failed
  kBadLaunch,           // sizes that the hardware refuses
};

// A fault is a value for programs (kind, address) and a sentence for people (words).
struct Fault {
  FaultKind kind;
  std::string words;
  std::uint64_t address = 0;  // accessed, for kMemory, kLds and kScratch
};

}  // namespace hone::emulator
