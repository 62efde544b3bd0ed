#include "provider/iree/program/element_loops.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

using problem::LoopRole;
using problem::ScalarKind;
using problem::StatedUse;
using problem::Statement;

// Fewest elements of a row that fill a warp.
constexpr std::int64_t kFewestColumns = 32;

// Loads and tables first, then stores.
std::vector<StatedUse*> uses(Statement& statement) {
  std::vector<StatedUse*> found;
  for (problem::StatedValue& value : statement.values)
    if (value.operation.is(ScalarKind::kLoad) || value.operation.is(ScalarKind::kTable))
      found.push_back(&value.use);
  for (problem::StatedStore& store : statement.stores) found.push_back(&store.use);
  return found;
}

// Loop along which the use is contiguous; -1: none.
int dense_loop(const Statement& statement, const StatedUse& use) {
  for (std::size_t l = 0; l < statement.loops.size(); ++l)
    if (use.strides[l] == 1 && statement.loops[l].size > 1) return static_cast<int>(l);
  return -1;
}

// Puts loops into this order, of their present numbers.
void reorder(Statement& statement, const std::vector<std::size_t>& order) {
  const auto permute = [&](auto& of_loops) {
    auto ordered = of_loops;
    for (std::size_t l = 0; l < order.size(); ++l) ordered[l] = of_loops[order[l]];
    of_loops = std::move(ordered);
  };
  permute(statement.loops);
  for (StatedUse* const use : uses(statement)) permute(use->strides);
}

std::vector<std::size_t> present_order(const Statement& statement) {
  std::vector<std::size_t> order(statement.loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// Makes the last loops n.
void choose_columns(Statement& statement) {
  const std::vector<StatedUse*> all = uses(statement);
  const StatedUse& store = statement.stores.front().use;
  std::int64_t columns = 1;
  std::size_t inner = statement.loops.size();  // the last loop of more than one step that is n
  for (std::size_t l = statement.loops.size(); l-- > 0;) {
    problem::StatedLoop& loop = statement.loops[l];
    const auto continues = [&](const StatedUse& use) {
      return inner == statement.loops.size() ||
             use.strides[l] == use.strides[inner] * statement.loops[inner].size;
    };
    const bool joins =
        loop.size == 1 || (columns < kFewestColumns && continues(store)) ||
        std::ranges::all_of(all, [&](const StatedUse* use) { return continues(*use); });
    if (!joins) return;
    loop.role = LoopRole::kN;
    if (loop.size > 1) inner = l;
    columns *= loop.size;
  }
}

}  // namespace

struct SharedLoops::Own {
  MlirOperation operation;
  std::vector<problem::Loop> loops;
  std::vector<MlirValue> tensors;       // operands, then results
  std::vector<std::vector<int>> walks;  // own loop of each dimension of a tensor
};

SharedLoops::SharedLoops(const Ir& ir, const std::vector<MlirOperation>& operations,
                         MlirOperation first) {
  std::vector<Own> waiting;
  std::size_t base = 0;
  for (const MlirOperation operation : operations) {
    const auto described = describe_operation(ir, operation);
    if (!described) refuse(described.error().message);
    Own own{operation, described->loops, ir.operands(operation), {}};
    for (const problem::Loop& loop : own.loops)
      if (loop.size <= 0 || loop.open) refuse("a size of it is known only at run time");
    for (const problem::Operand& operand : described->operands) own.walks.push_back(operand.loops);
    const std::vector<MlirValue> results = ir.results(operation);
    if (own.walks.size() != own.tensors.size() || results.size() > own.walks.size())
      refuse("it has operands without a map: " + in_words(ir, operation));
    const std::size_t inputs = own.walks.size() - results.size();
    own.tensors.resize(inputs);  // an empty tensor may be the output of several
    own.tensors.insert(own.tensors.end(), results.begin(), results.end());
    const std::size_t most = waiting.empty() ? 0 : waiting[base].loops.size();
    if (own.loops.size() > most || (own.loops.size() == most && operation == first))
      base = waiting.size();
    waiting.push_back(std::move(own));
  }
  for (const problem::Loop& loop : waiting.at(base).loops)
    loops_.push_back({LoopRole::kM, loop.size});
  complete(waiting[base]);
  waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(base));
  while (!waiting.empty()) {
    auto next = std::ranges::find_if(waiting, [&](const Own& own) { return follow(own); });
    if (next == waiting.end()) next = waiting.begin();
    complete(*next);
    waiting.erase(next);
  }
}

bool SharedLoops::follow(const Own& own) {
  std::vector<int>& mine = of_[own.operation];
  mine.assign(own.loops.size(), -1);
  bool shares = false;
  for (std::size_t i = 0; i < own.tensors.size(); ++i) {
    const auto known = tensors_.find(own.tensors[i]);
    if (known == tensors_.end()) continue;
    shares = true;
    for (std::size_t d = 0; d < own.walks[i].size(); ++d) {
      const int loop = own.walks[i][d], shared = known->second.at(d);
      if (loop < 0 || shared < 0) continue;
      int& found = mine.at(static_cast<std::size_t>(loop));
      const bool fits = loops_[static_cast<std::size_t>(shared)].size ==
                        own.loops[static_cast<std::size_t>(loop)].size;
      if (fits && found < 0 && std::ranges::count(mine, shared) == 0) found = shared;
    }
  }
  return shares;
}

void SharedLoops::complete(const Own& own) {
  std::vector<int>& mine = of_[own.operation];
  mine.resize(own.loops.size(), -1);
  for (std::size_t l = 0; l < mine.size(); ++l)
    for (std::size_t shared = 0; shared < loops_.size() && mine[l] < 0; ++shared)
      if (loops_[shared].size == own.loops[l].size &&
          std::ranges::count(mine, static_cast<int>(shared)) == 0)
        mine[l] = static_cast<int>(shared);
  for (std::size_t l = 0; l < mine.size(); ++l) {
    if (mine[l] < 0) refuse("its operations have loops of different sizes");
    if (own.loops[l].reduction) loops_[static_cast<std::size_t>(mine[l])].role = LoopRole::kK;
  }
  for (std::size_t i = 0; i < own.tensors.size(); ++i) {
    std::vector<int> dimensions;
    for (const int loop : own.walks[i])
      dimensions.push_back(loop < 0 ? -1 : mine[static_cast<std::size_t>(loop)]);
    tensors_.try_emplace(own.tensors[i], std::move(dimensions));
  }
}

void arrange_loops(Statement& statement) {
  if (!statement.reduces()) {
    std::vector<std::size_t> order = present_order(statement);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t loop) {
      return std::abs(statement.stores.front().use.strides[loop]);
    });
    reorder(statement, order);
    choose_columns(statement);
  }
  const auto bring_last = [&](LoopRole role, const StatedUse& use) {
    const int dense = dense_loop(statement, use);
    if (dense < 0 || statement.loops[static_cast<std::size_t>(dense)].role != role) return false;
    std::vector<std::size_t> order = present_order(statement);
    const auto at = order.begin() + dense;
    std::rotate(at, at + 1, order.end());
    reorder(statement, order);
    return true;
  };
  for (const LoopRole role : {LoopRole::kM, LoopRole::kK})
    for (const StatedUse* const use : uses(statement))
      if (bring_last(role, *use)) break;
}

}  // namespace hone::iree
