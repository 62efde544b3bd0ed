#include "provider/external/bordered_form.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace hone::external {
namespace {

using problem::StatedUse;
using problem::Statement;

// Largest growth of a constant, in bytes, for which the compiler computes it before the program
// runs: the default of --iree-opt-const-expr-max-size-increase-threshold.
constexpr std::int64_t kMostGrowth = 1 << 20;

// A loop of the statement by the manifest's name. Several loops may form one dimension (batches and
// rows, both M); `place` orders them, the outermost first.
struct LoopName {
  std::string name;
  std::size_t place = 0;
};
using LoopNames = std::vector<LoopName>;  // by loop; without a name where it has one step

// All ways to name the loops. In a convolution each name goes to one loop; in a matmul all loops of
// a role share one name, in any order.
std::vector<LoopNames> all_loop_names(bool convolution, bool turned,
                                      const std::vector<problem::StatedLoop>& loops) {
  std::vector<LoopNames> ways{{}};
  for (const problem::StatedLoop& loop : loops) {
    const problem::LoopRole own_role = turned ? turned_role(loop.role) : loop.role;
    std::vector<LoopNames> longer;
    for (const LoopNames& way : ways) {
      if (loop.size == 1) {
        longer.push_back(way);
        longer.back().emplace_back();
        continue;
      }
      for (const auto& [name, role] : named_loops(convolution)) {
        if (role != own_role) continue;
        const auto taken = static_cast<std::size_t>(std::ranges::count(way, name, &LoopName::name));
        if (convolution && taken > 0) continue;
        // Inserts the loop at each position among the loops that already have the name.
        for (std::size_t place = taken + 1; place-- > 0;) {
          LoopNames& next = longer.emplace_back(way);
          for (LoopName& each : next)
            if (each.name == name && each.place >= place) ++each.place;
          next.push_back({name, place});
        }
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

struct Dimension {
  std::string name;  // in the manifest; none of one element
  std::size_t place = 0;
};

// The dimensions of a tensor by the manifest's names; nothing if one has none.
std::optional<std::vector<Dimension>> named_dimensions(const StatedUse& use,
                                                       const LoopNames& naming, bool image) {
  std::vector<Dimension> found;
  for (const problem::StatedDimension& said : use.dimensions) {
    Dimension& dimension = found.emplace_back();
    bool named = false;
    for (std::size_t l = 0; l < naming.size(); ++l) {
      if (said.of_loop[l] == 0 || naming[l].name.empty()) continue;
      std::string name = dimension_walked(naming[l].name, image);
      if (named && name != dimension.name) return std::nullopt;
      named = true;
      dimension = {std::move(name), naming[l].place};
    }
    if (!named && said.size != 1) return std::nullopt;
  }
  return found;
}

// Permutation from the program's order of an operand's dimensions to the kernel's.
struct Move {
  std::vector<int> permutation;  // empty where it lies right as it is
  std::vector<std::string> program, kernel;
};

std::optional<Move> move_of(const ExternalKernel::Operand& operand, const StatedUse& use,
                            const LoopNames& naming, bool image) {
  const auto dimensions = named_dimensions(use, naming, image);
  if (!dimensions) return std::nullopt;
  // Rank in the kernel's layout. A dimension of one element may lie anywhere, and so comes first.
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> ranks;
  std::vector<int> order(dimensions->size());
  Move move;
  for (const Dimension& dimension : *dimensions) {
    const auto at = std::ranges::find(operand.layout, dimension.name);
    if (!dimension.name.empty() && at == operand.layout.end()) return std::nullopt;
    ranks.emplace_back(dimension.name.empty() ? -1 : at - operand.layout.begin(), dimension.place);
    if (!dimension.name.empty()) move.program.push_back(dimension.name);
  }
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](int d) { return ranks[static_cast<std::size_t>(d)]; };
  std::ranges::stable_sort(order, {}, rank);
  std::vector<int> walked;
  for (const int d : order)
    if (rank(d).first >= 0) {
      walked.push_back(d);
      move.kernel.push_back((*dimensions)[static_cast<std::size_t>(d)].name);
    }
  if (!std::ranges::is_sorted(walked)) move.permutation = std::move(order);
  return move;
}

// Rewrites the tensor to its type and order of dimensions behind the move.
void rewrite(StatedUse& use, const std::vector<int>& permutation, problem::ElementType type) {
  use.type = type;
  if (permutation.empty()) return;
  std::ranges::fill(use.strides, 0);
  use.offset = 0;
  std::int64_t pitch = 1;
  for (auto d = permutation.rbegin(); d != permutation.rend(); ++d) {
    const problem::StatedDimension& dimension = use.dimensions.at(static_cast<std::size_t>(*d));
    for (std::size_t l = 0; l < use.strides.size(); ++l)
      use.strides[l] += pitch * dimension.of_loop[l];
    use.offset += pitch * dimension.constant;
    pitch *= dimension.size;
  }
}

std::int64_t element_count(const StatedUse& use) {
  std::int64_t count = 1;
  for (const problem::StatedDimension& dimension : use.dimensions) count *= dimension.size;
  return count;
}

// Borders that give the operation the kernel's form, and its statement behind them.
struct Way {
  Statement statement;
  std::vector<Border> borders;

  // Bytes moved while the program runs, and bytes moved in all.
  std::pair<std::int64_t, std::int64_t> cost() const {
    std::int64_t running = 0, all = 0;
    for (const Border& border : borders) {
      all += border.bytes;
      if (!border.constant) running += border.bytes;
    }
    return {running, all};
  }
};

class Ways {
 public:
  Ways(const ExternalKernel& kernel, const Statement& said) : kernel_(kernel), said_(said) {}

  // Returns all ways, the cheapest first.
  std::vector<Way> all() {
    for (const bool turned : {false, true})
      for (const LoopNames& naming : all_loop_names(kernel_.convolution, turned, said_.loops))
        add(naming, turned);
    std::ranges::stable_sort(ways_, {}, [](const Way& way) { return way.cost(); });
    return std::move(ways_);
  }

 private:
  void add(const LoopNames& naming, bool turned) {
    const auto [lhs, rhs, result] = operand_names(kernel_.convolution);
    Way way{said_, {}};
    std::vector<StatedUse*> loads;
    for (problem::StatedValue& value : way.statement.values)
      if (value.operation.is(problem::ScalarKind::kLoad)) loads.push_back(&value.use);
    for (const ExternalKernel::Operand& operand : kernel_.operands) {
      const bool is_lhs = operand.name == lhs;
      if (is_lhs || operand.name == rhs) {
        if (!bring(operand, way.statement.operands[is_lhs != turned ? 0 : 1], naming, way)) return;
      } else if (operand.name == result) {
        if (!bring(operand, way.statement.stores[0].use, naming, way)) return;
      } else {
        const auto found = std::ranges::find_if(
            loads, [&](StatedUse* load) { return bring(operand, *load, naming, way); });
        if (found == loads.end()) return;
        loads.erase(found);
      }
    }
    ways_.push_back(std::move(way));
  }

  // Returns false if no order of the operand's dimensions is the kernel's.
  bool bring(const ExternalKernel::Operand& operand, StatedUse& use, const LoopNames& naming,
             Way& way) const {
    const auto [lhs, rhs, result] = operand_names(kernel_.convolution);
    const problem::ElementType type = use.type;
    auto move = move_of(operand, use, naming, kernel_.convolution && operand.name == lhs);
    if (!move) return false;
    const bool converts =
        type != operand.type && problem::is_float(type) && problem::is_float(operand.type);
    const problem::ElementType theirs = converts ? operand.type : type;
    rewrite(use, move->permutation, theirs);
    if (move->permutation.empty() && !converts) return true;
    Border border{.operand = operand.name,
                  .binding = said_.views[use.view].binding,
                  .result = operand.name == result,
                  .from = std::move(move->program),
                  .to = std::move(move->kernel),
                  .permutation = std::move(move->permutation),
                  .from_type = type,
                  .to_type = theirs,
                  .bytes = element_count(use) * problem::byte_size(theirs)};
    const std::int64_t growth =
        border.bytes - element_count(use) * problem::byte_size(border.from_type);
    border.constant = use.constant && growth <= kMostGrowth;
    if (border.result) {
      std::swap(border.from, border.to);
      std::swap(border.from_type, border.to_type);
    }
    way.borders.push_back(std::move(border));
    return true;
  }

  const ExternalKernel& kernel_;
  const Statement& said_;
  std::vector<Way> ways_;
};

Result<BorderedForm> cheapest(const ExternalKernel& kernel, const Statement& said,
                              const Error& as_it_is) {
  std::optional<Error> why_not;
  for (Way& way : Ways(kernel, said).all()) {
    Result<DispatchForm> form = form_by_line(kernel, way.statement);
    if (form) return BorderedForm{*std::move(form), std::move(way.borders)};
    if (!why_not) why_not = form.error();
  }
  return tl::unexpected(why_not.value_or(as_it_is));
}

}  // namespace

std::string in_words(const Border& border) {
  std::string text = border.operand + ": ";
  if (border.converts())
    text += fmt::format("{} to {}", problem::name_of(border.from_type),
                        problem::name_of(border.to_type));
  if (border.transposes())
    text += fmt::format("{}transposed from {} to {}", border.converts() ? ", " : "",
                        fmt::join(border.from, " x "), fmt::join(border.to, " x "));
  constexpr double kMegabyte = 1e6;
  text += fmt::format(", {:.3g} MB", static_cast<double>(border.bytes) / kMegabyte);
  return border.constant ? text + ", of a constant: before the program runs" : text;
}

Result<BorderedForm> form_with_borders(const ExternalKernel& kernel, const Statement& statement) {
  Result<DispatchForm> form = form_by_line(kernel, statement);
  if (form) return BorderedForm{*std::move(form), {}};
  // A dispatch's statement lacks its tensors' dimensions.
  const bool can_move = statement.why_not.empty() &&
                        statement.kind == Statement::Kind::kContraction &&
                        statement.stores.size() == 1 && !statement.operands[0].dimensions.empty();
  if (!can_move) return tl::unexpected(form.error());
  return cheapest(kernel, statement, form.error());
}

}  // namespace hone::external
