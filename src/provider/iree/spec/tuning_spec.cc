#include "provider/iree/spec/tuning_spec.h"

#include <algorithm>
#include <cctype>

namespace hone::iree {
namespace {

// "matmul_512x512x512" from any text: a symbol has letters, digits and underscores.
std::string symbol_of(std::size_t index, std::string_view name) {
  std::string symbol = fmt::format("{}_", index);
  for (const char c : name) symbol += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty()) symbol.pop_back();
  return symbol;
}

std::string handle_of(int operation, std::string_view root = "root") {
  return operation < 0 ? std::string(root) : fmt::format("near{}", operation);
}

std::string producer_text(std::string_view handle, const problem::SurroundingOperation& operation,
                          std::string_view root = "root") {
  return fmt::format(
      "    %{} = transform.get_producer_of_operand %{}[{}]\n"
      "      : (!transform.any_op) -> !transform.any_op\n",
      handle, handle_of(operation.from, root), operation.operand);
}

// The producers of the root's operands tell the root from others of the same types.
std::string surrounding_matchers(const TuningSpecEntry& entry) {
  std::string text;
  for (std::size_t i = 0; i < entry.surrounding.size(); ++i) {
    const problem::SurroundingOperation& operation = entry.surrounding[i];
    if (!operation.feeds_root) continue;
    const std::string handle = handle_of(static_cast<int>(i));
    text += producer_text(handle, operation) +
            fmt::format("    transform.match.operation_name %{} [\"{}\"] : !transform.any_op\n",
                        handle, operation.name);
  }
  return text;
}

std::string matcher(const TuningSpecEntry& entry, const std::string& symbol) {
  std::string text = fmt::format(
      "  // {}: {}\n"
      "  transform.named_sequence @match_{}(%root: !transform.any_op {{transform.readonly}})\n"
      "      -> (!transform.any_op, !transform.any_param) {{\n",
      entry.name, describe(as_stated(entry.root)), symbol);
  text += matcher_text(matched_root(entry.root, entry.surrounding));
  if (!entry.init_config.empty())
    text +=
        "    %init = transform.get_producer_of_operand %root[2]\n"
        "      : (!transform.any_op) -> !transform.any_op\n"
        "    transform.match.operation_name %init [\"linalg.fill\"] : !transform.any_op\n";
  text += surrounding_matchers(entry);
  return text + fmt::format(
                    "    %info = transform.param.constant #iree_codegen.compilation_info<\n"
                    "      lowering_config = {},\n"
                    "      translation_info = {}>\n"
                    "      -> !transform.any_param\n"
                    "    transform.yield %root, %info : !transform.any_op, !transform.any_param\n"
                    "  }}\n",
                    entry.lowering_config, entry.translation_info);
}

std::string annotation(std::string_view handle, std::string_view config) {
  return fmt::format(
      "    %{0}_config = transform.param.constant {1} -> !transform.any_param\n"
      "    transform.annotate %{0} \"lowering_config\" = %{0}_config\n"
      "      : !transform.any_op, !transform.any_param\n",
      handle, config);
}

// The layout of the readers of a reduction, where they walk as many loops: a reader of the sums
// alone walks fewer and gets none.
std::string sibling_annotation(const TuningSpecEntry& entry, std::string_view handle) {
  if (entry.sibling_config.empty()) return {};
  const std::vector<std::string> loops(entry.root.loops.size(), "#linalg.iterator_type<parallel>");
  return fmt::format(
             "    %siblings = transform.get_consumers_of_result %{}[0]\n"
             "      : (!transform.any_op) -> !transform.any_op\n"
             "    transform.foreach %siblings : !transform.any_op {{\n"
             "    ^bb0(%reader: !transform.any_op):\n"
             "    %sibling = transform.structured.match ops{{[\"linalg.generic\"]}}\n"
             "      attributes{{iterator_types = [{}]}} in %reader\n"
             "      : (!transform.any_op) -> !transform.any_op\n",
             handle, fmt::join(loops, ", ")) +
         annotation("sibling", entry.sibling_config) + "    }\n";
}

// Finds one reader among all readers by its name and iterator types.
std::string reader_text(std::string_view handle, const problem::SurroundingOperation& operation) {
  std::vector<std::string> iterators;
  for (const problem::Loop& loop : operation.loops)
    iterators.push_back(
        fmt::format("#linalg.iterator_type<{}>", loop.reduction ? "reduction" : "parallel"));
  const std::string attributes =
      operation.name == "linalg.generic"
          ? fmt::format(" attributes{{iterator_types = [{}]}}", fmt::join(iterators, ", "))
          : std::string();
  return fmt::format(
      "    %{0}_users = transform.get_consumers_of_result %{1}[0]\n"
      "      : (!transform.any_op) -> !transform.any_op\n"
      "    %{0} = transform.foreach %{0}_users : !transform.any_op -> !transform.any_op {{\n"
      "    ^bb0(%user: !transform.any_op):\n"
      "      %found = transform.structured.match ops{{[\"{2}\"]}}{3} in %user\n"
      "        : (!transform.any_op) -> !transform.any_op\n"
      "      transform.yield %found : !transform.any_op\n"
      "    }}\n",
      handle, handle_of(operation.from), operation.name, attributes);
}

std::string surrounding_annotations(const TuningSpecEntry& entry, std::string_view root) {
  std::string text;
  for (std::size_t i = 0; i < entry.surrounding.size() && i < entry.surrounding_configs.size();
       ++i) {
    const problem::SurroundingOperation& operation = entry.surrounding[i];
    const std::string handle = handle_of(static_cast<int>(i));
    text += operation.operand < 0 ? reader_text(handle, operation)
                                  : producer_text(handle, operation, root);
    if (!entry.surrounding_configs[i].empty())
      text += annotation(handle, entry.surrounding_configs[i]);
  }
  return text;
}

// A CPU's root that nothing in its dispatch reads. Compiled with other flags the same operation may
// have readers beside it, which would be left without a configuration.
bool ends_its_dispatch(const TuningSpecEntry& entry) {
  const bool tiled_alone = entry.root.kind == problem::OperationKind::kReduction ||
                           entry.root.kind == problem::OperationKind::kElementwise;
  return tiled_alone && entry.lowering_config.starts_with("#iree_cpu.") &&
         std::ranges::none_of(entry.surrounding,
                              [](const auto& each) { return each.from < 0 && each.operand < 0; });
}

// %last is the root where its result is stored, perhaps in another shape; else nothing, and nothing
// is annotated. A matcher may not ask what reads a result.
constexpr std::string_view kLastOfItsDispatch =
    "    %users = transform.get_consumers_of_result %root[0]\n"
    "      : (!transform.any_op) -> !transform.any_op\n"
    "    %stores = transform.foreach %users : !transform.any_op -> !transform.any_op {\n"
    "    ^bb0(%user: !transform.any_op):\n"
    "      %found = transform.structured.match ops{[\"iree_tensor_ext.dispatch.tensor.store\",\n"
    "          \"iree_codegen.store_to_buffer\", \"tensor.expand_shape\", "
    "\"tensor.collapse_shape\"]}\n"
    "        in %user : (!transform.any_op) -> !transform.any_op\n"
    "      transform.yield %found : !transform.any_op\n"
    "    }\n"
    "    %last = transform.get_producer_of_operand %stores[0]\n"
    "      : (!transform.any_op) -> !transform.any_op\n";

// The action for a root that IREE lays out in one way only.
std::string whole_root_action(const TuningSpecEntry& entry) {
  const bool last = ends_its_dispatch(entry);
  std::string text = last ? std::string(kLastOfItsDispatch) : std::string();
  text += fmt::format(
      "    transform.annotate %{} \"compilation_info\" = %info\n"
      "      : !transform.any_op, !transform.any_param\n",
      last ? "last" : "root");
  if (!entry.decomposition_config.empty())
    text += fmt::format(
        "    %parts = transform.param.constant {} -> !transform.any_param\n"
        "    transform.annotate %root \"decomposition_config\" = %parts\n"
        "      : !transform.any_op, !transform.any_param\n",
        entry.decomposition_config);
  return text + sibling_annotation(entry, "root") +
         surrounding_annotations(entry, last ? "last" : "root");
}

std::string contraction_action(const TuningSpecEntry& entry) {
  // The filter leaves an empty handle, on which nothing happens, for a root whose result type
  // carries an encoding (data tiling).
  const std::string_view found = entry.interchange.empty() ? "plain" : "found";
  std::string text = fmt::format(
      "    %{} = transform.structured.match filter_result_type = tensor<{}> in %root\n"
      "      : (!transform.any_op) -> !transform.any_op\n",
      found, to_string(as_stated(entry.root).operands.back().type));
  if (!entry.interchange.empty())
    text += fmt::format(
        "    %plain = transform.structured.interchange %found iterator_interchange = [{}]\n"
        "      : (!transform.any_op) -> !transform.any_op\n",
        fmt::join(entry.interchange, ", "));
  text +=
      "    transform.annotate %plain \"compilation_info\" = %info\n"
      "      : !transform.any_op, !transform.any_param\n";
  if (!entry.init_config.empty())
    text +=
        "    %init = transform.get_producer_of_operand %plain[2]\n"
        "      : (!transform.any_op) -> !transform.any_op\n" +
        annotation("init", entry.init_config);
  // structured.match takes one operation; there may be several users, or none.
  if (!entry.consumer_config.empty())
    text +=
        "    %users = transform.get_consumers_of_result %plain[0]\n"
        "      : (!transform.any_op) -> !transform.any_op\n"
        "    transform.foreach %users : !transform.any_op {\n"
        "    ^bb0(%user: !transform.any_op):\n"
        "    %consumer = transform.structured.match ops{[\"linalg.generic\"]} in %user\n"
        "      : (!transform.any_op) -> !transform.any_op\n" +
        annotation("consumer", entry.consumer_config) + "    }\n";
  return text + sibling_annotation(entry, "plain");
}

// `body` where the root is in a function of that name: of another one the handle is empty, and
// nothing happens. `number`: values beside each other need names of their own.
std::string in_function(const std::string& body, std::string_view function, std::size_t number) {
  return fmt::format(
      "    %named{0} = transform.structured.match attributes{{sym_name = \"{1}\"}} in %function\n"
      "      : (!transform.any_op) -> !transform.any_op\n"
      "    transform.foreach %named{0} : !transform.any_op {{\n"
      "    ^bb0(%its_function: !transform.any_op):\n"
      "{2}    }}\n",
      number, function, body);
}

std::string action(const TuningSpecEntry& entry, const std::string& symbol) {
  std::string text = fmt::format(
      "  transform.named_sequence @apply_{}(%root: !transform.any_op {{transform.{}}},\n"
      "                                     %info: !transform.any_param {{transform.readonly}}) "
      "{{\n",
      symbol, entry.interchange.empty() ? "readonly" : "consumed");
  const std::string body =
      is_contraction(entry.root.kind) ? contraction_action(entry) : whole_root_action(entry);
  if (entry.functions.empty())
    text += body;
  else
    text +=
        "    %function = transform.get_parent_op %root <{isolated_from_above}>\n"
        "      : (!transform.any_op) -> !transform.any_op\n";
  for (std::size_t i = 0; i < entry.functions.size(); ++i)
    text += in_function(body, entry.functions[i], i);
  return text + "    transform.yield\n  }\n";
}

std::string comment_lines(std::string_view header) {
  std::string text;
  while (!header.empty()) {
    const std::size_t end = std::min(header.find('\n'), header.size());
    text += fmt::format("// {}\n", header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return text;
}

Status check_entry(const TuningSpecEntry& entry) {
  if (const Status matched = can_match(matched_root(entry.root, entry.surrounding)); !matched)
    return input_error("spec entry '{}': {}", entry.name, matched.error().message);
  if (entry.lowering_config.empty() || entry.translation_info.empty())
    return input_error("spec entry '{}' has no configuration", entry.name);
  if (entry.name.find('\n') != std::string::npos)
    return input_error("a spec entry's name goes into a comment and cannot have several lines: {}",
                       entry.name);
  return {};
}

}  // namespace

Result<std::string> tuning_spec_text(const std::vector<TuningSpecEntry>& entries,
                                     std::string_view header) {
  if (entries.empty()) return input_error("a tuning spec needs at least one entry");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    HONE_TRY(check_entry(entries[i]));
    for (std::size_t j = 0; j < i; ++j)
      if (same_spec_class(entries[i].root, entries[j].root))
        return input_error("a tuning spec cannot tell '{}' from '{}': both are {}", entries[j].name,
                           entries[i].name, describe(entries[i].root));
  }

  std::string text = comment_lines(header);
  const bool restores = std::ranges::any_of(
      entries, [](const TuningSpecEntry& entry) { return has_restored_batch(entry.root); });
  // The second attribute promises one foreach_match and nothing else. A spec that restores the
  // batch loop breaks this promise.
  text += fmt::format("module attributes {{\n  transform.with_named_sequence{}\n}} {{\n",
                      restores ? "" : ", iree_codegen.tuning_spec_with_default_entrypoint");
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string symbol = symbol_of(i, entries[i].name);
    text += matcher(entries[i], symbol) + action(entries[i], symbol);
    pairs.push_back(fmt::format("@match_{0} -> @apply_{0}", symbol));
  }
  return text + fmt::format(
                    "  transform.named_sequence @__kernel_config(%variant: !transform.any_op "
                    "{{transform.consumed}})\n"
                    "      -> !transform.any_op attributes {{iree_codegen.tuning_spec_entrypoint}} "
                    "{{\n"
                    "{}"
                    "    %configured = transform.foreach_match in {}\n"
                    "      {}\n"
                    "      : (!transform.any_op) -> !transform.any_op\n"
                    "    transform.yield %configured : !transform.any_op\n"
                    "  }}\n}}\n",
                    restores ? batch_restoring_text("%variant", "%batched") : "",
                    restores ? "%batched" : "%variant", fmt::join(pairs, ",\n      "));
}

}  // namespace hone::iree
