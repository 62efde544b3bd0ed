// A wave whose registers a test sets and reads, and which runs lines as the disassembler prints
// them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/program.h"
#include "emulator/wave.h"

namespace hone::emulator {

inline std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline float number(std::uint32_t value) {
  return std::bit_cast<float>(value);
}
inline std::uint32_t half(float value) {
  return float_to_half(value);
}
inline std::uint32_t halves(float low, float high) {
  return half(low) | half(high) << 16;
}

class OneWave {
 public:
  OneWave() : wave_(std::make_unique<Wave>()), lds_(1024) {
    wave_->scalar.fill(0);
    for (Wave::Register& reg : wave_->vector) reg.fill(0);
    wave_->set_scalar64(kExec, ~std::uint64_t{0});
    wave_->mode = 0xf0;  // subnormals are kept
    wave_->memory = &memory_;
    wave_->lds = &lds_;
  }

  Wave& operator*() { return *wave_; }
  Wave* operator->() { return wave_.get(); }
  Memory& memory() { return memory_; }
  Lds& lds() { return lds_; }

  std::uint32_t& s(std::size_t index) { return wave_->scalar[index]; }
  std::uint64_t s64(int index) { return wave_->scalar64(index); }
  std::uint32_t& v(std::size_t index, std::size_t lane = 0) { return wave_->vector[index][lane]; }
  std::uint64_t v64(std::size_t index, std::size_t lane = 0) {
    return v(index, lane) | std::uint64_t{v(index + 1, lane)} << 32;
  }
  void set_v(std::size_t index, std::uint32_t value) { wave_->vector[index].fill(value); }
  void set_v64(std::size_t index, std::uint64_t value) {
    set_v(index, static_cast<std::uint32_t>(value));
    set_v(index + 1, static_cast<std::uint32_t>(value >> 32));
  }
  std::uint32_t lds_dword(std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, lds_.data() + offset, 4);
    return value;
  }
  void set_lds_dword(std::size_t offset, std::uint32_t value) {
    std::memcpy(lds_.data() + offset, &value, 4);
  }

  // Runs the lines, each as long as one dword, until the last one or a state other than running.
  void run_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (std::size_t at = 0; at < lines.size(); ++at)
      text += fmt::format("\t{} // {:012X}: 00000000\n", lines[at], 4 * at);
    Result<Program> program = Program::decode(text);
    ASSERT_TRUE(program.has_value());
    for (const auto& [name, count] : program->unknown()) ADD_FAILURE() << "unknown: " << name;
    wave_->next = 0;
    wave_->state = Wave::State::kRunning;
    while (wave_->state == Wave::State::kRunning && wave_->next < lines.size()) {
      const Instruction& instruction = program->instructions()[wave_->next++];
      wave_->execute(instruction);
      if (wave_->state == Wave::State::kJumping) {
        wave_->next = program->index_at(wave_->jump_to).value_or(0);
        wave_->state = Wave::State::kRunning;
      }
    }
  }
  void run(const std::string& line) { run_lines({line}); }

 private:
  std::unique_ptr<Wave> wave_;
  Memory memory_;
  Lds lds_;
};

}  // namespace hone::emulator
