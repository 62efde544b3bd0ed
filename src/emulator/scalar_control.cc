// Program flow, MODE, barriers and waits: SOPP and the rest of SOP1 and SOPK; scalar memory (SMEM).
#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "emulator/instruction_table.h"
#include "emulator/wave.h"

namespace hone::emulator {
namespace {

// A branch to the instruction's target under a condition of the wave.
template <class Test>
constexpr Semantics branch_if(Test) {
  return {[](Wave& wave, const Instruction& i) {
            if (Test{}(wave)) wave.next = i.target;
          },
          0};
}

// Caches, counters and scheduling, which functions do not depend on here: loads and stores end at
// once.
constexpr Semantics no_effect() {
  Semantics semantics{[](Wave&, const Instruction&) {}, 0};
  semantics.ignores_operands = true;
  return semantics;
}

// Hardware registers that s_getreg and s_setreg name (LLVM, AMDGPUUsage: hwreg).
constexpr std::uint32_t kModeRegister = 1;

void set_register(Wave& wave, const Instruction& i, std::uint32_t value) {
  if ((i.hwreg & 0xff) != kModeRegister) {
    wave.fail(FaultKind::kUnknownInstruction,
              fmt::format("s_setreg of hardware register {}", i.hwreg & 0xff));
    return;
  }
  const std::uint32_t offset = i.hwreg >> 8 & 0xff;
  const std::uint32_t bits = i.hwreg >> 16;
  const std::uint32_t mask = (bits >= 32 ? ~0u : (1u << bits) - 1) << offset;
  wave.mode = (wave.mode & ~mask) | (value << offset & mask);
}

void get_register(Wave& wave, const Instruction& i) {
  std::uint32_t value = 0;
  switch (i.hwreg & 0xff) {
    case kModeRegister:
      value = wave.mode;
      break;
    case 4:   // HW_ID and
    case 20:  // XCC_ID: everything runs on the first unit
      break;
    default:
      wave.fail(FaultKind::kUnknownInstruction,
                fmt::format("s_getreg of hardware register {}", i.hwreg & 0xff));
      return;
  }
  const std::uint32_t bits = i.hwreg >> 16;
  wave.scalar[i.destinations[0].index] =
      value >> (i.hwreg >> 8 & 0xff) & (bits >= 32 ? ~0u : (1u << bits) - 1);
}

// s_load: dwords from an address that is aligned to one dword; the offset is a constant or a
// register.
template <int Dwords>
constexpr Semantics scalar_load() {
  return {[](Wave& wave, const Instruction& i) {
            const std::uint64_t offset = std::uint64_t{wave.value32(i.sources[1])};
            const bool is_constant = i.sources[1].kind == Operand::Kind::kConstant;
            // Constants are 21 bits with a sign, registers without.
            const std::uint64_t signed_offset =
                is_constant ? static_cast<std::uint64_t>(
                                  static_cast<std::int64_t>(static_cast<std::int32_t>(offset)))
                            : offset;
            const std::uint64_t more = static_cast<std::uint64_t>(
                static_cast<std::int64_t>(static_cast<std::int32_t>(i.offset)));
            const std::uint64_t address =
                (wave.value64(i.sources[0]) + signed_offset + more) & ~std::uint64_t{3};
            const auto first = static_cast<std::size_t>(i.destinations[0].index);
            for (std::size_t dword = 0; dword < Dwords; ++dword) {
              const std::byte* from = wave.at(address + 4 * dword, 4, false);
              if (from == nullptr) return;
              std::memcpy(&wave.scalar[first + dword], from, 4);
            }
          },
          1,
          {ConstantForm::kInteger64}};
}

// s_buffer_load: the same from a buffer; dwords beyond its end are 0.
template <int Dwords>
constexpr Semantics scalar_buffer_load() {
  return {[](Wave& wave, const Instruction& i) {
            const auto descriptor = static_cast<std::size_t>(i.sources[0].index);
            const std::uint64_t base = wave.scalar64(i.sources[0].index) & 0xffffffffffff;
            const std::uint32_t stride = wave.scalar[descriptor + 1] >> 16 & 0x3fff;
            const std::uint64_t bytes =
                std::uint64_t{wave.scalar[descriptor + 2]} * (stride == 0 ? 1 : stride);
            const std::uint64_t offset =
                (std::uint64_t{wave.value32(i.sources[1])} + i.offset) & ~std::uint64_t{3};
            const auto first = static_cast<std::size_t>(i.destinations[0].index);
            for (std::size_t dword = 0; dword < Dwords; ++dword) {
              std::uint32_t value = 0;
              if (offset + 4 * dword + 4 <= bytes) {
                const std::byte* from = wave.at(base + offset + 4 * dword, 4, false);
                if (from == nullptr) return;
                std::memcpy(&value, from, 4);
              }
              wave.scalar[first + dword] = value;
            }
          },
          1};
}

void jump(Wave& wave, std::uint64_t host_address) {
  wave.jump_to = host_address - wave.code_base;
  wave.state = Wave::State::kJumping;
}

// Cycles of a fictional clock: one for each instruction.
constexpr Semantics clock() {
  return {[](Wave& wave, const Instruction& i) {
            wave.set_scalar64(i.destinations[0].index, wave.executed);
          },
          1};
}

}  // namespace

std::vector<TableEntry> scalar_control() {
  return {
      // SOPP (MI300 ISA, section "SOPP Instructions")
      {"s_endpgm", {[](Wave& w, const Instruction&) { w.state = Wave::State::kEnded; }, 0}},
      {"s_barrier", {[](Wave& w, const Instruction&) { w.state = Wave::State::kAtBarrier; }, 0}},
      {"s_branch", branch_if([](const Wave&) { return true; })},
      {"s_cbranch_scc0", branch_if([](const Wave& w) { return !w.scc; })},
      {"s_cbranch_scc1", branch_if([](const Wave& w) { return w.scc; })},
      {"s_cbranch_vccz", branch_if([](const Wave& w) { return w.scalar64(kVcc) == 0; })},
      {"s_cbranch_vccnz", branch_if([](const Wave& w) { return w.scalar64(kVcc) != 0; })},
      {"s_cbranch_execz", branch_if([](const Wave& w) { return w.exec() == 0; })},
      {"s_cbranch_execnz", branch_if([](const Wave& w) { return w.exec() != 0; })},
      {"s_trap",
       {[](Wave& w, const Instruction& i) {
          w.fail(FaultKind::kTrap,
                 fmt::format("s_trap {}: the kernel stopped itself", i.sources[0].constant));
        },
        0}},
      {"s_nop", no_effect()},
      {"s_waitcnt", no_effect()},
      {"s_sleep", no_effect()},
      {"s_setprio", no_effect()},
      {"s_sethalt", no_effect()},
      {"s_set_gpr_idx_off", no_effect()},
      {"s_icache_inv", no_effect()},
      {"s_dcache_inv", no_effect()},
      {"s_dcache_inv_vol", no_effect()},
      {"s_dcache_wb", no_effect()},
      {"s_dcache_wb_vol", no_effect()},
      {"buffer_inv", no_effect()},
      {"buffer_wbl2", no_effect()},
      // SOP1: addresses of code are those of the image in memory
      {"s_getpc_b64",
       {[](Wave& w, const Instruction& i) {
          w.set_scalar64(i.destinations[0].index, w.code_base + i.next);
        },
        1}},
      {"s_setpc_b64", {[](Wave& w, const Instruction& i) { jump(w, w.value64(i.sources[0])); }, 0}},
      {"s_swappc_b64",
       {[](Wave& w, const Instruction& i) {
          jump(w, w.value64(i.sources[0]));
          w.set_scalar64(i.destinations[0].index, w.code_base + i.next);
        },
        1}},
      {"s_call_b64",
       {[](Wave& w, const Instruction& i) {
          w.set_scalar64(i.destinations[0].index, w.code_base + i.next);
          w.next = i.target;
        },
        1}},
      // SOPK: MODE (MI300 ISA, "MODE register fields")
      {"s_setreg_b32",
       {[](Wave& w, const Instruction& i) { set_register(w, i, w.value32(i.sources[0])); }, 0}},
      {"s_setreg_imm32_b32",
       {[](Wave& w, const Instruction& i) { set_register(w, i, w.value32(i.sources[0])); }, 0}},
      {"s_getreg_b32", {get_register, 1}},
  };
}

std::vector<TableEntry> scalar_memory() {
  return {
      // SMEM (MI300 ISA, section "SMEM Instructions")
      {"s_load_dword", scalar_load<1>()},
      {"s_load_dwordx2", scalar_load<2>()},
      {"s_load_dwordx4", scalar_load<4>()},
      {"s_load_dwordx8", scalar_load<8>()},
      {"s_load_dwordx16", scalar_load<16>()},
      {"s_buffer_load_dword", scalar_buffer_load<1>()},
      {"s_buffer_load_dwordx2", scalar_buffer_load<2>()},
      {"s_buffer_load_dwordx4", scalar_buffer_load<4>()},
      {"s_buffer_load_dwordx8", scalar_buffer_load<8>()},
      {"s_buffer_load_dwordx16", scalar_buffer_load<16>()},
      {"s_memtime", clock()},
      {"s_memrealtime", clock()},
  };
}

}  // namespace hone::emulator
