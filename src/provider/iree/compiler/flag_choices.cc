#include "provider/iree/compiler/flag_choices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/hash.h"
#include "provider/iree/compiler/transform_specs.h"

namespace hone::iree {
namespace {

// The content of a program without which a flag changes nothing.
enum class Needs { kNothing, kProducts, kConvolutions, kFloatSums, kRegions };

enum class For { kCpu, kGpu, kBoth };

struct FlagRow {
  std::string_view name, group;
  For target;
  Needs needs;
  std::vector<std::string> flags;
  std::string_view reason;
  provider::DispatchChange changes = provider::DispatchChange::kNone;
};

// Late, after configurations are read; early, before the program is split into dispatches.
constexpr std::string_view kTiling = "data tiling", kEarly = "--iree-global-opt-data-tiling";

// Their flags end in the name of a file (add_file).
constexpr std::string_view kBlocks = "weights in blocks", kRegions = "regions";

constexpr std::string_view kReorderedSums = "reordered sums";

constexpr std::string_view kPassPipeline = "--iree-preprocessing-pass-pipeline";

std::string of_module(std::string_view pass) {
  return fmt::format("{}=builtin.module({})", kPassPipeline, pass);
}

std::string of_functions(std::string_view pass) {
  return of_module(fmt::format("util.func({})", pass));
}

std::vector<FlagRow> rows() {
  using provider::DispatchChange;
  constexpr std::string_view kConvolutions = "convolutions", kLayout = "layout of convolutions",
                             kLevel = "optimisation level", kFusion = "fusion",
                             kTranspose = "transposes";
  const std::string tiled = "--iree-opt-data-tiling";
  const std::string tile_op = "--iree-dispatch-creation-experimental-set-data-tiling-ops=";
  return {
      {"im2col",
       kConvolutions,
       For::kCpu,
       Needs::kConvolutions,
       {"--iree-global-opt-use-im2col-for-convs"},
       "convolutions become products of matrices, which the compiler knows best"},
      {"channels last",
       kLayout,
       For::kBoth,
       Needs::kConvolutions,
       {of_functions("iree-preprocessing-convert-conv-to-channels-last")},
       "vectors of channels lie together; helps convolutions that are written NCHW",
       DispatchChange::kLayouts},
      {"data tiling",
       kTiling,
       For::kBoth,
       Needs::kProducts,
       {tiled},
       "matrices are packed into tiles, so that a product reads memory in order"},
      {kBlocks,
       kTiling,
       For::kCpu,
       Needs::kProducts,
       {std::string(kTransformSpecFlag)},
       "a product reads its weights in order, and all else stays as it is; a spec reaches it"},
      {"data tiling + micro-kernels",
       kTiling,
       For::kCpu,
       Needs::kProducts,
       {tiled, "--iree-llvmcpu-enable-ukernels=all"},
       "the same with hand-written kernels for the tiles"},
      {"O3",
       kLevel,
       For::kBoth,
       Needs::kNothing,
       {"--iree-opt-level=O3"},
       "all that the compiler thinks worthwhile: fusion, transposes, generic products"},
      {"data tiling of convolutions",
       kTiling,
       For::kCpu,
       Needs::kConvolutions,
       {tiled, tile_op + "matmul", tile_op + "convolution"},
       "convolutions are tiled as products are"},
      {"data tiling of convolutions + micro-kernels",
       kTiling,
       For::kCpu,
       Needs::kConvolutions,
       {tiled, tile_op + "matmul", tile_op + "convolution", "--iree-llvmcpu-enable-ukernels=all"},
       "the same with hand-written kernels for the tiles"},
      {"early data tiling",
       kTiling,
       For::kCpu,
       Needs::kProducts,
       {std::string(kEarly)},
       "matrices are packed before fusion; the product of tiles is a dispatch that can be tuned"},
      {kReorderedSums,
       "sums",
       For::kCpu,
       Needs::kFloatSums,
       {"--iree-llvmcpu-reassociate-fp-reductions"},
       "sums of floating-point numbers may be added up in vectors; rounds otherwise"},
      {"padding into consumers",
       "padding",
       For::kBoth,
       Needs::kConvolutions,
       {"--iree-dispatch-creation-enable-fuse-padding-into-linalg-consumer-ops"},
       "a convolution pads what it reads itself, in place of a copy before it"},
      {"aggressive fusion",
       kFusion,
       For::kBoth,
       Needs::kNothing,
       {"--iree-dispatch-creation-enable-aggressive-fusion"},
       "fewer, larger dispatches",
       DispatchChange::kFusion},
      {"aggressive transposes",
       kTranspose,
       For::kBoth,
       Needs::kNothing,
       {"--iree-opt-aggressively-propagate-transposes"},
       "transposes disappear into operations that then are generic ones"},
      {"generic products",
       "products",
       For::kBoth,
       Needs::kProducts,
       {"--iree-opt-generalize-matmul"},
       "products fuse with what changes the order of their operands",
       DispatchChange::kFusion},
      {"horizontal fusion",
       "horizontal fusion",
       For::kBoth,
       Needs::kProducts,
       {"--iree-dispatch-creation-enable-fuse-horizontal-contractions"},
       "products of one operand (query, key and value) become one dispatch",
       DispatchChange::kFusion},
      {kRegions,
       kRegions,
       For::kGpu,
       Needs::kRegions,
       {std::string(kTransformSpecFlag)},
       "product, softmax and product, and grouped products, become one dispatch",
       DispatchChange::kRegions},
      {"early truncation",
       "early truncation",
       For::kGpu,
       Needs::kProducts,
       {"--iree-dispatch-creation-enable-early-trunc-fusion"},
       "sums are rounded in the dispatch that adds them up, or in the one that reads them",
       DispatchChange::kFusion},
      {"fusion of several uses",
       "fusion of several uses",
       For::kGpu,
       Needs::kNothing,
       {"--iree-dispatch-creation-fuse-multi-use"},
       "an operation fuses with its reader though others read it too",
       DispatchChange::kFusion},
      {"split reductions",
       "split reductions",
       For::kBoth,
       Needs::kNothing,
       {"--iree-dispatch-creation-enable-split-reduction"},
       "long sums are shared out; helps where there is little else to share out"},
      {"bindings unfused",
       "bindings",
       For::kBoth,
       Needs::kNothing,
       {"--iree-scheduling-optimize-bindings=false"},
       "kernels get each buffer for itself: alignment is known, arguments are more"},
      {"Winograd",
       kConvolutions,
       For::kCpu,
       Needs::kConvolutions,
       {of_functions("iree-linalg-ext-convert-conv2d-to-winograd{replace-all-convs=true}")},
       "3x3 convolutions in fewer multiplications; rounds otherwise"},
      {"img2col pass",
       kConvolutions,
       For::kCpu,
       Needs::kConvolutions,
       {of_functions("iree-global-opt-convert-conv2d-to-img2col")},
       "convolutions become products by another pass than im2col's"},
      {"transposed convolutions",
       kLayout,
       For::kGpu,
       Needs::kConvolutions,
       {of_module("iree-preprocessing-transpose-convolution-pipeline"),
        "--iree-global-opt-propagate-transposes-through-conv"},
       "layouts that matrix instructions load in order"},
      {"padded to intrinsics",
       kLayout,
       For::kGpu,
       Needs::kProducts,
       {of_module("iree-preprocessing-pad-to-intrinsics")},
       "products of odd sizes use matrix instructions too"},
      {"direct convolutions",
       kConvolutions,
       For::kGpu,
       Needs::kConvolutions,
       {"--iree-codegen-llvmgpu-use-direct-convolution"},
       "convolutions are not turned into products inside a kernel"},
      {"no tuning specs of IREE's own",
       "tuning specs",
       For::kGpu,
       Needs::kNothing,
       {"--iree-codegen-enable-default-tuning-specs=false"},
       "the compiler's heuristics in place of what was tuned for other shapes"},
      {"tuning specs of IREE's own",
       "tuning specs",
       For::kGpu,
       Needs::kNothing,
       {"--iree-codegen-enable-default-tuning-specs"},
       "what IREE's makers tuned for this GPU"},
  };
}

bool holds(const problem::Program& program, Needs needs) {
  using problem::OperationKind;
  const auto any = [&](auto&& is) { return std::ranges::any_of(program.dispatches, is); };
  switch (needs) {
    case Needs::kConvolutions:
      return any([](const problem::Dispatch& each) {
        return each.root.kind == OperationKind::kConvolution ||
               each.source.find("linalg.conv_") != std::string::npos;
      });
    case Needs::kProducts:
      return any([](const problem::Dispatch& each) {
        constexpr std::array kProducts = {OperationKind::kMatmul, OperationKind::kBatchMatmul,
                                          OperationKind::kContraction, OperationKind::kMatvec,
                                          OperationKind::kConvolution};
        return std::ranges::count(kProducts, each.root.kind) > 0;
      });
    case Needs::kFloatSums:
      return any([](const problem::Dispatch& each) {
        return each.source.find("arith.addf") != std::string::npos;
      });
    case Needs::kRegions:
      return !program.regions.spec.empty();
    case Needs::kNothing:
      return true;
  }
  return true;
}

std::string_view missing(Needs needs) {
  switch (needs) {
    case Needs::kConvolutions:
      return "the program has no convolution";
    case Needs::kProducts:
      return "the program has no product of matrices";
    case Needs::kFloatSums:
      return "the program adds up no floating-point numbers";
    case Needs::kRegions:
      return "the program has no attention of separate products, and no grouped 1x1 convolution";
    case Needs::kNothing:
      return "";
  }
  return "";
}

provider::SpecReach reach_under(const FlagRow& row) {
  if (row.group != kTiling) return provider::SpecReach::kAll;
  if (row.name == kBlocks) return provider::SpecReach::kBlocks;
  return std::ranges::count(row.flags, kEarly) > 0 ? provider::SpecReach::kTiles
                                                   : provider::SpecReach::kNothing;
}

provider::FlagChoice choice_of(const FlagRow& row) {
  return {.name = std::string(row.name),
          .group = std::string(row.group),
          .flags = row.flags,
          .reason = std::string(row.reason),
          .reach = reach_under(row),
          .changes = row.changes};
}

std::string_view name_in(std::string_view flag) {
  return flag.substr(0, flag.find('='));
}

// Results in the store are found by the flags, the file's name among them: a text that makes other
// dispatches needs another name.
void add_file(provider::FlagChoice& choice, const std::filesystem::path& file, std::string text) {
  choice.flags.back() += file.string();
  choice.files.push_back({file, std::move(text)});
}

bool says(const std::vector<std::string>& flags, const FlagRow& row) {
  return std::ranges::any_of(flags, [&](const std::string& given) {
    return std::ranges::any_of(
        row.flags, [&](const std::string& flag) { return name_in(flag) == name_in(given); });
  });
}

}  // namespace

std::vector<provider::FlagChoice> flag_choices(const problem::Program& program,
                                               const std::vector<std::string>& flags,
                                               int vector_bits,
                                               const std::filesystem::path& folder) {
  const bool gpu = vector_bits == 0;
  std::vector<provider::FlagChoice> choices;
  for (const FlagRow& row : rows()) {
    if (row.target == (gpu ? For::kCpu : For::kGpu) || says(flags, row)) continue;
    provider::FlagChoice& choice = choices.emplace_back(choice_of(row));
    if (row.name == kBlocks) {
      const int columns = columns_of_a_block(vector_bits);
      add_file(choice, folder / fmt::format("weights_in_blocks_of_{}.mlir", columns),
               weights_in_blocks(columns));
    }
    if (row.name == kRegions) {
      const std::string& spec = program.regions.spec;
      add_file(choice, folder / fmt::format("regions_{}.mlir", content_hash(spec).substr(0, 8)),
               spec);
      if (!spec.empty())
        choice.reason += fmt::format(": {}", fmt::join(program.regions.names, ", "));
    }
    if (!holds(program, row.needs)) choice.why_not = missing(row.needs);
  }
  return choices;
}

std::vector<provider::FlagChoice> known_choices(const std::vector<std::string>& flags) {
  constexpr std::array<std::string_view, 3> kKnown = {"data tiling", "data tiling + micro-kernels",
                                                      "O3"};
  std::vector<provider::FlagChoice> choices;
  for (const FlagRow& row : rows())
    if (std::ranges::count(kKnown, row.name) > 0 && !says(flags, row))
      choices.push_back(choice_of(row));
  return choices;
}

std::optional<provider::FlagChoice> reordered_sums(const std::vector<std::string>& flags) {
  const std::vector<FlagRow> all = rows();
  const auto row = std::ranges::find(all, kReorderedSums, &FlagRow::name);
  const bool names_level = std::ranges::any_of(flags, [](const std::string& flag) {
    return flag.starts_with("--iree-opt-level") ||
           flag.starts_with("--iree-llvmcpu-mlir-opt-level");
  });
  if (row == all.end() || names_level || says(flags, *row)) return std::nullopt;
  return choice_of(*row);
}

std::vector<std::string> plain_choices() {
  std::vector<std::string> names;
  for (const FlagRow& row : rows())
    for (const std::string& flag : row.flags)
      if (const std::string_view name = name_in(flag);
          name != kPassPipeline && name != name_in(kTransformSpecFlag))
        names.emplace_back(name);
  return names;
}

}  // namespace hone::iree
