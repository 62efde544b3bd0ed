// A decoded instruction: what the text of the disassembler says, as typed values.
#pragma once

#include <array>
#include <cstdint>

namespace hone::emulator {

class Wave;
struct Instruction;

// Executes one instruction for a whole wave.
using Handler = void (*)(Wave&, const Instruction&);

// Registers of a wave by number. Vector registers 0 to 255 are v0 to v255, 256 to 511 are the
// accumulators a0 to a255.
constexpr int kAccumulators = 256;
constexpr int kLanes = 64;
// Scalar registers by the number that the encoding gives them (MI300 ISA, table "Scalar operands").
constexpr int kVcc = 106;
constexpr int kM0 = 124;
constexpr int kExec = 126;
constexpr int kScalars = 128;

struct Operand {
  enum class Kind : std::uint8_t {
    kNone,      // "off", or no such operand
    kVector,    // `index` is the first vector register
    kScalar,    // `index` is the first scalar register
    kConstant,  // `constant`
    kScc,       // the scalar condition code
  };
  Kind kind = Kind::kNone;
  std::uint8_t dwords = 1;
  std::uint16_t index = 0;
  std::uint64_t constant = 0;
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;  // SDWA: sext()
  std::uint8_t select = 6;   // SDWA: 0 to 3 a byte, 4 and 5 a half, 6 the dword
  bool modified() const { return negate || absolute; }
};

// Which lane each lane reads its first source from (DPP).
struct DppLanes {
  std::array<std::int8_t, kLanes> from{};     // -1: outside the row or the wave
  std::uint64_t enabled = ~std::uint64_t{0};  // by row_mask and bank_mask
  bool zero_outside = false;  // bound_ctrl: a lane without a source reads 0; else it is not written
};

// Which mode of rounding an instruction follows.
enum class RoundingClass : std::uint8_t { kNone, kSingle, kDouble };

struct Instruction {
  Handler run = nullptr;
  std::array<Operand, 2> destinations;
  std::array<Operand, 4> sources;
  const DppLanes* dpp = nullptr;

  std::uint64_t address = 0;  // in the code object
  std::uint64_t next = 0;     // address of the instruction after it
  std::uint32_t target = 0;   // index of the instruction that a branch leads to
  std::uint32_t offset =
      0;  // of memory: bytes, sign-extended to 32 bits; ds_*2: the first, in elements
  std::uint32_t offset1 = 0;  // ds_*2: the second
  std::uint32_t hwreg = 0;    // s_getreg, s_setreg: register | bit offset << 8 | bits << 16

  std::uint8_t op_sel = 0;     // bit i: source i's high half (bit 3: the destination's)
  std::uint8_t op_sel_hi = 0;  // packed: the high half of the result takes source i's high half
  std::uint8_t neg_lo = 0;
  std::uint8_t neg_hi = 0;
  std::uint8_t output_scale = 0;        // 1: times 2, 2: times 4, 3: by 2
  std::uint8_t destination_select = 6;  // SDWA, as Operand::select
  std::uint8_t destination_unused = 0;  // SDWA: 0 zeros, 1 sign, 2 preserved
  RoundingClass rounding = RoundingClass::kNone;
  bool clamp = false;
  bool writes_exec = false;  // v_cmpx
  bool offen = false;        // buffer: a lane's offset is added
  bool idxen = false;        // buffer: a lane's index is used
  bool to_lds = false;       // buffer_load ... lds
  bool returns = false;      // atomics: the value before goes to a register (sc0)
};

}  // namespace hone::emulator
