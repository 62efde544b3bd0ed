#include "provider/external/dispatch_form.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace hone::external {
namespace {

using problem::LoopRole;
using problem::StatedUse;
using problem::StatedValue;
using problem::Statement;

bool is_load(const StatedValue& value) {
  return value.operation.is(problem::ScalarKind::kLoad);
}

// All uses of memory: the operands of the product, those read behind the sums, and the results.
std::vector<StatedUse*> uses(Statement& statement) {
  std::vector<StatedUse*> all;
  for (StatedUse& operand : statement.operands) all.push_back(&operand);
  for (StatedValue& value : statement.values)
    if (!value.use.strides.empty()) all.push_back(&value.use);
  for (problem::StatedStore& store : statement.stores) all.push_back(&store.use);
  return all;
}

void erase_loop(Statement& statement, std::size_t loop) {
  const auto at = static_cast<std::ptrdiff_t>(loop);
  statement.loops.erase(statement.loops.begin() + at);
  for (StatedUse* const use : uses(statement)) use->strides.erase(use->strides.begin() + at);
}

// Checks that a manifest can describe the statement: one result, sums that begin at 0. Drops loops
// of one step.
Result<Statement> product_of(Statement statement) {
  if (!statement.why_not.empty()) return input_error("{}", statement.why_not);
  if (statement.kind != Statement::Kind::kContraction)
    return input_error("it is {}; kernels of manifests are products",
                       statement.attends() ? "attention" : "no product");
  if (statement.stores.size() != 1)
    return input_error("it has {} results", statement.stores.size());
  if (statement.products() != 1) return input_error("it adds up {} products", statement.products());
  for (const StatedValue& value : statement.values)
    // The table lies in the dispatch's code, where a launch cannot point to.
    if (value.operation.is(problem::ScalarKind::kTable))
      return input_error("a table of constants is behind its sums, which can be no operand");
  if (statement.start != 0) return input_error("its sums do not begin at 0");
  for (std::size_t l = statement.loops.size(); l-- > 0;)
    if (statement.loops[l].size == 1) erase_loop(statement, l);
  return statement;
}

// Joins neighbouring loops of one role that every operand walks as one loop.
void join_loops(Statement& statement) {
  for (std::size_t outer = 0; outer < statement.loops.size(); ++outer)
    for (std::size_t inner = outer + 1; inner < statement.loops.size(); ++inner) {
      if (statement.loops[inner].role != statement.loops[outer].role) continue;
      const std::int64_t size = statement.loops[inner].size;
      const auto all = uses(statement);
      if (!std::ranges::all_of(all, [&](const StatedUse* use) {
            return use->strides[outer] == use->strides[inner] * size;
          }))
        break;
      statement.loops[outer].size *= size;
      for (StatedUse* const use : all) use->strides[outer] = use->strides[inner];
      erase_loop(statement, inner);
      inner = outer;
    }
}

// Returns the statement of the same product with lhs and rhs, and loops m and n, exchanged.
Statement turned_round(Statement statement) {
  std::swap(statement.operands[0], statement.operands[1]);
  for (problem::StatedLoop& loop : statement.loops) loop.role = turned_role(loop.role);
  return statement;
}

constexpr NamedLoop kMatmulLoops[] = {
    {"batch", LoopRole::kBatch}, {"M", LoopRole::kM}, {"N", LoopRole::kN}, {"K", LoopRole::kK}};
constexpr NamedLoop kConvolutionLoops[] = {
    {"N", LoopRole::kM}, {"HO", LoopRole::kM}, {"WO", LoopRole::kM}, {"O", LoopRole::kN},
    {"C", LoopRole::kK}, {"KH", LoopRole::kK}, {"KW", LoopRole::kK}};

// An assignment of the manifest's names to the statement's loops, checked operand by operand.
class Naming {
 public:
  // `names`: of each loop.
  Naming(const ExternalKernel& kernel, const Statement& statement, std::vector<std::string> names)
      : kernel_(kernel), statement_(statement), names_(std::move(names)) {
    for (const NamedLoop& loop : named_loops(kernel.convolution)) sizes_[loop.name] = 1;
    for (std::size_t l = 0; l < names_.size(); ++l) sizes_[names_[l]] = statement.loops[l].size;
  }

  Result<DispatchForm> form() {
    DispatchForm form;
    const auto [lhs, rhs, result] = operand_names(kernel_.convolution);
    for (const ExternalKernel::Operand& operand : kernel_.operands) {
      if (operand.name == lhs) HONE_TRY(place(operand, statement_.operands[0], form));
      if (operand.name == rhs) HONE_TRY(place(operand, statement_.operands[1], form));
      if (operand.name == result) HONE_TRY(place(operand, statement_.stores[0].use, form));
    }
    HONE_TRY(place_loads(form));
    form.sizes = sizes_;
    return form;
  }

  // Number of operands that fitted before the error of form(), and the manifest's line of the
  // operand that did not; 0: none.
  std::size_t fitted() const { return fitted_; }
  int line() const { return line_; }

 private:
  Status place(const ExternalKernel::Operand& operand, const StatedUse& use, DispatchForm& form) {
    line_ = operand.line;
    if (use.type != operand.type)
      return input_error("{} is {}, and the kernel's is {}", operand.name,
                         problem::name_of(use.type), problem::name_of(operand.type));
    HONE_TRY(check_layout(operand, use));
    form.operands[operand.name] = place_of(statement_, use);
    ++fitted_;
    line_ = 0;
    return {};
  }

  // Places the operands that are read behind the sums. If several fit, the first is taken.
  Status place_loads(DispatchForm& form) {
    std::vector<const StatedUse*> left;
    for (const StatedValue& value : statement_.values)
      if (is_load(value)) left.push_back(&value.use);
    for (const ExternalKernel::Operand& operand : kernel_.operands) {
      const auto [lhs, rhs, result] = operand_names(kernel_.convolution);
      if (operand.name == lhs || operand.name == rhs || operand.name == result) continue;
      const auto found = std::ranges::find_if(left, [&](const StatedUse* load) {
        return load->type == operand.type && check_layout(operand, *load);
      });
      if (found == left.end()) {
        line_ = operand.line;
        return input_error("it reads nothing that is {}", operand.name);
      }
      HONE_TRY(place(operand, **found, form));
      left.erase(found);
    }
    if (!left.empty())
      return input_error("behind its sums it reads {} more than the kernel", left.size());
    return {};
  }

  // Returns the stride of the loop called `name`; 0 if there is none, since then nothing walks it.
  std::int64_t stride(const StatedUse& use, const std::string& name) const {
    const auto at = std::ranges::find(names_, name);
    return at == names_.end() ? 0 : use.strides[static_cast<std::size_t>(at - names_.begin())];
  }

  tl::unexpected<Error> other_layout(const ExternalKernel::Operand& operand,
                                     const StatedUse& use) const {
    return input_error("{} does not lie as {}: it lies as {}", operand.name,
                       fmt::join(operand.layout, " x "), fmt::join(found_layout(use), " x "));
  }

  // Dimensions that walk the operand, those with the longest steps first. Two loops walk an image's
  // rows.
  std::vector<std::string> found_layout(const StatedUse& use) const {
    std::vector<std::size_t> loops;
    for (std::size_t l = 0; l < names_.size(); ++l)
      if (use.strides[l] != 0) loops.push_back(l);
    std::ranges::stable_sort(loops, std::greater(), [&](std::size_t l) { return use.strides[l]; });
    std::vector<std::string> found;
    const bool image = &use == &statement_.operands[0] && kernel_.convolution;
    for (const std::size_t l : loops) {
      std::string name = dimension_walked(names_[l], image);
      if (std::ranges::find(found, name) == found.end()) found.push_back(std::move(name));
    }
    return found;
  }

  // Checks from the innermost dimension out: each stride is the extent of the dimensions inside it.
  // The length of an image's row comes from the next dimension's stride, since windows need not
  // reach the row's end.
  Status check_layout(const ExternalKernel::Operand& operand, const StatedUse& use) {
    std::vector<std::string> walked;
    std::int64_t pitch = 1;
    std::string row;  // the image's dimension whose length is not known yet
    std::int64_t row_pitch = 0;
    for (auto dimension = operand.layout.rbegin(); dimension != operand.layout.rend();
         ++dimension) {
      const bool window = kernel_.convolution && (*dimension == "H" || *dimension == "W");
      if (!row.empty()) {
        pitch = next_pitch(use, *dimension, row, row_pitch, window);
        if (pitch <= 0 || pitch % row_pitch != 0 || pitch / row_pitch < least(row))
          return other_layout(operand, use);
        sizes_[row] = pitch / row_pitch;
        row.clear();
      }
      if (window) {
        HONE_TRY(check_window(operand, use, *dimension, pitch));
        const std::string letter = *dimension;
        walked.insert(walked.end(), {letter + "O", "K" + letter});
        row = *dimension;
        row_pitch = pitch;
        continue;
      }
      const std::int64_t found = stride(use, *dimension);
      if (sizes_.at(*dimension) != 1 && found != pitch) return other_layout(operand, use);
      walked.push_back(*dimension);
      pitch *= sizes_.at(*dimension);
    }
    if (!row.empty()) sizes_[row] = least(row);
    for (std::size_t l = 0; l < names_.size(); ++l)
      if (use.strides[l] != 0 && std::ranges::find(walked, names_[l]) == walked.end())
        return other_layout(operand, use);
    return {};
  }

  // Distance of neighbouring elements of `dimension`, from the loops that walk it; else from the
  // shortest possible row.
  std::int64_t next_pitch(const StatedUse& use, const std::string& dimension,
                          const std::string& row, std::int64_t row_pitch, bool window) const {
    const std::int64_t shortest = row_pitch * least(row);
    if (!window) return sizes_.at(dimension) != 1 ? stride(use, dimension) : shortest;
    const std::string before = row == "W" ? "_w" : "_h";
    if (sizes_.at("K" + dimension) != 1)
      return stride(use, "K" + dimension) / sizes_.at("dilation" + before);
    if (sizes_.at(dimension + "O") != 1)
      return stride(use, dimension + "O") / sizes_.at("stride" + before);
    return shortest;
  }

  Status check_window(const ExternalKernel::Operand& operand, const StatedUse& use,
                      const std::string& dimension, std::int64_t pitch) {
    const std::string letter = dimension == "H" ? "_h" : "_w";
    for (const auto& [loop, name] :
         {std::pair(dimension + "O", "stride" + letter), {"K" + dimension, "dilation" + letter}}) {
      const std::int64_t step = sizes_.at(loop) == 1 ? pitch : stride(use, loop);
      if (step < pitch || step % pitch != 0) return other_layout(operand, use);
      sizes_[name] = step / pitch;
    }
    return {};
  }

  // Extent of an image along H or W that the windows reach.
  std::int64_t least(const std::string& row) const {
    const std::string letter = row == "H" ? "_h" : "_w";
    return (sizes_.at(row + "O") - 1) * sizes_.at("stride" + letter) +
           (sizes_.at("K" + row) - 1) * sizes_.at("dilation" + letter) + 1;
  }

  const ExternalKernel& kernel_;
  const Statement& statement_;
  std::vector<std::string> names_;
  std::map<std::string, space::Value> sizes_;
  std::size_t fitted_ = 0;
  int line_ = 0;
};

// All ways of naming the loops, by role; the names' own order comes first.
std::vector<std::vector<std::string>> namings(const ExternalKernel& kernel,
                                              const std::vector<problem::StatedLoop>& loops) {
  std::vector<std::vector<std::string>> ways{{}};
  for (const problem::StatedLoop& loop : loops) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& way : ways)
      for (const NamedLoop& named : named_loops(kernel.convolution)) {
        if (loop.role != named.role || std::ranges::find(way, named.name) != way.end()) continue;
        longer.push_back(way);
        longer.back().emplace_back(named.name);
      }
    ways = std::move(longer);
  }
  return ways;
}

// If no naming of the loops fits, the error is that of the naming that fits most operands. `line`
// is then the manifest's line of the operand that does not fit.
Result<NamedStatement> read_form(const ExternalKernel& kernel, const Statement& said, int& line) {
  HONE_ASSIGN(Statement statement, product_of(said));
  if (!kernel.convolution) join_loops(statement);
  std::optional<Error> why_not;
  std::size_t fitted = 0;
  for (const Statement& each : {statement, turned_round(statement)})
    for (std::vector<std::string>& names : namings(kernel, each.loops)) {
      Naming naming(kernel, each, names);
      Result<DispatchForm> form = naming.form();
      if (!form) {
        if (why_not && naming.fitted() <= fitted) continue;
        why_not = form.error();
        fitted = naming.fitted();
        line = naming.line();
        continue;
      }
      form->entry = each.entry;
      form->bindings = each.bindings;
      form->constants = each.constants;
      return NamedStatement{each, std::move(names), *std::move(form)};
    }
  if (why_not) return tl::unexpected(*why_not);
  return input_error("its loops are not those of a {}",
                     kernel.convolution ? "convolution" : "matmul");
}

}  // namespace

std::span<const NamedLoop> named_loops(bool convolution) {
  return convolution ? std::span<const NamedLoop>(kConvolutionLoops) : kMatmulLoops;
}

LoopRole turned_role(LoopRole role) {
  return role == LoopRole::kM ? LoopRole::kN : role == LoopRole::kN ? LoopRole::kM : role;
}

std::string dimension_walked(const std::string& loop, bool image) {
  if (image && (loop == "HO" || loop == "KH")) return "H";
  if (image && (loop == "WO" || loop == "KW")) return "W";
  return loop;
}

OperandPlace place_of(const Statement& statement, const StatedUse& use) {
  const problem::StatedView& view = statement.views[use.view];
  return {view.binding,
          view.offset + use.offset * problem::byte_size(use.type),
          {view.words.begin(), view.words.end()}};
}

Result<NamedStatement> named_statement(const ExternalKernel& kernel, const Statement& statement) {
  int line = 0;
  return read_form(kernel, statement, line);
}

Result<DispatchForm> form_by_line(const ExternalKernel& kernel, const Statement& statement) {
  int line = 0;
  Result<NamedStatement> named = read_form(kernel, statement, line);
  if (named) return std::move(named->form);
  if (line > 0) return input_error("{}:{}: {}", kernel.manifest, line, named.error().message);
  return tl::unexpected(named.error());
}

}  // namespace hone::external
