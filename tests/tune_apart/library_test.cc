// A library that no folder of src/ knows: registered with the runner, and it is rows of the store
// and columns of the tables, under its own name.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "output/gpu_report.h"
#include "output/session_report.h"
#include "tests/tune_apart/apart_session.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;

// C = A B, of 48 x 32 and 32 x 64.
constexpr std::string_view kProgram = R"(
func.func @product(%a: tensor<48x32xf32>, %b: tensor<32x64xf32>) -> tensor<48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<48x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<48x64xf32>) -> tensor<48x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<48x32xf32>, tensor<32x64xf32>)
                     outs(%c : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}
)";

class MadeUpLibraryTest : public ApartSession {
 protected:
  std::vector<store::CandidateView> rows_of_library() {
    std::vector<store::CandidateView> rows = store_.candidate_rows().value();
    std::erase_if(rows, [](const auto& row) { return row.provider != "tango"; });
    return rows;
  }
};

TEST_F(MadeUpLibraryTest, IsRowsAndColumnsUnderItsOwnName) {
  const std::filesystem::path program = folder_.path() / "product.mlir";
  ASSERT_TRUE(write_file_atomically(program, kProgram));
  options_.input = program.string();
  options_.candidates = 1;
  options_.budget_seconds = 4;
  has_library_ = true;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;

  const std::vector<store::CandidateView> rows = rows_of_library();
  ASSERT_EQ(rows.size(), 2u) << observer_.notes;
  EXPECT_EQ(rows[0].configuration, R"({"algorithm":"in 1","choice":0,"library":"TangoLib 2.7"})");
  for (const store::CandidateView& row : rows) {
    EXPECT_EQ(row.format, store::kLibraryFormat);
    EXPECT_THAT(row.identity, testing::StartsWith("TangoLib 2.7, choice"));
    EXPECT_TRUE(row.right.value_or(false)) << row.tolerance;
    EXPECT_EQ(row.state, store::CandidateState::kMeasured);
  }
  EXPECT_EQ(rows[0].phase, "finalist");  // its own choice is measured beside the winner

  const std::vector<output::LibraryColumn> columns{{"tango", "TangoLib"}};
  const auto closing =
      output::dispatch_table(store_, result->program_id, row().build, *row().device, columns);
  ASSERT_TRUE(closing) << closing.error().message;
  EXPECT_THAT(closing->to_text(), HasSubstr("TangoLib"));
  const nlohmann::json closed = closing->to_json().front();
  EXPECT_GT(closed["tango_gflops"], 0);
  EXPECT_EQ(closed["tried"], 1);  // the library's rows are no candidates
  const auto gpu =
      output::gpu_report(store_, result->program_id, row().build, *row().device, {}, columns);
  ASSERT_TRUE(gpu) << gpu.error().message;
  EXPECT_GT(gpu->table.to_json().front()["tango_first"]["seconds"], 0);
}

}  // namespace
}  // namespace hone::tune
