#include "provider/iree/gpu_own_space.h"

#include <algorithm>

#include "provider/iree/matrix_instructions.h"

namespace hone::iree {
namespace {

using problem::LoopRole;
using problem::OperationKind;
using space::Expression;
using space::Value;

enum class Form { kNone, kMatrixInstructions, kThreads, kRows };

struct Loops {
  std::vector<int> batch, m, n, k;
};

Loops loops_of(const problem::Operation& root) {
  return {loops_with(root, LoopRole::kBatch), loops_with(root, LoopRole::kM),
          loops_with(root, LoopRole::kN), loops_with(root, LoopRole::kK)};
}

Value size(const problem::Operation& root, int loop) {
  return root.loops[static_cast<std::size_t>(loop)].size;
}

// The one reduction loop of sums along rows and of products with a vector, where it is the last
// loop and rows lie in memory one after the other; else -1.
int row_loop(const problem::Operation& root) {
  int found = -1, count = 0;
  for (int loop = 0; loop < static_cast<int>(root.loops.size()); ++loop)
    if (root.loops[static_cast<std::size_t>(loop)].reduction) {
      found = loop;
      ++count;
    }
  if (count != 1 || root.operands.empty() || root.operands.front().loops.empty()) return -1;
  const bool last = found + 1 == static_cast<int>(root.loops.size()) && found > 0;
  return last && root.operands.front().loops.back() == found ? found : -1;
}

std::vector<MatrixInstruction> instructions_for(const problem::Operation& root,
                                                const problem::GpuTarget& target) {
  if (root.operands.size() < 3 || root.operands[0].type.element != root.operands[1].type.element)
    return {};
  return matrix_instructions(target, root.operands[0].type.element,
                             root.operands.back().type.element);
}

Form form_of(const problem::Operation& root, const problem::GpuTarget& target) {
  const Loops loops = loops_of(root);
  const bool product =
      (root.kind == OperationKind::kMatmul || root.kind == OperationKind::kBatchMatmul) &&
      loops.m.size() == 1 && loops.n.size() == 1 && loops.k.size() == 1;
  if (product)
    return instructions_for(root, target).empty() ? Form::kThreads : Form::kMatrixInstructions;
  const bool rows = root.kind == OperationKind::kReduction || root.kind == OperationKind::kMatvec;
  return rows && row_loop(root) >= 0 ? Form::kRows : Form::kNone;
}

std::vector<Value> divisors(Value of, Value from, Value to) {
  std::vector<Value> found;
  for (Value each = from; each <= std::min(of, to); ++each)
    if (of % each == 0) found.push_back(each);
  return found;
}

std::vector<Value> powers_of_two(Value to) {
  std::vector<Value> found;
  for (Value each = 1; each <= to; each *= 2) found.push_back(each);
  return found;
}

// "[1, 64, 128, 0]": what each loop gets, by its number.
class PerLoop {
 public:
  explicit PerLoop(const problem::Operation& root) : values_(root.loops.size(), 0) {}
  PerLoop& set(int loop, Value value) {
    values_[static_cast<std::size_t>(loop)] = value;
    return *this;
  }
  std::string text() const { return fmt::format("[{}]", fmt::join(values_, ", ")); }

 private:
  std::vector<Value> values_;
};

PerLoop workgroup_tile(const problem::Operation& root) {
  PerLoop tile(root);
  for (const int loop : loops_of(root).batch) tile.set(loop, 1);
  return tile;
}

std::string translation(std::string_view pipeline, Value threads, int subgroup,
                        std::string_view options) {
  return fmt::format(
      "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<{}> workgroup_size = [{}, 1, "
      "1] subgroup_size = {}, {{gpu_pipeline_options = #iree_gpu.pipeline_options<{}>}}>",
      pipeline, threads, subgroup, options);
}

// The values of a configuration by knob.
class Values {
 public:
  Values(const space::Space& space, const space::Configuration& configuration)
      : space_(space), configuration_(configuration) {}
  // 1 for a knob that is not there: the space is then another operation's, and its tiles are
  // refused.
  Value of(std::string_view knob) const { return space_.value(configuration_, knob).value_or(1); }

 private:
  const space::Space& space_;
  const space::Configuration& configuration_;
};

Result<space::Space> with_matrix_instructions(const problem::Operation& root,
                                              const problem::GpuTarget& target) {
  const Loops loops = loops_of(root);
  const Value k = size(root, loops.k[0]);
  const Value bytes = problem::byte_size(root.operands[0].type.element);
  std::vector<Value> choices, ms, ns, ks;
  std::vector<std::string> names;
  for (const MatrixInstruction& each : instructions_for(root, target)) {
    names.push_back(fmt::format("{}: {}", choices.size(), each.name));
    choices.push_back(static_cast<Value>(choices.size()));
    ms.push_back(each.m);
    ns.push_back(each.n);
    ks.push_back(each.k);
  }
  constexpr Value kMaximumTile = 512, kSubgroups = 32;
  space::SpaceBuilder builder;
  const Expression mma = builder.knob("mma", fmt::format("{}", fmt::join(names, ", ")), choices);
  const Expression wg_m = builder.knob("wg_m", "rows of a workgroup",
                                       divisors(size(root, loops.m[0]), 1, kMaximumTile));
  const Expression wg_n = builder.knob("wg_n", "columns of a workgroup",
                                       divisors(size(root, loops.n[0]), 1, kMaximumTile));
  const Expression sg_m =
      builder.knob_range("sg_m", "instructions of a subgroup along m", 1, kMaximumTile / 8);
  const Expression sg_n =
      builder.knob_range("sg_n", "instructions of a subgroup along n", 1, kMaximumTile / 8);
  const Expression red_k =
      builder.knob_range("red_k", "instructions along k per step", 1, kMaximumTile / 4);
  const Expression m_count = builder.auxiliary("subgroups_m", 1, kSubgroups);
  const Expression n_count = builder.auxiliary("subgroups_n", 1, kSubgroups);
  const Expression mma_m = lookup(mma, choices, ms), mma_n = lookup(mma, choices, ns),
                   mma_k = lookup(mma, choices, ks);
  builder.require("wg_m is whole subgroups", "wg_m == sg_m * subgroups * rows of the instruction",
                  wg_m == sg_m * m_count * mma_m);
  builder.require("wg_n is whole subgroups",
                  "wg_n == sg_n * subgroups * columns of the instruction",
                  wg_n == sg_n * n_count * mma_n);
  builder.require("k is whole steps", "red_k times the instruction's k divides k",
                  euclidean_mod(space::constant(k), red_k * mma_k) == 0);
  builder.require(
      "threads", "a workgroup has at most {} threads",
      m_count * n_count * target.subgroup_sizes.front() <= space::constant(target.max_threads),
      {space::constant(target.max_threads)});
  builder.require(
      "shared memory", "both tiles of a step fit in {} bytes",
      (wg_m + wg_n) * red_k * mma_k * bytes <= space::constant(target.workgroup_memory_bytes),
      {space::constant(target.workgroup_memory_bytes)});
  builder.prefer("few subgroups", "more than 10 subgroups leave each few registers",
                 m_count * n_count <= 10);
  builder.prefer("step of k", "a step beyond 512 elements holds too many registers",
                 red_k * mma_k <= kMaximumTile);
  return builder.build();
}

Result<provider::Attributes> matrix_attributes(const problem::Operation& root,
                                               const problem::GpuTarget& target,
                                               const Values& values) {
  const auto instructions = instructions_for(root, target);
  const auto mma = static_cast<std::size_t>(values.of("mma"));
  if (mma >= instructions.size()) return input_error("mma = {} is no matrix instruction", mma);
  const MatrixInstruction& chosen = instructions[mma];
  const Loops loops = loops_of(root);
  const int lanes = target.subgroup_sizes.front();
  const Value wg_m = values.of("wg_m"), wg_n = values.of("wg_n");
  const Value sg_m = values.of("sg_m"), sg_n = values.of("sg_n");
  const Value subgroups = wg_m / (sg_m * chosen.m) * (wg_n / (sg_n * chosen.n));
  provider::Attributes attributes;
  attributes.lowering_config = fmt::format(
      "#iree_gpu.lowering_config<{{mma_kind = #iree_gpu.mma_layout<{}>, promote_operands = [0, 1], "
      "reduction = {}, subgroup = {}, workgroup = {}}}>",
      chosen.name, PerLoop(root).set(loops.k[0], values.of("red_k")).text(),
      PerLoop(root).set(loops.m[0], sg_m).set(loops.n[0], sg_n).text(),
      workgroup_tile(root).set(loops.m[0], wg_m).set(loops.n[0], wg_n).text());
  attributes.translation_info =
      translation("TileAndFuse", subgroups * lanes, lanes,
                  "prefetch_num_stages = 2, no_reduce_shared_memory_bank_conflicts = false, "
                  "use_igemm_convolution = false");
  return attributes;
}

Result<space::Space> with_threads(const problem::Operation& root,
                                  const problem::GpuTarget& target) {
  const Loops loops = loops_of(root);
  constexpr Value kMaximumTile = 256, kMaximumStep = 64, kMaximumThreadTile = 64;
  space::SpaceBuilder builder;
  const Expression wg_m = builder.knob("wg_m", "rows of a workgroup",
                                       divisors(size(root, loops.m[0]), 1, kMaximumTile));
  const Expression wg_n = builder.knob("wg_n", "columns of a workgroup",
                                       divisors(size(root, loops.n[0]), 1, kMaximumTile));
  const Expression th_m = builder.knob("th_m", "rows of a thread", powers_of_two(16));
  const Expression th_n = builder.knob("th_n", "columns of a thread", powers_of_two(16));
  builder.knob("red_k", "steps of k", divisors(size(root, loops.k[0]), 1, kMaximumStep));
  builder.require("threads divide the tile", "wg_m is whole th_m and wg_n whole th_n",
                  euclidean_mod(wg_m, th_m) == 0 && euclidean_mod(wg_n, th_n) == 0);
  const Expression threads = euclidean_div(wg_m, th_m) * euclidean_div(wg_n, th_n);
  builder.require("whole subgroups", "{} threads are whole subgroups",
                  euclidean_mod(threads, space::constant(target.subgroup_sizes.front())) == 0,
                  {threads});
  builder.require("threads", "a workgroup has at most {} threads",
                  threads <= space::constant(target.max_threads),
                  {space::constant(target.max_threads)});
  builder.prefer("registers", "a thread's tile beyond 64 elements spills",
                 th_m * th_n <= space::constant(kMaximumThreadTile));
  return builder.build();
}

provider::Attributes thread_attributes(const problem::Operation& root,
                                       const problem::GpuTarget& target, const Values& values) {
  const Loops loops = loops_of(root);
  const Value wg_m = values.of("wg_m"), wg_n = values.of("wg_n");
  const Value th_m = values.of("th_m"), th_n = values.of("th_n");
  provider::Attributes attributes;
  attributes.lowering_config =
      fmt::format("#iree_gpu.lowering_config<{{reduction = {}, thread = {}, workgroup = {}}}>",
                  PerLoop(root).set(loops.k[0], values.of("red_k")).text(),
                  PerLoop(root).set(loops.m[0], th_m).set(loops.n[0], th_n).text(),
                  workgroup_tile(root).set(loops.m[0], wg_m).set(loops.n[0], wg_n).text());
  attributes.translation_info =
      translation("TileAndFuse", wg_m / th_m * (wg_n / th_n), target.subgroup_sizes.front(),
                  "no_reduce_shared_memory_bank_conflicts = true, use_igemm_convolution = false");
  return attributes;
}

Result<space::Space> along_rows(const problem::Operation& root, const problem::GpuTarget& target) {
  const int row = row_loop(root);
  constexpr Value kMaximumRows = 16, kLoadBits = 128;
  const Value length = size(root, row), lanes = target.subgroup_sizes.front();
  const Value bits = 8 * problem::byte_size(root.operands.front().type.element);
  space::SpaceBuilder builder;
  builder.knob("rows", "of one workgroup", divisors(size(root, row - 1), 1, kMaximumRows));
  const Expression subgroups =
      builder.knob("subgroups", "that share a row", powers_of_two(target.max_threads / lanes));
  const Expression vector =
      builder.knob("vector", "elements of one load", powers_of_two(kLoadBits / bits));
  const Expression steps = builder.knob("steps", "loads per thread and iteration", {1, 2, 4});
  builder.require("row is whole iterations",
                  "subgroups * lanes * vector * steps elements divide the row of {}",
                  euclidean_mod(space::constant(length), subgroups * lanes * vector * steps) == 0,
                  {space::constant(length)});
  return builder.build();
}

provider::Attributes row_attributes(const problem::Operation& root,
                                    const problem::GpuTarget& target, const Values& values) {
  const int row = row_loop(root), lanes = target.subgroup_sizes.front();
  const Value subgroups = values.of("subgroups"), vector = values.of("vector");
  PerLoop tile(root), lane_counts(root), subgroup_counts(root), order(root);
  for (int loop = 0; loop < static_cast<int>(root.loops.size()); ++loop) {
    if (loop != row) tile.set(loop, loop == row - 1 ? values.of("rows") : 1);
    lane_counts.set(loop, loop == row ? lanes : 1);
    subgroup_counts.set(loop, loop == row ? subgroups : 1);
    order.set(loop, loop);
  }
  provider::Attributes attributes;
  attributes.lowering_config = fmt::format(
      "#iree_gpu.lowering_config<{{lane_basis = [{}, {}], partial_reduction = {}, subgroup_basis = "
      "[{}, {}], thread = {}, workgroup = {}}}>",
      lane_counts.text(), order.text(),
      PerLoop(root).set(row, subgroups * lanes * vector * values.of("steps")).text(),
      subgroup_counts.text(), order.text(), PerLoop(root).set(row, vector).text(), tile.text());
  attributes.translation_info =
      translation("VectorDistribute", subgroups * lanes, lanes,
                  "no_reduce_shared_memory_bank_conflicts = false, use_igemm_convolution = false");
  return attributes;
}

}  // namespace

std::string why_no_own_space(const problem::Operation& root, const problem::GpuTarget& target) {
  if (form_of(root, target) != Form::kNone) return {};
  return fmt::format(
      "the compiler states no constraints for its {} on {}, and hone has spaces of its own only "
      "for (batch) matmuls, products with a vector and sums along rows",
      problem::describe(root), target.compiled_as);
}

Result<space::Space> gpu_own_space(const problem::Operation& root,
                                   const problem::GpuTarget& target) {
  switch (form_of(root, target)) {
    case Form::kMatrixInstructions:
      return with_matrix_instructions(root, target);
    case Form::kThreads:
      return with_threads(root, target);
    case Form::kRows:
      return along_rows(root, target);
    case Form::kNone:
      break;
  }
  return input_error("{}", why_no_own_space(root, target));
}

Result<provider::Attributes> gpu_own_attributes(const problem::Operation& root,
                                                const problem::GpuTarget& target,
                                                const space::Space& space,
                                                const space::Configuration& configuration) {
  const Values values(space, configuration);
  switch (form_of(root, target)) {
    case Form::kMatrixInstructions:
      return matrix_attributes(root, target, values);
    case Form::kThreads:
      return thread_attributes(root, target, values);
    case Form::kRows:
      return row_attributes(root, target, values);
    case Form::kNone:
      break;
  }
  return input_error("{}", why_no_own_space(root, target));
}

}  // namespace hone::iree
