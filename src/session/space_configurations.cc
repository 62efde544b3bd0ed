#include "session/space_configurations.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/say.h"
#include "profiler/source.h"
#include "profiler/tree.h"
#include "provider/iree/compiler/attributes.h"

namespace hone::session {
namespace {

// Limits for each wanted configuration: draws, and compiles. Most configurations of a CPU's space
// need more than one attribute.
constexpr std::size_t kDrawsForOne = 64;
constexpr std::size_t kCompilesForOne = 4;
constexpr std::size_t kHashDigits = 10;

// Returns whether the configuration needs more than an attribute of the root operation.
bool takes_more(const iree::Attributes& attributes) {
  return !attributes.init_config.empty() || !attributes.consumer_config.empty() ||
         !attributes.sibling_reduction_config.empty() || !attributes.sibling_config.empty() ||
         !attributes.decomposition_config.empty() || !attributes.surrounding_configs.empty() ||
         !attributes.interchange.empty();
}

// Returns the configuration as an attribute of the root operation; empty if it needs more than
// that.
std::string compilation_info(const iree::Attributes& attributes) {
  if (takes_more(attributes) || attributes.lowering_config.empty()) return {};
  return fmt::format(
      "#iree_codegen.compilation_info<\n  lowering_config = {},\n  translation_info = {}>",
      attributes.lowering_config, attributes.translation_info);
}

profiler::Configuration configuration_of(std::string info) {
  std::string name = fmt::format("{}space_{}", profiler::kConfigurationPrefix,
                                 content_hash(info).substr(0, kHashDigits));
  return {std::move(name), std::move(info)};
}

// Returns the dispatch whose root has the most operations.
const problem::Dispatch* heaviest(const problem::Program& program) {
  const auto found = std::ranges::max_element(program.dispatches, {}, [](const auto& dispatch) {
    return dispatch.root_operations > 0 ? problem::flop_count(dispatch.root) : -1;
  });
  return found == program.dispatches.end() ? nullptr : &*found;
}

}  // namespace

Result<SpaceConfigurations> SpaceConfigurations::start(const std::string& target,
                                                       const std::string& iree) {
  ToolchainOptions options;
  options.target = target;
  options.iree = iree;
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options));
  HONE_ASSIGN(auto provider, make_provider(options, toolchain.installation()));
  return SpaceConfigurations(std::move(options), std::move(toolchain), std::move(provider));
}

Result<std::vector<profiler::Configuration>> SpaceConfigurations::drawn(
    const problem::Dispatch& dispatch, const space::Space& space, std::size_t count,
    std::uint64_t seed) {
  trial::CompileService& compiler = toolchain_.compiler();
  HONE_TRY(compiler.prepare({dispatch.name, dispatch.source, compile_flags(options_)}));
  std::vector<profiler::Configuration> configurations;
  std::size_t compiles = 0;
  HONE_ASSIGN(const auto samples, space.samples(kDrawsForOne * count, seed));
  for (const space::Configuration& sample : samples) {
    if (configurations.size() == count || compiles == kCompilesForOne * count) break;
    HONE_ASSIGN(const provider::Payload payload, provider_->payload_of(dispatch, space, sample));
    HONE_ASSIGN(const iree::Attributes asked, iree::attributes_from(payload));
    if (takes_more(asked)) continue;
    ++compiles;
    HONE_ASSIGN(const trial::CompiledCandidate candidate, compiler.compile(dispatch.name, payload));
    if (!candidate.artifact) continue;
    HONE_ASSIGN(const provider::Payload made,
                provider_->specs().as_compiled(payload, *candidate.artifact));
    HONE_ASSIGN(const iree::Attributes attributes, iree::attributes_from(made));
    std::string info = compilation_info(attributes);
    if (info.empty()) continue;
    profiler::Configuration configuration = configuration_of(std::move(info));
    if (std::ranges::find(configurations, configuration) == configurations.end())
      configurations.push_back(std::move(configuration));
  }
  HONE_TRY(compiler.release(dispatch.name));
  return configurations;
}

Result<std::vector<profiler::Configuration>> SpaceConfigurations::kept(
    const profiler::Operation& operation, std::vector<profiler::Configuration> drawn) {
  if (drawn.empty()) return drawn;
  HONE_ASSIGN(const auto configured,
              toolchain_.compiler().configured({operation.name() + ".mlir",
                                                profiler::source_text(operation, drawn),
                                                compile_flags(options_)}));
  std::vector<std::pair<std::string, std::string>> found;  // dispatch's name, what it has
  for (const provider::jobs::ConfiguredDispatch& each : configured) {
    HONE_ASSIGN(const iree::Attributes attributes, iree::attributes_from(each.payload));
    found.emplace_back(each.name, compilation_info(attributes));
  }
  std::erase_if(drawn, [&](const profiler::Configuration& configuration) {
    const std::string function = operation.name() + "_" + configuration.name + "_dispatch_";
    return std::ranges::none_of(found, [&](const auto& dispatch) {
      return dispatch.first.starts_with(function) &&
             dispatch.second == configuration.compilation_info;
    });
  });
  return drawn;
}

Result<std::vector<profiler::Configuration>> SpaceConfigurations::configurations_of(
    const profiler::Operation& operation, std::size_t count, std::uint64_t seed) {
  const std::vector only_default = {profiler::default_configuration()};
  HONE_ASSIGN(const problem::Program program,
              load_for_target(toolchain_.compiler(), options_, operation.name() + ".mlir",
                              profiler::source_text(operation, only_default)));
  const problem::Dispatch* const dispatch = heaviest(program);
  std::string why = "it has no dispatch";
  if (dispatch != nullptr) why = provider_->why_no_space(*dispatch);
  if (!why.empty()) {
    say("{} has no space: {}\n", operation.name(), why);
    return std::vector<profiler::Configuration>{};
  }
  auto space = provider_->space_of(*dispatch);
  if (!space) {
    say("{} has no space: {}\n", operation.name(), space.error().message);
    return std::vector<profiler::Configuration>{};
  }
  HONE_ASSIGN(auto configurations, drawn(*dispatch, *space, count, seed));
  HONE_ASSIGN(configurations, kept(operation, std::move(configurations)));
  if (configurations.size() < count)
    say("{} has {} of {} configurations of its space that compile and are kept\n", operation.name(),
        configurations.size(), count);
  return configurations;
}

}  // namespace hone::session
