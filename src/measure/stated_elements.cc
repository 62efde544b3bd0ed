#include "measure/stated_elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include "measure/half.h"
#include "measure/inputs.h"
#include "measure/parts.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using problem::LoopRole;
using problem::ScalarKind;
using Operands = std::span<const double>;

// "olt", "ule": of integers the first letter is their sign, of floats whether NaN fails or holds.
bool holds(std::string_view predicate, double a, double b) {
  if (predicate == "true") return true;
  if (predicate == "false") return false;
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (predicate == "ord") return !unordered;
  if (predicate == "uno") return unordered;
  if (predicate.size() == 3) {
    if (unordered) return predicate.front() == 'u';
    predicate.remove_prefix(1);
  }
  if (predicate == "eq") return a == b;
  if (predicate == "ne") return a != b;
  if (predicate == "gt") return a > b;
  if (predicate == "ge") return a >= b;
  return predicate == "lt" ? a < b : a <= b;
}

int bits_of(ElementType type) {
  return type == ElementType::kI1 ? 1 : static_cast<int>(8 * problem::byte_size(type));
}

// Reads an integer of `type` as unsigned.
double without_sign(double value, ElementType type) {
  return value < 0 ? value + std::ldexp(1.0, bits_of(type)) : value;
}

double low_bits(double x, ElementType to) {
  const double range = std::ldexp(1.0, bits_of(to));
  const double low = x - range * std::floor(x / range);
  return to == ElementType::kI1 || low < range / 2 ? low : low - range;
}

// Sums and differences of truth values, which are 0 or 1, are the exclusive or.
std::optional<double> of_truth_values(ScalarKind kind, Operands x) {
  const bool a = x[0] != 0, b = x[1] != 0;
  switch (kind) {
    case ScalarKind::kSum:
    case ScalarKind::kDifference:
    case ScalarKind::kExclusiveOr:
      return a != b;
    case ScalarKind::kProduct:
    case ScalarKind::kAnd:
      return a && b;
    case ScalarKind::kOr:
      return a || b;
    default:
      return std::nullopt;
  }
}

std::optional<double> of_bits(ScalarKind kind, Operands x) {
  const auto a = static_cast<std::int64_t>(x[0]), b = static_cast<std::int64_t>(x[1]);
  if (kind == ScalarKind::kAnd) return static_cast<double>(a & b);
  if (kind == ScalarKind::kOr) return static_cast<double>(a | b);
  if (kind == ScalarKind::kExclusiveOr) return static_cast<double>(a ^ b);
  return std::nullopt;
}

// Operations whose meaning depends on the integers' types.
std::optional<double> of_integers(const problem::StatedValue& value, Operands x, ElementType from) {
  const ScalarKind kind = value.operation.kind();
  const bool truth = from == ElementType::kI1;
  if (kind == ScalarKind::kSignedConversion) return truth ? -x[0] : x[0];  // true is -1
  if (kind == ScalarKind::kUnsignedConversion) return truth ? x[0] : without_sign(x[0], from);
  if (kind == ScalarKind::kTruncation) return low_bits(x[0], value.type);
  if (x.size() != 2) return std::nullopt;
  if (truth && value.type == ElementType::kI1)
    if (const auto result = of_truth_values(kind, x)) return result;
  return of_bits(kind, x);
}

using problem::Binding;
using problem::StatedUse;
using problem::StatedValue;
using problem::Statement;

// Elements that are worth a thread: each has hundreds of products.
constexpr std::size_t kLeastPart = 64;

// A use of a binding, with the place of its elements in the binding's contents.
struct Located {
  const StatedUse* use = nullptr;
  int binding = -1;
  std::int64_t begin = 0;            // bytes from the binding's begin to element 0 of the view
  std::span<const std::byte> bytes;  // of the binding; of a table its words

  std::int64_t byte_of(std::int64_t element) const {
    return begin + element * problem::byte_size(use->type);
  }
  double load(std::int64_t element) const {
    return load_element(bytes.data() + byte_of(element), use->type);
  }
};

// Some of a statement's loops, walked as one with the last of them the innermost.
class Walk {
 public:
  template <class Takes>
  Walk(const Statement& statement, const Takes& takes) {
    for (std::size_t l = 0; l < statement.loops.size(); ++l)
      if (takes(statement.loops[l])) loops_.push_back(l);
    for (const std::size_t l : loops_) sizes_.push_back(statement.loops[l].size);
    count_ = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{1}, std::multiplies());
  }

  std::int64_t count() const { return count_; }
  // Distance in elements of step `step` from the first element of the use.
  std::int64_t distance(std::int64_t step, const StatedUse& use) const {
    std::int64_t elements = 0;
    for (std::size_t i = loops_.size(); i-- > 0;) {
      elements += step % sizes_[i] * use.strides[loops_[i]];
      step /= sizes_[i];
    }
    return elements;
  }
  std::vector<std::int64_t> distances(const StatedUse& use) const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count_));
    for (std::int64_t step = 0; step < count_; ++step)
      all[static_cast<std::size_t>(step)] = distance(step, use);
    return all;
  }

 private:
  std::vector<std::size_t> loops_;
  std::vector<std::int64_t> sizes_;
  std::int64_t count_ = 1;
};

class Evaluation {
 public:
  Evaluation(const problem::Dispatch& dispatch, const Statement& statement,
             std::span<const std::span<const std::byte>> inputs, const ElementSample& sample)
      : dispatch_(dispatch),
        statement_(statement),
        inputs_(inputs),
        sample_(sample),
        rows_(statement,
              [](const auto& loop) {
                return loop.role == LoopRole::kBatch || loop.role == LoopRole::kM;
              }),
        columns_(statement,
                 [&](const auto& loop) {
                   return loop.role == LoopRole::kN ||
                          (loop.role == LoopRole::kK && !statement.contracts());
                 }),
        attends_(statement.attends()),
        reduces_(statement.reduces()) {}

  Result<std::vector<StatedElements>> run() {
    for (const StatedUse& operand : statement_.operands) {
      HONE_ASSIGN(operands_.emplace_back(), locate(operand, /*reads=*/true));
    }
    for (const StatedValue& value : statement_.values) {
      Located& located = loads_.emplace_back();
      if (value.operation.is(ScalarKind::kLoad)) {
        HONE_ASSIGN(located, locate(value.use, /*reads=*/true));
      } else if (value.operation.is(ScalarKind::kTable)) {
        located = {&value.use, -1, 0, std::as_bytes(std::span(value.words))};
        HONE_TRY(check_bounds(located, located.bytes.size()));
      }
    }
    std::vector<Located> stores;
    std::vector<StatedElements> found;
    for (const problem::StatedStore& store : statement_.stores) {
      HONE_ASSIGN(stores.emplace_back(), locate(store.use, /*reads=*/false));
      found.push_back({stores.back().binding, store.use.type, {}, {}});
    }
    if (attends_)
      prepare_attention();
    else if (statement_.contracts())
      prepare_contraction();
    else
      prepare_elements();
    const std::vector<Point> all = points();
    for (std::size_t s = 0; s < stores.size(); ++s) {
      found[s].values.resize(all.size());
      for (const auto& [row, column] : all)
        found[s].places.push_back(stores[s].byte_of(element_of(*stores[s].use, row, column)) /
                                  problem::byte_size(stores[s].use->type));
    }
    const auto compute_part = [&](std::size_t begin, std::size_t end) -> Status {
      Element element;
      for (std::size_t i = begin; i < end; ++i) {
        HONE_TRY(compute(all[i].first, all[i].second, element));
        for (std::size_t s = 0; s < stores.size(); ++s)
          found[s].values[i] = element.values[statement_.stores[s].value];
      }
      return {};
    };
    for (Status& part : in_parts_of(all.size(), kLeastPart, compute_part))
      if (!part) return tl::unexpected(std::move(part).error());
    return found;
  }

 private:
  using Point = std::pair<std::int64_t, std::int64_t>;  // row, column

  // Values that a thread has computed for its present element and row.
  struct Element {
    std::vector<double> values;
    std::int64_t weighed_row = -1;
    std::vector<double> weights;  // of the keys for that row, with the sum 1
    std::vector<double> reduced;  // by value; of the row `weighed_row`
  };

  std::int64_t element_of(const StatedUse& use, std::int64_t row, std::int64_t column) const {
    return use.offset + rows_.distance(row, use) + columns_.distance(column, use);
  }

  // Finds the binding that holds a use. Without an ordinal (Binding::ordinal), the dispatch's
  // binding i is the kernel's binding i as a whole.
  Result<Located> locate(const StatedUse& use, bool reads) const {
    const problem::StatedView& view = statement_.views[use.view];
    std::int64_t byte = view.offset;
    for (std::size_t w = 0; w < view.words.size() && w < 2; ++w) {
      if (view.words[w] >= dispatch_.constants.size())
        return input_error("a view begins where constant {} says, and there are {}", view.words[w],
                           dispatch_.constants.size());
      byte += std::int64_t{dispatch_.constants[view.words[w]]} << (32 * w);
    }
    for (std::size_t i = 0; i < dispatch_.bindings.size(); ++i) {
      const Binding& binding = dispatch_.bindings[i];
      const bool whole = binding.ordinal < 0;
      const std::int64_t begin = whole ? 0 : binding.offset;
      if ((whole ? static_cast<int>(i) : binding.ordinal) != view.binding || byte < begin ||
          (!whole && byte >= begin + std::max<std::int64_t>(binding.bytes, 1)))
        continue;
      Located located{&use, static_cast<int>(i), byte - begin, {}};
      if (reads) located.bytes = inputs_[i];
      HONE_TRY(check_bounds(
          located, reads ? located.bytes.size() : static_cast<std::size_t>(binding.bytes)));
      return located;
    }
    return input_error("a view of its binding {} is no binding of the dispatch", view.binding);
  }

  // `size`: of the binding, in bytes.
  Status check_bounds(const Located& located, std::size_t size) const {
    std::int64_t first = located.use->offset, last = first;
    for (std::size_t l = 0; l < statement_.loops.size(); ++l) {
      const std::int64_t reach = located.use->strides[l] * (statement_.loops[l].size - 1);
      (reach < 0 ? first : last) += reach;
    }
    if (located.byte_of(first) < 0 || located.byte_of(last + 1) > static_cast<std::int64_t>(size))
      return input_error("the statement reaches beyond the end of binding {}", located.binding);
    return {};
  }

  // Each with its columns, so that what they share is computed once.
  std::vector<Point> points() const {
    const std::int64_t columns = columns_of_results_.value_or(columns_.count());
    const bool by_rows = attends_ || reduces_;
    const auto total = static_cast<double>(rows_.count()) * static_cast<double>(columns);
    const double by_products =
        by_rows ? sample_.products / products_of_row_ * static_cast<double>(columns)
                : sample_.products / products_of_element_;
    const auto wanted = static_cast<std::int64_t>(std::clamp(
        std::min(by_products, static_cast<double>(sample_.elements)), std::min(2.0, total), total));
    std::vector<Point> points;
    if (static_cast<double>(wanted) >= total) {
      for (std::int64_t row = 0; row < rows_.count(); ++row)
        for (std::int64_t column = 0; column < columns; ++column) points.emplace_back(row, column);
      return points;
    }
    const std::int64_t columns_of_row =
        by_rows ? std::min(columns, std::max<std::int64_t>(1, wanted / 2)) : 1;
    points = {{0, 0}, {rows_.count() - 1, columns - 1}};
    for (std::uint64_t i = 0; static_cast<std::int64_t>(points.size()) < wanted; ++i) {
      const auto row = drawn(2 * i, rows_.count()), column = drawn(2 * i + 1, columns);
      for (std::int64_t c = 0; c < columns_of_row; ++c)
        points.emplace_back(row, (column + c) % columns);
    }
    return points;
  }

  std::int64_t drawn(std::uint64_t index, std::int64_t below) const {
    return static_cast<std::int64_t>(random_bits(sample_.seed, index) %
                                     static_cast<std::uint64_t>(below));
  }

  void prepare_contraction() {
    const Walk terms(statement_, [](const auto& loop) { return loop.is_reduced(); });
    for (const Located& operand : operands_) terms_.push_back(terms.distances(*operand.use));
    products_of_element_ =
        static_cast<double>(terms.count()) * static_cast<double>(statement_.products());
  }

  void prepare_attention() {
    const Walk head(statement_, [](const auto& loop) { return loop.role == LoopRole::kK1; });
    const Walk keys(statement_, [](const auto& loop) { return loop.role == LoopRole::kK2; });
    head_ = {head.distances(*operands_[0].use), head.distances(*operands_[1].use)};
    for (const Located& operand : operands_) terms_.push_back(keys.distances(*operand.use));
    products_of_row_ =
        static_cast<double>(keys.count()) * static_cast<double>(head.count() + columns_.count());
  }

  // Results of rows alone need one step along k.
  void prepare_elements() {
    const auto walks_columns = [&](const problem::StatedStore& store) {
      for (std::size_t l = 0; l < statement_.loops.size(); ++l)
        if (statement_.loops[l].role == LoopRole::kK && statement_.loops[l].size > 1 &&
            store.use.strides[l] != 0)
          return true;
      return false;
    };
    if (reduces_ && std::ranges::none_of(statement_.stores, walks_columns)) columns_of_results_ = 1;
    products_of_element_ = static_cast<double>(statement_.values.size());
    const auto reductions = std::ranges::count_if(statement_.values, [](const StatedValue& value) {
      return value.operation.is(ScalarKind::kReduction);
    });
    products_of_row_ = products_of_element_ * static_cast<double>(columns_.count()) *
                       static_cast<double>(reductions + 1);
  }

  // Computes all reductions of a row, in order: each needs those before it.
  Status reduce(std::int64_t row, Element& element) const {
    element.reduced.assign(statement_.values.size(), 0);
    element.weighed_row = row;
    for (std::size_t i = 0; i < statement_.values.size(); ++i) {
      const StatedValue& value = statement_.values[i];
      if (!value.operation.is(ScalarKind::kReduction)) continue;
      const StatedValue combination{value.combines, value.type};
      auto combined = static_cast<double>(value.constant);
      for (std::int64_t column = 0; column < columns_.count(); ++column) {
        HONE_TRY(compute_until(i, row, column, element));
        HONE_ASSIGN(combined, stated_value(combination,
                                           std::array{combined, element.values[value.operands[0]]},
                                           value.type));
      }
      element.reduced[i] = combined;
    }
    return {};
  }

  double sum_of_products(std::int64_t row, std::int64_t column, std::size_t product) const {
    const Located &lhs = operands_[0], &rhs = operands_[1 + product];
    const std::int64_t left = element_of(*lhs.use, row, column),
                       right = element_of(*rhs.use, row, column);
    double sum = statement_.start;
    for (std::size_t k = 0; k < terms_[0].size(); ++k)
      sum += lhs.load(left + terms_[0][k]) * rhs.load(right + terms_[1 + product][k]);
    return sum;
  }

  std::vector<double> weights_of(std::int64_t row) const {
    const Located &query = operands_[0], &key = operands_[1];
    const std::int64_t of_query = element_of(*query.use, row, 0),
                       of_key = element_of(*key.use, row, 0);
    std::vector<double> elements;
    for (const std::int64_t step : head_[0]) elements.push_back(query.load(of_query + step));
    std::vector<double> weights(terms_[1].size());
    for (std::size_t k = 0; k < weights.size(); ++k) {
      double score = 0;
      for (std::size_t i = 0; i < elements.size(); ++i)
        score += elements[i] * key.load(of_key + terms_[1][k] + head_[1][i]);
      weights[k] = masked(score * statement_.scale, row, k);
    }
    const double largest = *std::ranges::max_element(weights);
    double total = 0;
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    for (double& weight : weights) weight /= total;
    return weights;
  }

  double masked(double score, std::int64_t row, std::size_t key) const {
    if (operands_.size() < 4) return score;
    const Located& mask = operands_[3];
    const std::int64_t element = element_of(*mask.use, row, 0) + terms_[3][key];
    if (mask.use->type != ElementType::kI1) return score + mask.load(element);
    const bool counts = (mask.bytes[static_cast<std::size_t>(mask.byte_of(element))] &
                         std::byte{1}) != std::byte{0};
    return counts ? score : -std::numeric_limits<double>::infinity();
  }

  double weighted_sum(std::int64_t row, std::int64_t column, Element& element) const {
    if (row != element.weighed_row) element.weights = weights_of(row);
    element.weighed_row = row;
    const Located& value = operands_[2];
    const std::int64_t first = element_of(*value.use, row, column);
    double sum = 0;
    for (std::size_t k = 0; k < element.weights.size(); ++k)
      sum += element.weights[k] * value.load(first + terms_[2][k]);
    return sum;
  }

  Status compute(std::int64_t row, std::int64_t column, Element& element) const {
    if (reduces_ && row != element.weighed_row) HONE_TRY(reduce(row, element));
    return compute_until(statement_.values.size(), row, column, element);
  }

  // Computes the values before value `end`.
  Status compute_until(std::size_t end, std::int64_t row, std::int64_t column,
                       Element& element) const {
    std::vector<double>& values = element.values;
    values.clear();
    for (std::size_t i = 0; i < end; ++i) {
      const StatedValue& value = statement_.values[i];
      if (value.operation.is(ScalarKind::kRoot)) {
        values.push_back(attends_ ? weighted_sum(row, column, element)
                                  : sum_of_products(row, column, value.product));
      } else if (loads_[i].use != nullptr) {
        values.push_back(loads_[i].load(element_of(value.use, row, column)));
      } else if (value.operation.is(ScalarKind::kReduction)) {
        values.push_back(element.reduced[i]);
      } else if (value.operation.is(ScalarKind::kConstant)) {
        values.push_back(static_cast<double>(value.constant));
      } else {
        std::vector<double> operands;
        for (const std::size_t operand : value.operands) operands.push_back(values[operand]);
        if (operands.empty()) return input_error("{} of nothing", value.operation.name());
        HONE_ASSIGN(const double result,
                    stated_value(value, operands, statement_.values[value.operands[0]].type));
        values.push_back(result);
      }
    }
    return {};
  }

  const problem::Dispatch& dispatch_;
  const Statement& statement_;
  std::span<const std::span<const std::byte>> inputs_;
  const ElementSample& sample_;
  Walk rows_, columns_;
  bool attends_ = false, reduces_ = false;
  std::optional<std::int64_t> columns_of_results_;  // where not all columns are
  std::vector<Located> operands_, loads_;           // loads_: by value; no use where it is none
  std::vector<std::vector<std::int64_t>> terms_;    // by operand, along k or keys: elements
  std::vector<std::vector<std::int64_t>> head_;     // of query and key, along k1
  double products_of_element_ = 1, products_of_row_ = 1;
};

}  // namespace

Result<double> stated_value(const problem::StatedValue& value, Operands operands,
                            ElementType operand) {
  const problem::ScalarFacts& facts = value.operation.facts();
  if (operands.size() == facts.operands && facts.operands > 0) {
    if (facts.kind == ScalarKind::kComparison) {
      const bool integers = !problem::is_float(operand);
      const bool unsigned_integers = integers && value.predicate.starts_with("u");
      const auto taken = [&](double x) { return unsigned_integers ? without_sign(x, operand) : x; };
      return holds(value.predicate, taken(operands[0]), taken(operands[1])) ? 1 : 0;
    }
    if (!problem::is_float(operand))
      if (const auto result = of_integers(value, operands, operand)) return *result;
    if (facts.value != nullptr) return facts.value(operands.data());
  }
  return input_error("{} of {} operands is not known in double precision", value.operation.name(),
                     operands.size());
}

Result<std::vector<StatedElements>> stated_elements(
    const problem::Dispatch& dispatch, const Statement& statement,
    std::span<const std::span<const std::byte>> inputs, const ElementSample& sample) {
  if (inputs.size() != dispatch.bindings.size())
    return input_error("{} bindings, and the contents of {}", dispatch.bindings.size(),
                       inputs.size());
  return Evaluation(dispatch, statement, inputs, sample).run();
}

}  // namespace hone::measure
