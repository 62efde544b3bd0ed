#include "provider/iree/program/argument_ranges.h"

#include <gmock/gmock.h>

#include "problem/types.h"
#include "provider/iree/compiler/compiler_session.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "input: least..most" or "input: why hone cannot tell".
std::vector<std::string> ranges(const std::string& program,
                                const std::vector<std::string>& inputs) {
  const CompilerLibrary library = compiler();
  const auto session = CompilerSession::create(library, host_cpu_flags());
  Invocation invocation(*session);
  if (!invocation.parse("p.mlir", program) || !invocation.run(kStart, kInput))
    return {invocation.diagnostics()};
  problem::Function function{"f", {}, {}};
  for (const std::string& input : inputs)
    function.inputs.push_back(problem::tensor_type_from(input).value());
  std::vector<std::string> words;
  for (const problem::InputRange& each :
       argument_ranges(Ir(session->api()), invocation.take_module(), function))
    words.push_back(each.unknown.empty()
                        ? fmt::format("{}: {}..{}", each.input, each.least, each.most)
                        : fmt::format("{}: {}", each.input, each.unknown));
  return words;
}

// A lookup in a table of 50 rows by what `body` makes of %id, an element of the input.
std::string lookup(const std::string& body) {
  return R"(
func.func @f(%ids: tensor<4xi64>, %table: tensor<50x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi64>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%id: i64, %o: f32):)" +
         body + R"(
    %row = arith.index_cast %i : i64 to index
    %d = linalg.index 1 : index
    %v = tensor.extract %table[%row, %d] : tensor<50x8xf32>
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
})";
}

TEST(ArgumentRanges, AreThoseOfWhatIsIndexed) {
  const std::vector<std::string> inputs = {"4xi64", "50x8xf32"};
  const auto of = [&](const std::string& body) { return ranges(lookup(body), inputs); };
  const std::string three = "%c = arith.constant 3 : i64\n";
  EXPECT_THAT(of("%z = arith.constant 0 : i64\n%i = arith.addi %id, %z : i64"),
              ElementsAre("0: 0..49"));
  // 3 x 16 = 48, and 46 + 3 = 49.
  EXPECT_THAT(of(three + "%i = arith.muli %id, %c : i64"), ElementsAre("0: 0..16"));
  EXPECT_THAT(of(three + "%i = arith.addi %id, %c : i64"), ElementsAre("0: 0..46"));
  EXPECT_THAT(of(three + "%i = arith.subi %id, %c : i64"), ElementsAre("0: 3..52"));
  // Whatever a clamp lets through is an index; as many as there are rows say enough.
  EXPECT_THAT(of(three + "%i = arith.minsi %id, %c : i64"), ElementsAre("0: 0..49"));
  EXPECT_THAT(of(three + "%i = arith.shli %id, %c : i64"),
              ElementsAre("0: an index whose range hone cannot tell"));
}

// PyTorch's own: a negative index counts from the end, which is compared in a loop of its own.
TEST(ArgumentRanges, AreFollowedThroughPyTorchsIndices) {
  EXPECT_THAT(ranges(R"(
func.func @f(%table: !torch.vtensor<[37,8],f32>, %ids: !torch.vtensor<[2,5],si64>) -> !torch.vtensor<[2,5,8],f32> {
  %none = torch.constant.int -1
  %false = torch.constant.bool false
  %x = torch.aten.embedding %table, %ids, %none, %false, %false : !torch.vtensor<[37,8],f32>, !torch.vtensor<[2,5],si64>, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[2,5,8],f32>
  return %x : !torch.vtensor<[2,5,8],f32>
})",
                     {"37x8xf32", "2x5xi64"}),
              ElementsAre("1: 0..36"));
}

TEST(ArgumentRanges, LeaveShapesAndTripCountsToTheUser) {
  EXPECT_THAT(ranges(R"(
func.func @f(%x: tensor<16xf32>, %shape: tensor<2xi64>, %n: tensor<i64>, %any: tensor<i64>, %arm: tensor<i1>) -> (tensor<?x?xf32>, f32, i64) {
  %y = tensor.reshape %x(%shape) : (tensor<16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %trips = tensor.extract %n[] : tensor<i64>
  %to = arith.index_cast %trips : i64 to index
  %a = tensor.extract %any[] : tensor<i64>
  %c = tensor.extract %arm[] : tensor<i1>
  %begin = scf.if %c -> f32 { scf.yield %one : f32 } else { scf.yield %two : f32 }
  %sum = scf.for %i = %c0 to %to step %c1 iter_args(%s = %begin) -> f32 {
    %next = arith.addf %s, %one : f32
    scf.yield %next : f32
  }
  return %y, %sum, %a : tensor<?x?xf32>, f32, i64
})",
                     {"16xf32", "2xi64", "i64", "i64", "i1"}),
              ElementsAre("1: a shape", "2: a trip count"));
}

TEST(ArgumentRanges, HaveNoneOfValuesThatOnlyAreComputedWith) {
  EXPECT_THAT(ranges("func.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {\n"
                     "  %b = arith.muli %a, %a : tensor<4xi32>\n"
                     "  return %b : tensor<4xi32>\n}",
                     {"4xi32"}),
              IsEmpty());
}

// Where a slice begins: 3 of 8 rows are taken.
TEST(ArgumentRanges, LeaveRoomForASlice) {
  EXPECT_THAT(ranges(R"(
func.func @f(%x: tensor<8x4xf32>, %at: tensor<i32>) -> tensor<3x4xf32> {
  %i = tensor.extract %at[] : tensor<i32>
  %o = arith.index_cast %i : i32 to index
  %y = tensor.extract_slice %x[%o, 0] [3, 4] [1, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  return %y : tensor<3x4xf32>
})",
                     {"8x4xf32", "i32"}),
              ElementsAre("1: 0..5"));
}

}  // namespace
}  // namespace hone::iree
