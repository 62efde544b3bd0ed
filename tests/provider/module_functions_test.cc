#include <gmock/gmock.h>

#include "provider/iree/compiler/runtime_tools.h"

namespace hone::iree {
namespace {

using problem::ElementType;
using problem::Function;
using testing::ElementsAre;
using testing::IsEmpty;

// As iree-dump-module 3.13 prints a module.
constexpr std::string_view kDump = R"(
Imported Functions:
  [  0] hal.buffer.assert(!vm.ref<?>, !vm.ref<?>, !vm.ref<?>, i64, i32, i32) -> ()

Exported Functions:
  [  0] matmul_512(!vm.ref<?>, !vm.ref<?>) -> (!vm.ref<?>)
        iree.abi.declaration: sync func @matmul_512(%input0: tensor<512x512xf32>, %input1: tensor<512x512xf16>) -> (%output0: tensor<512x512xf32>)
  [  1] rows(!vm.ref<?>) -> (!vm.ref<?>)
        iree.abi.declaration: sync func @rows(%input0: tensor<?x8xi8>) -> (%output0: tensor<f32>, %output1: tensor<4xbf16>)
  [  2] strings(!vm.ref<?>) -> ()
        iree.abi.declaration: sync func @strings(%input0: !custom.string) -> ()
  [  3] nothing() -> ()
        iree.abi.declaration: sync func @nothing() -> ()
  [  4] __init() -> ()
)";

TEST(ModuleFunctions, AreReadFromTheirDeclarations) {
  EXPECT_THAT(
      functions_in_dump(kDump),
      ElementsAre(Function{"matmul_512",
                           {{ElementType::kF32, {512, 512}}, {ElementType::kF16, {512, 512}}},
                           {{ElementType::kF32, {512, 512}}}},
                  Function{"rows",
                           {{ElementType::kI8, {problem::kDynamic, 8}}},
                           {{ElementType::kF32, {}}, {ElementType::kBF16, {4}}}},
                  Function{"nothing", {}, {}}));
}

TEST(ModuleFunctions, OtherTextHasNone) {
  EXPECT_THAT(functions_in_dump(""), IsEmpty());
  EXPECT_THAT(functions_in_dump("iree.abi.declaration: sync func @f(%a: tensor<4xf32"), IsEmpty());
  EXPECT_THAT(functions_in_dump("iree.abi.declaration: sync func @f(%a: tensor<4xq32>) -> ()"),
              IsEmpty());
}

// As iree-dump-module 3.13 prints a module that comes from ONNX.
constexpr std::string_view kUntypedDump = R"(
Imported Functions:
  [  0] hal.fence.create(!vm.ref<?>, i64) -> (!vm.ref<?>)

Exported Functions:
  [  0] net$async(!vm.ref<?>, !vm.ref<?>, !vm.ref<?>) -> (!vm.ref<?>)
  [  1] net(!vm.ref<?>) -> (!vm.ref<?>)
  [  2] pair(!vm.ref<?>, !vm.ref<?>) -> (!vm.ref<?>, !vm.ref<?>)
  [  3] number(i32) -> (i32)
  [  4] __init() -> ()

//===------------===//
// Sections
  [  0] later(!vm.ref<?>) -> (!vm.ref<?>)
)";

TEST(ModuleFunctions, WithoutDeclarationAreCountedByTheirBuffers) {
  EXPECT_THAT(untyped_in_dump(kUntypedDump), ElementsAre(provider::UntypedFunction{"net", 1, 1},
                                                         provider::UntypedFunction{"pair", 2, 2}));
  EXPECT_THAT(untyped_in_dump(kDump), IsEmpty());
  EXPECT_THAT(untyped_in_dump(""), IsEmpty());
}

}  // namespace
}  // namespace hone::iree
