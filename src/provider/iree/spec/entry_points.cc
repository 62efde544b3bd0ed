#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "provider/iree/spec/parsed_module.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {
namespace {

constexpr char kInclude[] = "transform.include";
// A chain links two specs at a time, so that its depth is the number of specs at most.
constexpr int kDeepest = 64;

// The modules that an entry point includes, in the order in which the compiler runs them.
class Chain {
 public:
  Chain(const Ir& ir, const std::string& path) : ir_(ir), path_(path) {}

  Status add(const SpecModule& spec, int depth = 0) {
    const MlirOperation sequence = sequence_named(ir_, spec.module, spec.entry_point);
    if (!sequence) return no_sequence(spec);
    std::vector<MlirOperation> included = ir_.children(sequence);
    std::erase_if(included, [this](MlirOperation each) { return ir_.is(each, "transform.yield"); });
    if (std::ranges::none_of(included,
                             [this](MlirOperation each) { return ir_.is(each, kInclude); })) {
      modules_.push_back(spec);
      return {};
    }
    if (depth == kDeepest) return input_error("'{}' includes specs in a circle", path_);
    for (const MlirOperation each : included) {
      if (!ir_.is(each, kInclude))
        return input_error("'{}': @{}{} runs other specs and {}; give the specs that it runs",
                           path_, spec.inside, spec.entry_point, ir_.name(each));
      HONE_ASSIGN(const SpecModule target, target_of(spec, each));
      HONE_TRY(add(target, depth + 1));
    }
    return {};
  }

  // Each module overwrites what those before it set, so the last one has precedence. That is so
  // only where each of its entries sets all that theirs set.
  Result<std::vector<SpecModule>> by_precedence() && {
    std::ranges::reverse(modules_);
    if (modules_.size() == 1) return std::move(modules_);
    std::optional<std::set<std::string>> overwritten;  // by each entry of the modules so far
    for (const SpecModule& module : modules_) {
      HONE_ASSIGN(const EntryPoint entry_point, entry_point_of(ir_, module, path_));
      std::optional<std::set<std::string>> common = overwritten;
      for (const EntryPoint::Pair& pair : entry_point.pairs) {
        HONE_ASSIGN(const std::set<std::string> attributes, set_by(module, pair.action));
        if (overwritten && !std::ranges::includes(*overwritten, attributes))
          return input_error(
              "'{}': @{}{} sets attributes ({}) that a later spec does not overwrite, so that no "
              "entry can replace it; give the specs that it was made from",
              path_, module.inside, pair.action, fmt::join(attributes, ", "));
        if (!common) common = attributes;
        std::erase_if(*common, [&](const auto& name) { return !attributes.contains(name); });
      }
      overwritten = std::move(common);
    }
    return std::move(modules_);
  }

 private:
  tl::unexpected<Error> no_sequence(const SpecModule& spec) const {
    return input_error("'{}' has no transform.named_sequence @{}{}", path_, spec.inside,
                       spec.entry_point);
  }

  // Follows "@linked::@spec_a::@__kernel_config_1".
  Result<SpecModule> target_of(const SpecModule& from, MlirOperation include) const {
    SpecModule target = from;
    const std::string text = ir_.text(ir_.attribute(include, "target"));
    std::size_t at = 0;
    for (std::size_t end; (end = text.find("::", at)) != std::string::npos; at = end + 2) {
      const std::string name = text.substr(at + 1, end - at - 1);
      const auto modules = ir_.children(target.module, "builtin.module");
      const auto found = std::ranges::find(
          modules, name, [this](MlirOperation module) { return ir_.symbol(module); });
      if (found == modules.end())
        return input_error("'{}' runs {}, which is not in it", path_, text);
      target.module = *found;
      target.inside += name + "::@";
    }
    target.entry_point = text.substr(at + 1);
    return target;
  }

  // The attributes that an action sets. Input error: it does more than setting attributes.
  Result<std::set<std::string>> set_by(const SpecModule& spec, const std::string& action) const {
    const MlirOperation sequence = sequence_named(ir_, spec.module, action);
    if (!sequence) return no_sequence({spec.module, action, spec.inside});
    std::set<std::string> attributes;
    if (ir_.text(ir_.attribute(sequence, "arg_attrs")).find("transform.consumed") !=
            std::string::npos ||
        ir_.find(sequence, kInclude))
      return input_error(
          "'{}': @{}{} does more than set attributes, and the compiler runs it whatever a later "
          "spec does; give the specs that it was made from",
          path_, spec.inside, action);
    ir_.walk(sequence, [&](MlirOperation each) {
      if (ir_.is(each, "transform.annotate"))
        attributes.insert(ir_.string_value(ir_.attribute(each, "name")).value_or(""));
    });
    return attributes;
  }

  const Ir& ir_;
  const std::string& path_;
  std::vector<SpecModule> modules_;
};

}  // namespace

Result<EntryPoint> entry_point_of(const Ir& ir, const SpecModule& spec, const std::string& path) {
  EntryPoint found;
  const MlirOperation entry_point = sequence_named(ir, spec.module, spec.entry_point);
  if (!entry_point)
    return input_error("'{}' has no transform.named_sequence @{}{}", path, spec.inside,
                       spec.entry_point);
  std::size_t matching = 0;
  for (const MlirOperation each : ir.children(entry_point)) {
    if (ir.is(each, "transform.yield")) continue;
    if (ir.is(each, "transform.apply_registered_pass") &&
        ir.string_value(ir.attribute(each, "pass_name")) == kBatchRestoringPass) {
      found.restores_batch = true;
      continue;
    }
    if (!ir.is(each, "transform.foreach_match") || ir.operands(each).size() != 1 ||
        ir.attribute(each, "flatten_results") || ir.attribute(each, "restrict_root") ||
        ++matching > 1)
      return input_error(
          "'{}': @{}{} does more than one plain transform.foreach_match ({}), and a merged spec "
          "has "
          "one; give the specs that it was made from, or write its entries as one foreach_match",
          path, spec.inside, spec.entry_point, ir.name(each));
    const auto matchers = ir.elements(ir.attribute(each, "matchers"));
    const auto actions = ir.elements(ir.attribute(each, "actions"));
    for (std::size_t i = 0; i < matchers.size() && i < actions.size(); ++i)
      found.pairs.push_back({ir.leaf_symbol(matchers[i]), ir.leaf_symbol(actions[i])});
  }
  return found;
}

Result<std::vector<SpecModule>> spec_modules(const Ir& ir, MlirOperation module,
                                             const std::string& path) {
  Chain chain(ir, path);
  HONE_TRY(chain.add({module}));
  return std::move(chain).by_precedence();
}

}  // namespace hone::iree
