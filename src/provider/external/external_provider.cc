#include "provider/external/external_provider.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "space/configuration.h"

namespace hone::external {
namespace {

using problem::ScalarKind;
using problem::StatedUse;
using problem::Statement;
using provider::Suspicion;
using Operand = ExternalKernel::Operand;

// Terms that kernels take at a time along k.
constexpr std::array<std::int64_t, 6> kSteps = {8, 16, 32, 64, 128, 256};

class Suspecting {
 public:
  Suspecting(const ExternalKernel& kernel, const NamedStatement& named)
      : kernel_(kernel), named_(named) {}

  std::vector<Suspicion> all() {
    const auto [lhs, rhs, result] = operand_names(kernel_.convolution);
    for (const Operand& operand : kernel_.operands) {
      if (operand.name == lhs)
        add_layouts(operand, "reads", [](Statement& each) { return &each.operands[0]; });
      else if (operand.name == rhs)
        add_layouts(operand, "reads", [](Statement& each) { return &each.operands[1]; });
      else if (operand.name == result)
        add_layouts(operand, "writes", [](Statement& each) { return &each.stores[0].use; });
    }
    const std::string written(result);
    found_.push_back(
        {fmt::format("it adds to what {} holds, which nobody zeroes before a launch in "
                     "the place of a dispatch",
                     written),
         named_.statement, true});
    add_what_is_left_out();
    add_short_sums();
    return std::move(found_);
  }

 private:
  // `use_in`: where the operand stands in a statement.
  template <class UseIn>
  void add_layouts(const Operand& operand, const char* verb, const UseIn& use_in) {
    std::vector<std::size_t> order(operand.layout.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    while (std::ranges::next_permutation(order).found) {
      std::vector<std::string> layout;
      for (const std::size_t i : order) layout.push_back(operand.layout[i]);
      Suspicion suspicion{
          fmt::format("it {} {} as {}, and its manifest says {}", verb, operand.name,
                      fmt::join(layout, " x "), fmt::join(operand.layout, " x ")),
          named_.statement};
      StatedUse& use = *use_in(suspicion.statement);
      const std::vector<std::int64_t> strides = strides_in(layout);
      if (strides == use.strides) continue;
      use.strides = strides;
      found_.push_back(std::move(suspicion));
    }
  }

  // Stride of each loop in an operand that is dense in this layout. Two loops walk the rows of an
  // image.
  std::vector<std::int64_t> strides_in(const std::vector<std::string>& layout) const {
    std::map<std::string, std::int64_t> strides;
    std::int64_t pitch = 1;
    for (auto dimension = layout.rbegin(); dimension != layout.rend(); ++dimension) {
      const bool window = kernel_.convolution && (*dimension == "H" || *dimension == "W");
      if (window) {
        const std::string letter = *dimension == "H" ? "_h" : "_w";
        strides[*dimension + "O"] = pitch * size("stride" + letter);
        strides["K" + *dimension] = pitch * size("dilation" + letter);
      } else {
        strides[*dimension] = pitch;
      }
      pitch *= size(*dimension);
    }
    std::vector<std::int64_t> by_loop;
    for (const std::string& loop : named_.loops) by_loop.push_back(strides[loop]);
    return by_loop;
  }

  std::int64_t size(const std::string& name) const {
    const auto known = named_.form.sizes.find(name);
    return known == named_.form.sizes.end() ? 1 : known->second;
  }

  // The manifest's name of what is read there.
  std::string name_of(const StatedUse& use) const {
    const OperandPlace place = place_of(named_.statement, use);
    for (const auto& [name, operand] : named_.form.operands)
      if (operand == place) return name;
    return "what is read behind its sums";
  }

  // The value that is stored, but for the conversions before that.
  std::size_t computed() const {
    const std::vector<problem::StatedValue>& values = named_.statement.values;
    std::size_t value = named_.statement.stores[0].value;
    while (values[value].operation.facts().converts_floats()) value = values[value].operands[0];
    return value;
  }

  void add_what_is_left_out() {
    const std::vector<problem::StatedValue>& values = named_.statement.values;
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (values[v].operation.is(ScalarKind::kLoad)) {
        Suspicion suspicion{fmt::format("it leaves out {}", name_of(values[v].use)),
                            named_.statement};
        problem::StatedValue& read = suspicion.statement.values[v];
        read.operation = "constant";
        read.constant = 0;
        read.use = {};
        found_.push_back(std::move(suspicion));
      }
      // The sums, or with a bias; conversions behind them change nothing here.
      const bool adds = values[v].operation.is(ScalarKind::kSum);
      if ((!values[v].operation.is(ScalarKind::kRoot) && !adds) || v == computed()) continue;
      found_.push_back({adds ? "it leaves out what follows the addition behind its sums"
                             : "it stores the sums as they are, with nothing behind them",
                        named_.statement});
      found_.back().statement.stores[0].value = v;
    }
  }

  void add_short_sums() {
    const auto& loops = named_.statement.loops;
    std::size_t longest = loops.size();
    for (std::size_t l = 0; l < loops.size(); ++l)
      if (loops[l].is_reduced() && (longest == loops.size() || loops[l].size > loops[longest].size))
        longest = l;
    if (longest == loops.size()) return;
    const std::int64_t terms = loops[longest].size;
    std::set<std::int64_t> left_out{1};
    for (const std::int64_t step : kSteps) left_out.insert({step, terms % step});
    for (const std::int64_t count : left_out) {
      if (count < 1 || count >= terms) continue;
      found_.push_back({fmt::format("it leaves out the last {} of {} along {}", count, terms,
                                    named_.loops[longest]),
                        named_.statement});
      found_.back().statement.loops[longest].size -= count;
    }
  }

  const ExternalKernel& kernel_;
  const NamedStatement& named_;
  std::vector<Suspicion> found_;
};

}  // namespace

std::vector<Suspicion> suspicions_of(const ExternalKernel& kernel, const NamedStatement& named) {
  return Suspecting(kernel, named).all();
}

std::string ExternalProvider::why_no_space(const problem::Dispatch& dispatch) const {
  const Result<space::Space> space = space_of(dispatch);
  return space ? std::string() : space.error().message;
}

Result<space::Space> ExternalProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_ASSIGN(const problem::Statement* const stated, problem::stated(dispatch.statement));
  HONE_ASSIGN(const NamedStatement named, named_statement(kernel_, *stated));
  space::Names names{{"shared_bytes", shared_bytes_}};
  for (const auto& [name, size] : named.form.sizes) names.emplace(name, size);
  return provider::manifest_space(
      kernel_, std::move(names), [](const std::string&) { return true; }, dispatch.name);
}

Result<provider::Payload> ExternalProvider::payload_of(
    const problem::Dispatch&, const space::Space& space,
    const space::Configuration& configuration) const {
  provider::Payload payload;
  payload.json["knobs"] = space::values_by_name(space, configuration);
  // Hash that workers check when they read the files themselves.
  payload.json["content"] = kernel_.content;
  payload.replacing = name_;
  return payload;
}

std::vector<provider::Suspicion> ExternalProvider::suspicions(
    const problem::Dispatch& dispatch) const {
  if (!dispatch.statement) return {};
  const auto named = named_statement(kernel_, *dispatch.statement);
  return named ? suspicions_of(kernel_, *named) : std::vector<provider::Suspicion>();
}

std::function<double(const space::Configuration&)> ExternalProvider::prior(
    const problem::Dispatch&, const space::Space& space) const {
  struct Values {
    std::vector<space::Value> all;
    std::ptrdiff_t at_default = 0;
  };
  const auto place = [](const std::vector<space::Value>& values, space::Value value) {
    return std::ranges::find(values, value) - values.begin();
  };
  std::vector<Values> knobs;
  for (const space::Knob& knob : space.knobs())
    for (const provider::KernelManifest::Knob& stated : kernel_.knobs)
      if (stated.name == knob.name)
        knobs.push_back({stated.values, place(stated.values, kernel_.defaults.at(knob.name))});
  if (knobs.size() != space.knobs().size()) return {};
  return [knobs = std::move(knobs), place](const space::Configuration& configuration) {
    std::ptrdiff_t steps = 0;
    for (std::size_t i = 0; i < knobs.size(); ++i)
      steps += std::abs(place(knobs[i].all, configuration.values[i]) - knobs[i].at_default);
    return static_cast<double>(steps);
  };
}

}  // namespace hone::external
