#include "session/external_placement.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/hash.h"
#include "base/ranges.h"
#include "base/text.h"
#include "problem/code_target.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/gpu/executable.h"

namespace hone::session {
namespace {

std::int64_t bytes_of(const std::string& type) {
  const auto read = iree::parse_type(type);
  return read ? problem::element_count(*read) * problem::byte_size(read->element) : 0;
}

std::string text_of(const problem::TensorType& type) {
  return fmt::format("tensor<{}>", problem::to_string(type));
}

iree::ExternBorder extern_border(const PlacedKernel& each, const external::Border& border) {
  problem::TensorType type =
      iree::parse_type(each.operation.types.at(static_cast<std::size_t>(border.binding)))
          .value_or(problem::TensorType());
  const std::vector<std::int64_t> shape = type.shape;
  type.element = border.result ? border.from_type : border.to_type;
  for (std::size_t i = 0; i < border.permutation.size(); ++i)
    type.shape.at(i) = shape.at(static_cast<std::size_t>(border.permutation[i]));
  return {border.binding, text_of(type), border.permutation};
}

PlacedKernel placed(const external::ExternalKernel& kernel, external::ObjectLaunch launch,
                    const iree::ReplaceableOperation& operation,
                    std::vector<external::Border> borders) {
  // Name the object by its content: the compiler first takes a file of that name in its own folder.
  const std::string object =
      fmt::format("{}-{}.{}", kernel.name(), content_hash(launch.code).substr(0, 8), launch.format);
  PlacedKernel each{kernel.manifest, object, std::move(launch), operation, std::move(borders), {}};
  for (const int binding : each.launch.bindings) {
    if (binding == external::kScratchBinding) {
      each.binding_bytes.push_back(each.launch.scratch_bytes);
      continue;
    }
    const auto border = std::ranges::find(each.borders, binding, &external::Border::binding);
    each.binding_bytes.push_back(
        border == each.borders.end()
            ? bytes_of(operation.types.at(static_cast<std::size_t>(binding)))
            : border->bytes);
  }
  return each;
}

constexpr std::size_t kOfProduct = 3;  // operands: two, and the result

// A product alone, then with ever more of the operations behind it.
using Steps = std::vector<const iree::ReplaceableOperation*>;

// An operation that a kernel fits, and the borders that it needs there.
struct Fit {
  const iree::ReplaceableOperation* operation = nullptr;
  external::BorderedForm bordered;

  // Returns the bytes that its borders move.
  std::int64_t moved() const {
    std::int64_t bytes = 0;
    for (const external::Border& border : bordered.borders)
      if (!border.constant) bytes += border.bytes;
    return bytes;
  }
};

// Checks that the kernel computes the same behind its sums as the operation. A manifest without
// `behind` means that the kernel adds each operand that it reads there.
Status check_behind(const external::ExternalKernel& kernel,
                    const iree::ReplaceableOperation& operation) {
  const std::vector<std::string>& computed = operation.behind;
  const std::string said =
      fmt::format("behind its sums it computes [{}]", fmt::join(computed, ", "));
  if (!kernel.behind) {
    const bool adds = std::ranges::all_of(
        computed, [](const std::string& each) { return each == "addf" || each == "addi"; });
    if (adds && computed.size() == kernel.operands.size() - kOfProduct) return {};
    return input_error("{}; a kernel that does says so in its manifest: behind: [{}]", said,
                       fmt::join(computed, ", "));
  }
  const auto wanted = mapped(*kernel.behind, [](const auto& each) { return each.text; });
  if (wanted == computed) return {};
  if (wanted.empty()) return input_error("{}, and the kernel nothing", said);
  return provider::YamlPlace(kernel.manifest, kernel.behind->front().line)
      .error("{}, and the kernel [{}]", said, fmt::join(wanted, ", "));
}

Result<Fit> fit_of(const external::ExternalKernel& kernel,
                   const iree::ReplaceableOperation& operation,
                   const external::ObjectDevice& device) {
  HONE_ASSIGN(auto bordered, external::form_with_borders(kernel, operation.statement));
  HONE_TRY(check_behind(kernel, operation));
  HONE_TRY(external::check_constraints(kernel, bordered.form, device));
  return Fit{&operation, std::move(bordered)};
}

// Selects the step whose borders move the fewest bytes, and of equal ones the shortest. An error
// names the product and the reason at the step with as many operands as the kernel.
Result<Fit> best_fit(const external::ExternalKernel& kernel, const Steps& steps,
                     const external::ObjectDevice& device) {
  std::optional<Fit> best;
  std::string reason;
  bool told = false;
  for (const iree::ReplaceableOperation* const step : steps) {
    Result<Fit> fit = fit_of(kernel, *step, device);
    if (fit && (!best || fit->moved() < best->moved())) best = *std::move(fit);
    const bool reads_as_much = step->types.size() == kernel.operands.size();
    // Keep the reason of the first step with as many operands. If the manifest has `behind`, keep
    // that of the last one: it shows everything that the program computes there.
    if (fit || (told && !kernel.behind) || (!reason.empty() && !reads_as_much)) continue;
    reason = fmt::format("{}: {}", step->name, fit.error().message);
    told = reads_as_much;
  }
  if (best) return *std::move(best);
  const std::string& stopped_by = steps.back()->stopped_by;
  if (!stopped_by.empty() && (kernel.behind || kernel.operands.size() > kOfProduct))
    reason += fmt::format("; behind that hone does not look: {}", stopped_by);
  return input_error("{}", reason);
}

// Returns the error for a kernel that fits no operation.
tl::unexpected<Error> no_operation(const external::ExternalKernel& kernel,
                                   const std::vector<std::string>& reasons) {
  if (reasons.empty())
    return input_error("{}: the program has no contraction and no convolution", kernel.manifest);
  return input_error("{} is for no operation of the program:\n  {}", kernel.manifest,
                     fmt::join(reasons, "\n  "));
}

iree::ExternLaunch expected(const PlacedKernel& kernel) {
  const problem::Launch& launch = kernel.launch.launch;
  iree::ExternLaunch wanted{.function = kernel.launch.function,
                            .grid = {launch.grid.begin(), launch.grid.end()},
                            .block = {launch.block.begin(), launch.block.end()},
                            .constants = launch.constants,
                            .binding_bytes = kernel.binding_bytes,
                            .written_bindings = {}};
  constexpr int kResult = 2;
  const auto& bindings = kernel.launch.bindings;
  for (std::size_t i = 0; i < bindings.size(); ++i)
    if (bindings[i] == kResult || bindings[i] == external::kScratchBinding)
      wanted.written_bindings.push_back(static_cast<std::int64_t>(i));
  return wanted;
}

std::string in_words(const iree::ExternLaunch& launch) {
  return fmt::format("grid {}, block {}, constants {}, bindings of {} bytes",
                     fmt::join(launch.grid, " x "), fmt::join(launch.block, " x "),
                     fmt::join(launch.constants, " "), fmt::join(launch.binding_bytes, ", "));
}

}  // namespace

Status configure(std::vector<external::ExternalKernel>& kernels, const std::string& configuration) {
  for (std::size_t at = 0; at < configuration.size();) {
    const std::size_t end = std::min(configuration.find(',', at), configuration.size());
    const std::string pair = configuration.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = pair.substr(0, equals);
    const std::string said = pair.substr(std::min(equals + 1, pair.size()));
    std::vector<std::string> knobs;
    bool found = false;
    for (external::ExternalKernel& kernel : kernels)
      for (const provider::KernelManifest::Knob& knob : kernel.knobs) {
        knobs.push_back(knob.name);
        if (knob.name != name) continue;
        found = true;
        const auto value = std::ranges::find(
            knob.values, said, [](space::Value each) { return std::to_string(each); });
        if (value == knob.values.end())
          return input_error("--config: '{}': {} of {}:{} may be {}", pair, name, kernel.manifest,
                             knob.line, fmt::join(knob.values, ", "));
        kernel.defaults[name] = *value;
      }
    if (!found)
      return input_error("--config: '{}': no manifest has a knob '{}'{}; it is NAME=VALUE,...",
                         pair, name, did_you_mean(name, knobs));
  }
  return {};
}

Result<std::vector<PlacedKernel>> placed_kernels(
    const std::vector<external::ExternalKernel>& kernels,
    const std::vector<iree::ReplaceableOperation>& operations,
    const external::ObjectDevice& device) {
  std::vector<PlacedKernel> all;
  std::map<int, Steps> products;
  for (const iree::ReplaceableOperation& each : operations) products[each.product].push_back(&each);
  std::set<int> taken;  // products
  for (const external::ExternalKernel& kernel : kernels) {
    std::vector<std::string> reasons;
    bool found = false;
    for (const auto& [product, steps] : products) {
      auto fit = best_fit(kernel, steps, device);
      if (!fit) {
        reasons.push_back(fit.error().message);
        continue;
      }
      found = true;
      if (!taken.insert(product).second) continue;
      HONE_ASSIGN(external::ObjectLaunch launch, object_launch(kernel, fit->bordered.form, device));
      all.push_back(
          placed(kernel, std::move(launch), *fit->operation, std::move(fit->bordered.borders)));
    }
    if (!found) return no_operation(kernel, reasons);
  }
  return all;
}

std::vector<iree::ExternDispatch> extern_dispatches(const std::vector<PlacedKernel>& placed,
                                                    const problem::GpuTarget& target) {
  std::vector<iree::ExternDispatch> dispatches;
  for (const PlacedKernel& each : placed) {
    dispatches.push_back(
        {.operation = each.operation,
         .comment = fmt::format("{} in the place of {}", each.object, each.operation.name),
         .function = each.launch.function,
         .object = each.object,
         .launch = each.launch.launch,
         .bindings = each.launch.bindings,
         .borders =
             mapped(each.borders,
                    [&](const external::Border& border) { return extern_border(each, border); }),
         .zeroed = each.launch.zeroed,
         .scratch_bytes = each.launch.scratch_bytes,
         .subgroup_size = each.launch.subgroup_size > 0 ? each.launch.subgroup_size
                                                        : target.subgroup_sizes.front()});
  }
  return dispatches;
}

Status check_launches(const std::vector<PlacedKernel>& placed,
                      const std::vector<iree::ExternLaunch>& launches) {
  std::vector<iree::ExternLaunch> left = launches;
  for (const PlacedKernel& each : placed) {
    const iree::ExternLaunch wanted = expected(each);
    for (int i = 0; i < each.operation.count; ++i) {
      const auto found = std::ranges::find(left, wanted);
      if (found != left.end()) {
        left.erase(found);
        continue;
      }
      const auto other = std::ranges::find(left, wanted.function, &iree::ExternLaunch::function);
      return failure("{}: {} of {} launches of {} are in the compiled program with {}{}",
                     each.manifest, i, each.operation.count, wanted.function, in_words(wanted),
                     other == left.end() ? std::string("; the spec did not match the others")
                                         : fmt::format("; one has {}", in_words(*other)));
    }
  }
  return {};
}

Status check_module(const std::vector<PlacedKernel>& placed, std::string_view module,
                    const external::ObjectDevice& device) {
  const std::vector<iree::GpuKernel> kernels = iree::kernels_in_module(module);
  for (const PlacedKernel& each : placed) {
    // Two operations may share a function and have different blocks.
    const bool held = std::ranges::any_of(kernels, [&](const iree::GpuKernel& kernel) {
      return kernel.entry == each.launch.function && kernel.code == each.launch.code &&
             kernel.block == each.launch.launch.block &&
             kernel.constants == each.launch.launch.constants.size();
    });
    if (!held)
      return failure(
          "{}: the compiled program does not hold {} with this code, block and constants",
          each.manifest, each.launch.function);
  }
  for (const iree::GpuKernel& kernel : kernels) {
    const Status fits = problem::check_code_target(kernel.code, device.runs_as);
    if (fits) continue;
    const bool copied = problem::has_its_instructions(device.target, device.runs_as);
    return input_error(
        "'{}' is compiled for {}, but HSA_OVERRIDE_GFX_VERSION makes AMD's runtime see a {}: unset "
        "it, and give an object for {}{}",
        kernel.entry, device.target, device.runs_as, device.target,
        copied ? fmt::format(", or write 'processor: {}' in the manifest", device.target) : "");
  }
  return {};
}

}  // namespace hone::session
