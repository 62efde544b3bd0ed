#include "provider/iree/cpu/loops.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace hone::iree {
namespace {

std::string letter_of(problem::LoopRole role) {
  return role == problem::LoopRole::kBatch ? "b" : std::string(name_of(role));
}

Status check_operands(const problem::Operation& operation) {
  const auto outputs = std::ranges::count_if(
      operation.operands, [](const problem::Operand& each) { return each.output; });
  if (operation.operands.size() != 3 || outputs != 1 || !operation.operands.back().output)
    return input_error(
        "{} has {} operands, {} of them outputs; a contraction has two inputs and "
        "one output",
        describe(operation), operation.operands.size(), outputs);
  for (const problem::Operand& operand : operation.operands)
    for (const int loop : operand.loops)
      if (loop < 0 || loop >= static_cast<int>(operation.loops.size()))
        return input_error(
            "an operand of {} is indexed by more than a loop; only projected "
            "permutations can be tiled as a contraction",
            describe(operation));
  if (operation.operands.back().loops.empty())
    return input_error("{} has a scalar result: there is no loop to tile in parallel",
                       describe(operation));
  return {};
}

// The m loops, then the n loops, in the places that both have; empty where that is how they are.
std::vector<int> outer_product_order(const problem::Operation& operation) {
  std::vector<int> order, rows = loops_with(operation, problem::LoopRole::kM);
  const std::vector<int> columns = loops_with(operation, problem::LoopRole::kN);
  if (rows.empty() || columns.empty() || rows.back() < columns.front()) return {};
  rows.insert(rows.end(), columns.begin(), columns.end());
  auto next = rows.begin();
  for (std::size_t i = 0; i < operation.loops.size(); ++i) {
    const problem::LoopRole role = operation.loops[i].role;
    const bool either = role == problem::LoopRole::kM || role == problem::LoopRole::kN;
    order.push_back(either ? *next++ : static_cast<int>(i));
  }
  return order;
}

}  // namespace

Result<ContractionLoops> contraction_loops(const problem::Operation& operation) {
  if (!is_contraction(operation.kind))
    return input_error("{} is not a contraction", describe(operation));
  if (is_dynamic(operation))
    return input_error("{} has a loop whose size is known only at run time", describe(operation));
  HONE_TRY(check_operands(operation));

  ContractionLoops result;
  for (std::size_t i = 0; i < operation.loops.size(); ++i) {
    const problem::Loop& loop = operation.loops[i];
    const std::vector<int> same = loops_with(operation, loop.role);
    std::string label = letter_of(loop.role);
    if (same.size() > 1)
      label += std::to_string(std::ranges::find(same, static_cast<int>(i)) - same.begin());
    result.loops.push_back({std::move(label), loop.size, loop.role, loop.reduction});
    (loop.reduction ? result.reduction : result.parallel).push_back(static_cast<int>(i));
  }
  if (result.reduction.empty()) return input_error("{} has no k loop", describe(operation));
  const problem::Operand& output = operation.operands.back();
  result.lane = output.loops.back();
  // Only of a linalg.generic can loops be interchanged.
  if (operation.name == "linalg.generic") result.interchange = outer_product_order(operation);
  result.accumulator_bytes = byte_size(output.type.element);
  result.input_bytes = std::min(byte_size(operation.operands[0].type.element),
                                byte_size(operation.operands[1].type.element));
  return result;
}

std::optional<std::int64_t> rows_in_first_level(const problem::Operation& operation,
                                                const problem::Operand& operand,
                                                const problem::CpuTarget& target) {
  constexpr std::int64_t kWayBytes = 4096;
  if (operand.output || operand.loops.size() < 2 || operand.loops.back() < 0) return std::nullopt;
  if (!operation.loops[static_cast<std::size_t>(operand.loops.back())].reduction)
    return std::nullopt;
  const std::int64_t stride = operand.type.shape.back() * byte_size(operand.type.element);
  const std::int64_t ways = std::max<std::int64_t>(1, target.l1d_bytes / kWayBytes);
  return ways * (kWayBytes / std::gcd(stride, kWayBytes));
}

namespace {

// The role of a loop in a convolution, as its letter in a layout.
enum Letter : char {
  kBatch = 'B',      // of the image and the output
  kImageLoop = 'I',  // of the output alone: the image is indexed by it and a filter loop together
  kOutput = 'F',     // of the filter and the output
  kInputChannel = 'C',  // of the image and the filter
  kFilter = 'K',        // of the filter alone
  kDepth = 'G',         // of all three
  kCombined = 'x'       // two loops in one index
};

bool walks(const problem::Operand& operand, int loop) {
  return std::ranges::count(operand.loops, loop) > 0;
}

Letter letter_of(const problem::Operation& operation, int loop) {
  const bool image = walks(operation.operands[0], loop),
             filter = walks(operation.operands[1], loop);
  if (walks(operation.operands[2], loop)) {
    if (image && filter) return kDepth;
    if (filter) return kOutput;
    return image ? kBatch : kImageLoop;
  }
  return image ? kInputChannel : kFilter;
}

// "BxxC" of nhwc.
std::string layout(const problem::Operand& operand, const std::string& letters) {
  std::string text;
  for (const int loop : operand.loops)
    text += loop < 0 ? static_cast<char>(kCombined) : letters[static_cast<std::size_t>(loop)];
  return text;
}

// The forms of populateDecomposeConvolutionPatterns (MLIR): image, filter, output.
constexpr std::array<std::array<std::string_view, 3>, 5> kDecomposedForms = {
    {{"BxxC", "KKCF", "BIIF"},
     {"BCxx", "FCKK", "BFII"},
     {"BxxG", "KKG", "BIIG"},
     {"BxxB", "KK", "BIIB"},
     {"BBxx", "KK", "BBII"}}};

ConvolutionForm form_of(const problem::Operation& operation, const std::string& letters,
                        std::size_t image_loops) {
  if (image_loops == 1) return ConvolutionForm::kOneDimensional;
  const std::array<std::string, 3> form = {layout(operation.operands[0], letters),
                                           layout(operation.operands[1], letters),
                                           layout(operation.operands[2], letters)};
  const bool decomposed = std::ranges::any_of(kDecomposedForms, [&](const auto& each) {
    return std::equal(each.begin(), each.end(), form.begin());
  });
  return decomposed ? ConvolutionForm::kDecomposed : ConvolutionForm::kScalar;
}

// "kh" of the first of two dimensions, "kw" of the last; "kd" comes before them.
std::string dimension_label(std::string_view prefix, std::size_t at, std::size_t dimensions) {
  constexpr std::string_view kNames = "dhw";
  if (dimensions > kNames.size()) return fmt::format("{}{}", prefix, at);
  return fmt::format("{}{}", prefix, kNames[kNames.size() - dimensions + at]);
}

Status check(const problem::Operation& operation) {
  if (operation.kind != problem::OperationKind::kConvolution)
    return input_error("{} is not a convolution", describe(operation));
  if (is_dynamic(operation))
    return input_error("{} has a loop whose size is known only at run time", describe(operation));
  const auto& operands = operation.operands;
  if (operands.size() != 3 || operands[0].output || operands[1].output || !operands[2].output)
    return input_error("{} is not of an image and a filter into one output", describe(operation));
  for (const problem::Operand& operand : operands)
    for (const int loop : operand.loops)
      if (loop >= static_cast<int>(operation.loops.size()) ||
          (loop < 0 && &operand != &operands[0]))
        return input_error("an operand of {} other than the image is indexed by more than a loop",
                           describe(operation));
  if (operands[2].loops.empty())
    return input_error("{} has a scalar result: there is no loop to tile in parallel",
                       describe(operation));
  return {};
}

}  // namespace

Result<ConvolutionLoops> convolution_loops(const problem::Operation& operation) {
  HONE_TRY(check(operation));
  std::string letters;
  ConvolutionLoops result;
  for (std::size_t i = 0; i < operation.loops.size(); ++i) {
    const int loop = static_cast<int>(i);
    letters += static_cast<char>(letter_of(operation, loop));
    if (letters.back() == kImageLoop) result.image.push_back(loop);
    if (letters.back() == kFilter) result.filter.push_back(loop);
  }
  if (result.image.empty() || result.image.size() != result.filter.size())
    return input_error(
        "{} has {} image and {} filter loops; hone tunes convolutions where each "
        "image loop has its filter loop",
        describe(operation), result.image.size(), result.filter.size());
  result.form = form_of(operation, letters, result.image.size());
  result.sums_channels = letters.find(kInputChannel) != letters.npos;
  // The channel of a depthwise convolution and of pooling goes by the usual letter.
  const bool has_channels = result.sums_channels || letters.find(kOutput) != letters.npos;

  std::map<std::string, int> seen;
  std::size_t image = 0, filter = 0;
  for (std::size_t i = 0; i < operation.loops.size(); ++i) {
    const problem::Loop& loop = operation.loops[i];
    std::string label;
    problem::LoopRole role = problem::LoopRole::kOther;
    switch (letters[i]) {
      case kBatch:
        label = has_channels || seen["n"] == 0 ? "n" : "c";
        if (label == "n") role = problem::LoopRole::kBatch;
        break;
      case kImageLoop:
        label = dimension_label("o", image++, result.image.size());
        break;
      case kFilter:
        label = dimension_label("k", filter++, result.filter.size());
        break;
      case kOutput:
        label = "f";
        break;
      case kInputChannel:
        label = "c";
        break;
      default:
        label = has_channels ? "g" : "c";
    }
    if (const int count = seen[label]++; count > 0) label += std::to_string(count);
    result.nest.loops.push_back({std::move(label), loop.size, role, loop.reduction});
    (loop.reduction ? result.nest.reduction : result.nest.parallel).push_back(static_cast<int>(i));
  }
  const problem::Operand& output = operation.operands.back();
  result.nest.lane = output.loops.back();
  result.nest.accumulator_bytes = byte_size(output.type.element);
  result.nest.input_bytes = std::min(byte_size(operation.operands[0].type.element),
                                     byte_size(operation.operands[1].type.element));
  return result;
}

}  // namespace hone::iree
