// Decoding: what the text of the disassembler becomes, and what happens to what the table lacks.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "emulator/instruction_table.h"
#include "tests/emulator/one_wave.h"

namespace hone::emulator {
namespace {

std::vector<std::string> census() {
  std::ifstream file(std::string(HONE_SOURCE_DIR) + "/tests/emulator/census.txt");
  std::vector<std::string> names;
  for (std::string name; std::getline(file, name);) names.push_back(name);
  return names;
}

TEST(InstructionTable, HasTheCensusOfCompiledModules) {
  EXPECT_EQ(census().size(), 179u);
  for (const std::string& name : census()) EXPECT_TRUE(instruction_table().contains(name)) << name;
}

TEST(InstructionTable, EveryInstructionOfTheCensusHasATest) {
  std::string tests;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(HONE_SOURCE_DIR) + "/tests/emulator")) {
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    if (entry.path().extension() == ".cc") tests += text.str();
  }
  const auto is_tested = [&](const std::string& name) {
    for (auto at = tests.find('"' + name); at != std::string::npos;
         at = tests.find('"' + name, at + 1)) {
      const std::string rest = tests.substr(at + 1 + name.size(), 5);
      if (rest[0] == ' ' || rest[0] == '"' || rest.starts_with("_e32") ||
          rest.starts_with("_e64") || rest.starts_with("_dpp"))
        return true;
    }
    return false;
  };
  for (const std::string& name : census()) EXPECT_TRUE(is_tested(name)) << name;
}

TEST(InstructionTable, NamesEachInstructionOnce) {
  std::size_t entries = 0;
  for (const auto& unit :
       {scalar_arithmetic(), scalar_control(), scalar_memory(), vector_integers(), vector_floats(),
        vector_conversions(), vector_compares(), packed(), cross_lane(), data_share(),
        vector_memory(), atomics(), matrix()}) {
    entries += unit.size();
  }
  EXPECT_EQ(entries, instruction_table().size());
}

Program decoded(const std::string& text) {
  return Program::decode(text).value();
}

TEST(Program, KnowsAddressesAndBranchTargets) {
  const Program program = decoded(
      "0000000000001900 <kernel>:\n"
      "\ts_mov_b32 s0, 0x12345678      // 000000001900: BE8000FF 12345678\n"
      "\ts_branch 65533                // 000000001908: BF82FFFD <kernel>\n");
  ASSERT_EQ(program.instructions().size(), 2u);
  EXPECT_EQ(program.instructions()[1].target, 0u);
  EXPECT_EQ(program.index_at(0x1908), 1u);
  EXPECT_EQ(program.index_at(0x1904), std::nullopt);
  EXPECT_EQ(program.text(0), "s_mov_b32 s0, 0x12345678");
}

TEST(Program, NamesInstructionsAndModifiersThatTheTableLacks) {
  const Program program = decoded(
      "\tv_cubeid_f32 v0, v1, v2, v3          // 000000001900: D1C40000 040E0501\n"
      "\tv_add_u32_e64 v0, v1, v2 tomorrow:1 // 000000001908: D1340000 00020501\n"
      "\tv_mul_lo_u32 v0, v1, v2 clamp       // 000000001910: D2850000 00020501\n"
      "\tv_cubeid_f32 v0, v1, v2, v3          // 000000001918: D1C40000 040E0501\n");
  EXPECT_THAT(program.unknown(), testing::ElementsAre(testing::Pair("v_add_u32 with tomorrow:1", 1),
                                                      testing::Pair("v_cubeid_f32", 2),
                                                      testing::Pair("v_mul_lo_u32 with clamp", 1)));
}

TEST(Program, ATextWithoutInstructionsIsAFailure) {
  const Result<Program> program = Program::decode("nothing\n");
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().message, "the disassembly has no instructions");
}

}  // namespace
}  // namespace hone::emulator
