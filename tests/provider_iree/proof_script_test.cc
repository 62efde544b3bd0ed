// What run.sh lets the outputs differ by: what hone itself has let them.
#include <gmock/gmock.h>

#include <cmath>
#include <optional>

#include "base/file.h"
#include "base/process.h"
#include "provider/iree/compiler/runtime_tools.h"

namespace hone::iree {
namespace {

using problem::ElementType;
using testing::EndsWith;
using testing::HasSubstr;

using problem::ArgumentForm;

provider::ProofScript script_of(std::vector<problem::TensorType> results,
                                std::vector<double> tolerances) {
  provider::ProofScript script;
  script.folder = "..";
  script.program = "model.mlir";
  script.flags_file = "out/compile_flags.txt";
  script.call.function.name = "main";
  script.call.device = {"cuda", 0, {}};
  script.call.function.outputs = std::move(results);
  script.tolerances = std::move(tolerances);
  return script;
}

TEST(ProofScript, AllowsEachResultWhatItNeeds) {
  const std::string text = proof_script(script_of({{ElementType::kF16, {8}},
                                                   {ElementType::kF32, {8}},
                                                   {ElementType::kF16, {4}},
                                                   {ElementType::kI32, {4}}},
                                                  {0.002, 2e-5, 0.03125, 0}))
                               .value();
  EXPECT_THAT(text, HasSubstr("agree 0 u2 \"5 10 15\" 0.002 || wrong=1\n"));
  EXPECT_THAT(text, HasSubstr("agree 1 f4 \"number\" 0.0001 || wrong=1\n"));  // is more
  EXPECT_THAT(text, HasSubstr("agree 2 u2 \"5 10 15\" 0.0312 || wrong=1\n"));
  EXPECT_THAT(text, HasSubstr("agree 3 u4 \"exact\" 0 || wrong=1\n"));
}

TEST(ProofScript, DoesNotFailByADefaultThatIsWrong) {
  provider::ProofScript script = script_of({{ElementType::kF16, {8}}}, {40});
  EXPECT_THAT(proof_script(script).value(), EndsWith("FAILED: the outputs differ\" >&2\nexit 1\n"));
  script.default_is_wrong = true;
  EXPECT_THAT(proof_script(script).value(),
              EndsWith("echo \"they differ, as they must: hone found the default's outputs wrong "
                       "(hone verify)\"\n"));
}

// Reads a line of iree-benchmark-module by the script's own function, in the shell that users have.
std::string milliseconds_in(const std::string& line) {
  const std::string text = proof_script(script_of({}, {})).value();
  const auto begin = text.find("\nmilliseconds() {"), end = text.find("\n}\n", begin) + 3;
  Command command;
  command.arguments = {"/bin/sh", "-c",
                       "work=.; time_of() { echo '" + line + "'; }" +
                           text.substr(begin, end - begin) + "milliseconds default"};
  const TemporaryFolder folder = TemporaryFolder::create("hone-times-").value();
  command.folder = folder.path();
  const auto ran = run_process(command, {.seconds = 20});
  EXPECT_TRUE(ran && ran->succeeded());
  return ran->standard_output.text();
}

TEST(ProofScript, ReadsTheTimeBehindAnyName) {
  EXPECT_EQ(milliseconds_in("BM_main/process_time/real_time 250 us 144 us 7 items_per_second=4k/s"),
            "0.250000\n");
  EXPECT_EQ(milliseconds_in("BM_Model from PaddlePaddle./process_time/real_time       94.8 ms"
                            "          144 ms            7 items_per_second=10.5471/s"),
            "94.800000\n");
}

// Each result with the bytes of what the default and the tuned program gave: agree() of the script
// by itself, in the shell that users have.
class Agree : public testing::Test {
 protected:
  void SetUp() override {
    folder_.emplace(TemporaryFolder::create("hone-agree-").value());
    const std::string text = proof_script(script_of({}, {})).value();
    const auto begin = text.find("\nagree() {"), end = text.find("\n}\n", begin) + 3;
    ASSERT_NE(begin, std::string::npos);
    function_ = text.substr(begin, end - begin);
  }
  // What it says, and whether it is right.
  std::pair<std::string, bool> of(const problem::TensorType& type, ArgumentForm form,
                                  const std::string& expected, const std::string& got) {
    provider::ProofScript script = script_of({type}, {});
    script.call.function.output_forms = {form};
    const std::string text = proof_script(script).value();
    const auto at = text.find("\nagree 0 ");
    const std::string call = text.substr(at, text.find(" || ", at) - at);
    EXPECT_TRUE(write_file_atomically(folder_->path() / "default.0.bin", expected));
    EXPECT_TRUE(write_file_atomically(folder_->path() / "tuned.0.bin", got));
    Command command;
    command.arguments = {"/bin/sh", "-c", "work=.\n" + function_ + call};
    command.folder = folder_->path();
    const auto ran = run_process(command, {.seconds = 20});
    EXPECT_TRUE(ran);
    return {ran->standard_output.text() + ran->standard_error.text(), ran->succeeded()};
  }

 private:
  std::optional<TemporaryFolder> folder_;
  std::string function_;
};

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

struct PlantedResult {
  const char* name;
  ElementType carrier;
  ArgumentForm form;
  std::string expected, near, wrong;  // three elements each; near: as right as makes no difference
};

TEST_F(Agree, PassesWhatIsRightAndFailsWhatIsWrongOfEachType) {
  using enum ElementType;
  constexpr auto kPlain = ArgumentForm::kPlain;
  const auto bits16 = [](std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return raw<std::uint16_t>({a, b, c});
  };
  const auto bytes = [](std::uint8_t a, std::uint8_t b, std::uint8_t c) {
    return raw<std::uint8_t>({a, b, c});
  };
  const PlantedResult results[] = {
      {"f64", kF64, kPlain, raw({1.0, -2.0, 3.0}), raw({1.0, -2.00001, 3.0}), raw({1.0, 2.0, 3.0})},
      {"f32", kF32, kPlain, raw({1.f, -2.f, 3.f}), raw({1.f, -2.00001f, 3.f}),
       raw({1.f, NAN, 3.f})},
      // 1, 2, -3; the last digit of a mantissa is 0.001.
      {"f16", kF16, kPlain, bits16(0x3C00, 0x4000, 0xC200), bits16(0x3C01, 0x4000, 0xC200),
       bits16(0x3C00, 0x4000, 0x4200)},
      {"bf16", kBF16, kPlain, bits16(0x3F80, 0x4000, 0xC040), bits16(0x3F81, 0x4000, 0xC040),
       bits16(0x3F90, 0x4000, 0xC040)},
      {"i64", kI64, kPlain, raw<std::int64_t>({1, 1LL << 60, 3}),
       raw<std::int64_t>({1, 1LL << 60, 3}), raw<std::int64_t>({1, (1LL << 60) + 1, 3})},
      {"i32", kI32, kPlain, raw<std::int32_t>({1, 2, -3}), raw<std::int32_t>({1, 2, -3}),
       raw<std::int32_t>({1, 2, -4})},
      {"i8", kI8, kPlain, bytes(1, 2, 253), bytes(1, 2, 253), bytes(1, 2, 254)},
      {"i4", kI8, ArgumentForm::kI4, bytes(0x21, 0x43, 0), bytes(0x21, 0x43, 0),
       bytes(0x21, 0x53, 0)},
      {"i1", kI1, kPlain, bytes(0, 1, 1), bytes(0, 1, 1), bytes(0, 1, 0)},
      // 1, 2, -3.5 and a step of an eighth.
      {"f8E4M3FN", kF8E4M3, ArgumentForm::kF8E4M3, bytes(0x38, 0x40, 0xC6), bytes(0x39, 0x40, 0xC6),
       bytes(0x3A, 0x40, 0xC6)},
      {"f8E5M2", kF8E5M2, ArgumentForm::kF8E5M2, bytes(0x3C, 0x40, 0xC2), bytes(0x3D, 0x40, 0xC2),
       bytes(0x3E, 0x40, 0xC2)},
      {"f8E4M3FNUZ", kF32, ArgumentForm::kF8E4M3FNUZ, bytes(0x40, 0x48, 0xC6),
       bytes(0x41, 0x48, 0xC6), bytes(0x42, 0x48, 0xC6)},
      {"complex<f32>", kF32, ArgumentForm::kComplex, raw({1.f, -2.f, 3.f, 4.f, 5.f, 6.f}),
       raw({1.f, -2.f, 3.f, 4.00005f, 5.f, 6.f}), raw({1.f, -2.f, 3.f, -4.f, 5.f, 6.f})},
  };
  for (const PlantedResult& each : results) {
    problem::TensorType type{each.carrier, {3}};
    if (each.form == ArgumentForm::kComplex) type.shape.push_back(2);
    EXPECT_EQ(of(type, each.form, each.expected, each.expected),
              std::pair(std::string("result 0: equal\n"), true))
        << each.name;
    if (each.near != each.expected) {
      const auto [words, right] = of(type, each.form, each.expected, each.near);
      EXPECT_TRUE(right) << each.name << ": " << words;
    }
    const auto [words, right] = of(type, each.form, each.expected, each.wrong);
    EXPECT_FALSE(right) << each.name;
    EXPECT_THAT(words, HasSubstr("result 0: 1 of ")) << each.name;
  }
}

}  // namespace
}  // namespace hone::iree
