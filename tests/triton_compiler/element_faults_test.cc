// Kernels without a product for gfx942, on the emulating HIP library: those of a right statement
// are right, and those of a statement with a planted fault are called wrong by hone's own
// verification.
#ifdef HONE_FAKE_HIP
#include <cstdlib>
#include <cstring>
#include <functional>

#include "device/hip/kind.h"
#include "measure/runner.h"
#include "tests/provider_iree_gpu/child.h"
#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

using Json = nlohmann::json;
using problem::ElementType;

constexpr int kHeight = 33, kWidth = 127;

float small(int i) {
  return static_cast<float>(i * 7 % 11 - 5);
}

// Bytes of `count` elements.
std::string bytes_of(int count, const std::function<float(int)>& of) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    const float value = of(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

Json loaded(int view, std::vector<int> strides) {
  return {{"op", "load"}, {"type", "f32"},      {"view", view},
          {"offset", 0},  {"strides", strides}, {"operands", Json::array()}};
}

Json compute(const char* operation, std::vector<int> operands) {
  return {{"op", operation}, {"type", "f32"}, {"operands", operands}};
}

// A statement of x, a bias and a result, with what must come out.
struct Case {
  Json statement;
  int results = 0;
  std::string expected;
};

Json statement_of(const char* along_columns, std::vector<Json> values, std::vector<int> strides) {
  Json said = {{"kind", "elementwise"}, {"entry", "kernel"}, {"bindings", 3}, {"constants", 0}};
  for (int binding = 0; binding < 3; ++binding)
    said["views"].push_back(
        {{"binding", binding}, {"offset", 0}, {"words", Json::array()}, {"multiple", 64}});
  said["loops"] = {{{"role", "m"}, {"size", kHeight}}, {{"role", along_columns}, {"size", kWidth}}};
  said["values"] = std::move(values);
  said["stores"] = {{{"view", 2},
                     {"type", "f32"},
                     {"offset", 0},
                     {"strides", strides},
                     {"value", said["values"].size() - 1}}};
  return said;
}

// The sum of squares of each row, and its bias.
Case row_sums() {
  Json sum = compute("reduce", {1});
  sum["combines"] = "arith.addf";
  sum["start"] = 0.0;
  return {statement_of("k",
                       {loaded(0, {kWidth, 1}), compute("arith.mulf", {0, 0}), sum,
                        loaded(1, {1, 0}), compute("arith.addf", {2, 3})},
                       {1, 0}),
          kHeight, bytes_of(kHeight, [](int row) {
            float all = small(row);
            for (int k = 0; k < kWidth; ++k)
              all += small(row * kWidth + k) * small(row * kWidth + k);
            return all;
          })};
}

// x transposed, with a bias for each row of x.
Case turned_matrix() {
  return {
      statement_of("n", {loaded(0, {kWidth, 1}), loaded(1, {1, 0}), compute("arith.addf", {0, 1})},
                   {1, kHeight}),
      kHeight * kWidth, bytes_of(kHeight * kWidth, [](int i) {
        const int row = i % kHeight, column = i / kHeight;
        return small(row * kWidth + column) + small(row);
      })};
}

problem::Dispatch case_dispatch(const Case& of) {
  problem::Dispatch dispatch;
  dispatch.name = "kernel";
  dispatch.source = of.statement.dump();
  for (const auto& [count, access] : {std::pair(kHeight * kWidth, problem::Access::kReadOnly),
                                      {kWidth, problem::Access::kReadOnly},
                                      {of.results, problem::Access::kWriteOnly}})
    dispatch.bindings.push_back({access,
                                 access == problem::Access::kReadOnly
                                     ? problem::BindingUse::kRootInput
                                     : problem::BindingUse::kOutput,
                                 {ElementType::kF32, {count}},
                                 std::int64_t{count} * 4});
  return dispatch;
}

// "right", "wrong", or an error's words, of the kernel that Triton makes of the statement.
std::string verified(const Case& of, const Json& statement) {
  Case planted = of;
  planted.statement = statement;
  const auto compiled = shared_workers().one(case_dispatch(planted), "gfx942",
                                             {{"BLOCK_M", 4}, {"BLOCK_N", 64}, {"num_warps", 1}});
  if (!compiled) return compiled.error().message;
  return iree::gpu::in_child([&]() -> std::string {
    ::setenv("HONE_HIP", HONE_FAKE_HIP, 1);
    measure::Runner runner({device::hip::kind()}, {});
    measure::ProblemRequest request;
    request.dispatch = case_dispatch(of);
    request.device = {.kind = "hip", .index = 0};
    request.device.cores = {0};
    request.inputs = {bytes_of(kHeight * kWidth, small), bytes_of(kWidth, small), ""};
    request.expected = {"", "", of.expected};
    if (const auto ready = runner.set_problem(request); !ready) return ready.error().message;
    const auto handle = runner.load({.format = "rocm-hsaco",
                                     .code = compiled->code,
                                     .launch = compiled->launch,
                                     .configured = ""});
    if (!handle) return handle.error().message;
    const auto verification = runner.verify(*handle);
    if (!verification) return verification.error().message;
    return verification->right ? "right" : "wrong";
  });
}

using Fault = void (*)(Json&);

TEST(ElementFaults, OfReductionsAreCaught) {
  const Case right = row_sums();
  EXPECT_EQ(verified(right, right.statement), "right");
  const Fault faults[] = {
      [](Json& said) {
        said["values"][0]["strides"] = {1, kHeight};
      },  // another axis
      [](Json& said) {
        said["values"][0]["strides"] = {0, 1};
      },  // a broadcast too many
      [](Json& said) {
        said["values"][3]["strides"] = {0, 0};
      },                                                           // of the bias
      [](Json& said) { said["loops"][1]["size"] = kWidth - 1; },   // a dropped tail
      [](Json& said) { said["loops"][0]["size"] = kHeight - 1; },  // of rows
      [](Json& said) { said["values"][2]["start"] = 1.0; },        // a wrong identity
      [](Json& said) { said["values"][2]["combines"] = "arith.maximumf"; }};
  for (std::size_t f = 0; f < std::size(faults); ++f) {
    Json planted = right.statement;
    faults[f](planted);
    EXPECT_EQ(verified(right, planted), "wrong") << f;
  }
}

TEST(ElementFaults, OfElementwiseOperationsAreCaught) {
  const Case right = turned_matrix();
  EXPECT_EQ(verified(right, right.statement), "right");
  const Fault faults[] = {
      [](Json& said) {
        said["stores"][0]["strides"] = {kWidth, 1};
      },  // not transposed
      [](Json& said) {
        said["values"][1]["strides"] = {0, 1};
      },  // another axis
      [](Json& said) {
        said["values"][1]["strides"] = {0, 0};
      },                                                           // a broadcast too many
      [](Json& said) { said["loops"][1]["size"] = kWidth - 1; }};  // a dropped tail
  for (std::size_t f = 0; f < std::size(faults); ++f) {
    Json planted = right.statement;
    faults[f](planted);
    EXPECT_EQ(verified(right, planted), "wrong") << f;
  }
}

}  // namespace
}  // namespace hone::triton
#endif
