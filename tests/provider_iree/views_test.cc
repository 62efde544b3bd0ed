// Where hone lets the views of a kernel begin: programs as they are at executable-sources, whose
// launches say where pieces of packed buffers lie.
#include "provider/iree/program/views.h"

#include <gmock/gmock.h>

#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using problem::Access;
using problem::Binding;
using problem::BindingUse;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kTensor[] = "!iree_tensor_ext.dispatch.tensor<";

// A kernel that adds 64 floats (256 bytes) of binding 0 to others of it and writes binding 1.
// `offsets`: SSA values for the three views, which `body` defines; `constants` words are loaded as
// %w0, %w1, ... before it. `launches`: "%c0, %c256" and so on, of 32-bit values.
struct Written {
  int constants = 0;
  std::string body;
  std::vector<std::string> offsets;
  std::vector<std::vector<std::int64_t>> launches;
};

std::string text_of(const Written& written) {
  const std::string layout = fmt::format(
      "<constants = {}, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, "
      "#hal.pipeline.binding<storage_buffer>]>",
      written.constants);
  std::string loads;
  for (int word = 0; word < written.constants; ++word)
    loads += fmt::format("%w{0} = hal.interface.constant.load layout({1}) ordinal({0}) : i32\n",
                         word, layout);
  const auto view = [&](int number, int binding, std::string_view access) {
    return fmt::format(
        "%v{} = hal.interface.binding.subspan layout({}) binding({}) alignment(64) offset({}) : "
        "{}{}:tensor<64xf32>>\n",
        number, layout, binding, written.offsets.at(static_cast<std::size_t>(number)), kTensor,
        access);
  };
  const auto load = [&](int number) {
    return fmt::format(
        "%x{0} = iree_tensor_ext.dispatch.tensor.load %v{0}, offsets = [0], sizes = [64], strides "
        "= [1] : {1}readonly:tensor<64xf32>> -> tensor<64xf32>\n",
        number, kTensor);
  };
  std::string calls, values;
  for (const auto& launch : written.launches) {
    std::string operands, types;
    for (const std::int64_t value : launch) {
      const std::string name = fmt::format("%k{}", std::count(values.begin(), values.end(), '\n'));
      values += fmt::format("{} = arith.constant {} : i32\n", name, value);
      operands += (operands.empty() ? "" : ", ") + name;
      types += types.empty() ? "i32" : ", i32";
    }
    calls += fmt::format(
        "stream.cmd.dispatch @add::@variant::@add({} : {}) {{\n"
        "  ro %in[%c0 for %size] : !stream.resource<transient>{{%size}},\n"
        "  wo %in[%c0 for %size] : !stream.resource<transient>{{%size}}\n}}\n",
        operands, types);
  }
  return fmt::format(R"(
module attributes {{stream.affinity.default = #hal.device.affinity<@device>}} {{
util.global private @device = #hal.device.target<"local", [#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {{cpu = "skylake-avx512", cpu_features = "+avx512f", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", iree.encoding.resolver = #iree_cpu.cpu_encoding_resolver<>, max_stack_allocation_size = 32768 : i64, native_vector_size = 64 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}}>]> : !hal.device
hal.executable private @add {{
  hal.executable.variant public @variant target(<"llvm-cpu", "embedded-elf-x86_64", {{cpu = "skylake-avx512", cpu_features = "+avx512f", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", iree.encoding.resolver = #iree_cpu.cpu_encoding_resolver<>, max_stack_allocation_size = 32768 : i64, native_vector_size = 64 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}}>) {{
    hal.executable.export public @add ordinal(0) layout(#hal.pipeline.layout{}) count(%device: !hal.device) -> (index, index, index) {{
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      hal.return %x, %y, %z : index, index, index
    }}
    builtin.module {{
      func.func @add() {{
        {}{}{}{}{}{}{}
        %e = tensor.empty() : tensor<64xf32>
        %s = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}} ins(%x0, %x1 : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {{
        ^bb0(%p: f32, %q: f32, %o: f32):
          %t = arith.addf %p, %q : f32
          linalg.yield %t : f32
        }} -> tensor<64xf32>
        iree_tensor_ext.dispatch.tensor.store %s, %v2, offsets = [0], sizes = [64], strides = [1] : tensor<64xf32> -> {}writeonly:tensor<64xf32>>
        return
      }}
    }}
  }}
}}
util.func public @main(%resource: !stream.resource<transient>) -> !stream.timepoint {{
  %c0 = arith.constant 0 : index
  %size = arith.constant 1048576 : index
  {}
  %done = stream.cmd.execute on(#hal.device.affinity<@device>) with(%resource as %in: !stream.resource<transient>{{%size}}) {{
    {}
  }} => !stream.timepoint
  util.return %done : !stream.timepoint
}}
}})",
                     layout, loads, written.body, view(0, 0, "readonly"), view(1, 0, "readonly"),
                     view(2, 1, "writeonly"), load(0), load(1), kTensor, values, calls);
}

std::vector<problem::Dispatch> dispatches_of(const Written& written) {
  return load("written.mlir", text_of(written)).dispatches;
}

Binding view(Access access, int ordinal, std::int64_t offset) {
  return {access,
          access == Access::kReadOnly ? BindingUse::kRootInput : BindingUse::kOutput,
          {problem::ElementType::kF32, {64}},
          256,
          ordinal,
          offset};
}

// What layers of one shape give: the launches differ in nothing but where their pieces lie.
const Written kTwoLayers{.constants = 2,
                         .body = R"(
      %i0 = arith.index_castui %w0 : i32 to index
      %i1 = arith.index_castui %w1 : i32 to index
      %a:2 = util.assume.int
          %i0[<umin = 65536, umax = 65536, udiv = 65536>, <umin = 131072, umax = 131072, udiv = 131072>],
          %i1[<umin = 0, umax = 0>, <umin = 4096, umax = 4096, udiv = 4096>] : index, index
      %fixed = arith.constant 512 : index
)",
                         .offsets = {"%a#0", "%a#1", "%fixed"},
                         .launches = {{65536, 0}, {131072, 4096}}};

TEST(Views, OfTwoLayersAreOneDispatchOverItsOwnPieces) {
  const auto dispatches = dispatches_of(kTwoLayers);
  ASSERT_EQ(dispatches.size(), 1u);
  const problem::Dispatch& dispatch = dispatches[0];
  EXPECT_EQ(dispatch.not_tunable, "");
  EXPECT_EQ(dispatch.launches_per_call, 2);
  // Of the first launch, whose pieces lie closer together.
  EXPECT_THAT(dispatch.bindings,
              ElementsAre(view(Access::kReadOnly, 0, 65536), view(Access::kReadOnly, 0, 0),
                          view(Access::kWriteOnly, 1, 512)));
  EXPECT_THAT(dispatch.constants, ElementsAre(65536u, 0u));
}

TEST(Views, BeginWhereverTheProgramPacksThem) {
  Written later = kTwoLayers;
  later.launches = {{131072, 4096}};
  const auto one = dispatches_of(kTwoLayers), other = dispatches_of(later);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(fingerprint(one.at(0)), fingerprint(other.at(0)));
  EXPECT_THAT(one[0].source, HasSubstr("measured_constants = array<i64: 0, 0>"));
}

// Neighbours in the program, 256 bytes apart: hone leaves room for a guard behind the one and a
// guard before the other.
TEST(Views, LieFurtherApartWhereTheCompilerAllowsIt) {
  Written written = kTwoLayers;
  written.body = R"(
      %i0 = arith.index_castui %w0 : i32 to index
      %i1 = arith.index_castui %w1 : i32 to index
      %a:2 = util.assume.int %i0<umin = 128, umax = 1048576, udiv = 128>, %i1<umin = 0, umax = 1048576, udiv = 128> : index, index
      %fixed = arith.constant 512 : index
)";
  written.launches = {{1024, 1280}};
  const auto dispatches = dispatches_of(written);
  ASSERT_EQ(dispatches.size(), 1u);
  EXPECT_EQ(dispatches[0].not_tunable, "");
  // 128 + 256 + 2 x 4096 = 8576 = 67 x 128.
  EXPECT_THAT(dispatches[0].constants, ElementsAre(128u, 8576u));

  written.body = R"(
      %i0 = arith.index_castui %w0 : i32 to index
      %i1 = arith.index_castui %w1 : i32 to index
      %a:2 = util.assume.int %i0<umin = 1024, umax = 1024, udiv = 1024>, %i1<umin = 1280, umax = 1280, udiv = 1280> : index, index
      %fixed = arith.constant 512 : index
)";
  EXPECT_THAT(dispatches_of(written).at(0).constants, ElementsAre(1024u, 1280u));
}

TEST(Views, KeepWhatOverlaps) {
  Written written = kTwoLayers;
  written.body = R"(
      %i0 = arith.index_castui %w0 : i32 to index
      %i1 = arith.index_castui %w1 : i32 to index
      %fixed = arith.constant 512 : index
)";
  written.offsets = {"%i0", "%i1", "%fixed"};
  written.launches = {{1024, 1024}};
  const problem::Dispatch same = dispatches_of(written).at(0);
  EXPECT_THAT(same.bindings,
              ElementsAre(view(Access::kReadOnly, 0, 1024), view(Access::kWriteOnly, 1, 512)));
  EXPECT_THAT(same.computation.values.at(0).binding, 0);

  written.launches = {{1024, 1152}};
  Binding both = view(Access::kReadOnly, 0, 1024);
  both.bytes = 128 + 256;
  EXPECT_THAT(dispatches_of(written).at(0).bindings,
              ElementsAre(both, view(Access::kWriteOnly, 1, 512)));

  // A launch where they overlap and one where they do not are not one problem.
  written.launches = {{1024, 1024}, {1024, 4096}, {2048, 8192}};
  const auto dispatches = dispatches_of(written);
  ASSERT_EQ(dispatches.size(), 2u);
  EXPECT_EQ(dispatches[0].bindings.size(), 2u);
  EXPECT_EQ(dispatches[0].launches_per_call, 1);
  EXPECT_EQ(dispatches[1].bindings.size(), 3u);
  EXPECT_EQ(dispatches[1].launches_per_call, 2);
}

TEST(Views, BeginBehindTheFirstFourGigabytesToo) {
  Written written = kTwoLayers;
  written.constants = 2;
  written.body = R"(
      %l = arith.extui %w0 : i32 to i64
      %h = arith.extui %w1 : i32 to i64
      %c32 = arith.constant 32 : i64
      %u = arith.shli %h, %c32 : i64
      %lu = arith.ori %l, %u : i64
      %i = arith.index_castui %lu : i64 to index
      %a = util.assume.int %i<umin = 8589934848, umax = 8589934848, udiv = 256> : index
      %fixed = arith.constant 512 : index
      %zero = arith.constant 0 : index
)";
  written.offsets = {"%a", "%zero", "%fixed"};
  written.launches = {{256, 2}};
  const problem::Dispatch dispatch = dispatches_of(written).at(0);
  EXPECT_EQ(dispatch.not_tunable, "");
  EXPECT_THAT(dispatch.constants, ElementsAre(256u, 2u));
  EXPECT_EQ(dispatch.bindings.at(0).ordinal, 0);
  EXPECT_EQ(dispatch.bindings.at(0).offset, (std::int64_t{2} << 32) + 256);
}

// What else a kernel is told makes another launch of it.
TEST(LaunchSets, DifferInTheirValues) {
  Written written = kTwoLayers;
  written.body += R"(
      %told = arith.cmpi eq, %w0, %w1 : i32
)";
  const auto dispatches = dispatches_of(written);
  ASSERT_EQ(dispatches.size(), 2u);
  EXPECT_NE(fingerprint(dispatches[0]), fingerprint(dispatches[1]));
  EXPECT_THAT(dispatches[0].constants, ElementsAre(65536u, 0u));
  EXPECT_THAT(dispatches[1].constants, ElementsAre(131072u, 4096u));
  EXPECT_THAT(dispatches[1].source, Not(HasSubstr("array<i64: 0, 0>")));
}

}  // namespace
}  // namespace hone::iree
