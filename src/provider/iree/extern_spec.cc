#include "provider/iree/extern_spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ranges.h"
#include "provider/iree/compiler/replacing_spec.h"
#include "provider/iree/compiler/transform_specs.h"

namespace hone::iree {
namespace {

std::string_view target_of(problem::GpuBackend backend) {
  const bool rocm = backend == problem::GpuBackend::kRocm;
  return rocm ? R"(#hal.executable.target<"rocm", "rocm-hsaco-fb">)"
              : R"(#hal.executable.target<"cuda", "cuda-nvptx-fb">)";
}

// "f16" of "tensor<2x32x32x1280xf16>".
std::string element_of(const std::string& type) {
  const std::size_t begin = type.rfind('x') + 1;
  return type.substr(begin, type.rfind('>') - begin);
}

std::string zero_of(const std::string& element) {
  return element.starts_with("i") ? "0 : " + element : "0.0 : " + element;
}

// "arith.truncf" and the like from one floating-point type to another, as lines of a body in which
// %from becomes %to.
std::string conversion(const std::string& from, const std::string& to) {
  const auto bits = [](const std::string& type) {
    const std::size_t digit = type.find_first_of("0123456789");
    return std::stoi(type.substr(digit));
  };
  const auto step = [](const char* in, const char* out, const char* how, const std::string& a,
                       const std::string& b) {
    return fmt::format("      {} = arith.{} {} : {} to {}\n", out, how, in, a, b);
  };
  if (bits(from) != bits(to))
    return step("%from", "%to", bits(from) > bits(to) ? "truncf" : "extf", from, to);
  return step("%from", "%wide", "extf", from, "f32") + step("%wide", "%to", "truncf", "f32", to);
}

std::vector<int> inverse(const std::vector<int>& permutation) {
  std::vector<int> back(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    back[to_index(permutation[i])] = static_cast<int>(i);
  return back;
}

// Lines that make `name` + "_moved" of `name`: dimension i of `to` is dimension permutation[i] of
// `from`.
std::string moved(const std::string& name, const std::string& from, const std::string& to,
                  const std::vector<int>& permutation) {
  std::string text = fmt::format("{0}_place = tensor.empty() : {1}\n    ", name, to);
  const std::string was = element_of(from), is = element_of(to);
  if (was == is)
    return text + fmt::format(
                      "{0}_moved = linalg.transpose ins({0} : {1}) outs({0}_place : {2}) "
                      "permutation = [{3}]",
                      name, from, to, fmt::join(permutation, ", "));
  const auto rank = to_index(std::ranges::count(to, 'x'));
  std::vector<std::string> loops, read, kinds;
  for (std::size_t d = 0; d < rank; ++d) loops.push_back(fmt::format("d{}", d));
  read = loops;
  kinds.assign(rank, "\"parallel\"");
  // Loop i is dimension i of `to`.
  for (std::size_t i = 0; i < permutation.size(); ++i) read.at(to_index(permutation[i])) = loops[i];
  return text + fmt::format(
                    R"mlir({0}_moved = linalg.generic {{
        indexing_maps = [affine_map<({1}) -> ({2})>, affine_map<({1}) -> ({1})>],
        iterator_types = [{3}]}} ins({0} : {4}) outs({0}_place : {5}) {{
    ^bb0(%from: {6}, %unused: {7}):
{8}      linalg.yield %to : {7}
    }} -> {5})mlir",
                    name, fmt::join(loops, ", "), fmt::join(read, ", "), fmt::join(kinds, ", "),
                    from, to, was, is, conversion(was, is));
}

// Operands of the call in the order of the launch: constants, then tensors. A result that stands
// between operands, or that must hold something before, is an operand too, to which it is tied.
class Call {
 public:
  explicit Call(const ExternDispatch& dispatch)
      : dispatch_(dispatch), types_(dispatch.operation.types), kernel_types_(types_) {
    for (const ExternBorder& border : dispatch.borders)
      kernel_types_.at(to_index(border.binding)) = border.kernel_type;
  }

  // `head`: the function's operation and name, `leave`: what returns from it.
  std::string text(std::string_view head, std::string_view leave, std::string_view target) {
    const problem::Launch& launch = dispatch_.launch;
    for (const std::uint32_t constant : launch.constants) {
      names_.push_back(fmt::format("%constant_{}", names_.size()));
      operand_types_.emplace_back("i32");
      lines_.push_back(fmt::format("{} = arith.constant {} : i32", names_.back(),
                                   static_cast<std::int32_t>(constant)));
    }
    const bool has_scratch = dispatch_.scratch_bytes > 0;
    const bool tied = dispatch_.zeroed || dispatch_.bindings.back() != kResultBinding;
    if (tied) add_result();
    if (has_scratch) add_zeros("scratch", scratch_type());
    std::size_t result_at = 0, scratch_at = 0;  // among the operands
    std::vector<std::string> bindings;
    for (const int binding : dispatch_.bindings) {
      const bool result = binding == kResultBinding, scratch = binding < 0;
      bindings.emplace_back(result || scratch ? "#hal.pipeline.binding<storage_buffer>"
                                              : "#hal.pipeline.binding<storage_buffer, ReadOnly>");
      if (result && !tied) continue;
      if (result) result_at = names_.size();
      if (scratch) scratch_at = names_.size();
      names_.push_back(result ? "%result" : scratch ? "%scratch" : operand(binding));
      operand_types_.push_back(scratch ? scratch_type() : kernel_type(binding));
    }
    std::string tie, names = "%called", types = kernel_type(kResultBinding);
    const std::string to_result = tied ? std::to_string(result_at) : "-1";
    if (tied) tie = fmt::format(", tied_operands = [{} : index]", to_result);
    // The memory's content behind the launch is a result too, which nobody reads.
    if (has_scratch) {
      tie = fmt::format(", tied_operands = [{} : index, {} : index]", to_result, scratch_at);
      names += ", %left";
      types = fmt::format("({}, {})", types, scratch_type());
    }
    std::vector<std::string> parameters;
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (i != kResultBinding) parameters.push_back(fmt::format("%operand_{}: {}", i, types_[i]));
    const std::string given = back(leave);
    // The attributes that say how it is launched have no place in the short form.
    return fmt::format(
        R"mlir(  {head}({parameters}) -> {result} {{
    {lines}
    {called} = "hal.dispatch.extern"({names}) <{{
      export_name = "{function}",
      layout = #hal.pipeline.layout<constants = {count}, bindings = [{bindings}]>,
      targets = [{target}], target_ordinals = [0 : index],
      target_objects = [[#hal.executable.object<{{path = "{object}"}}>]],
      workgroup_size = [{bx} : index, {by} : index, {bz} : index], subgroup_size = {subgroup} : index,
      workgroup_local_memory = {shared} : index{tie},
      operandSegmentSizes = array<i32: 0, {operands}, 0, 0>}}> ({{
    ^bb0(%device: !hal.device):
      %x = arith.constant {gx} : index
      %y = arith.constant {gy} : index
      %z = arith.constant {gz} : index
      hal.return %x, %y, %z : index, index, index
    }}, {{}}) : ({types}) -> {called_types}
    {given}
  }}
)mlir",
        fmt::arg("head", head), fmt::arg("parameters", fmt::join(parameters, ", ")),
        fmt::arg("result", types_.at(kResultBinding)), fmt::arg("called", names),
        fmt::arg("called_types", types), fmt::arg("given", given),
        fmt::arg("lines", fmt::join(lines_, "\n    ")), fmt::arg("names", fmt::join(names_, ", ")),
        fmt::arg("function", dispatch_.function), fmt::arg("count", launch.constants.size()),
        fmt::arg("bindings", fmt::join(bindings, ", ")), fmt::arg("target", target),
        fmt::arg("object", dispatch_.object), fmt::arg("bx", launch.block[0]),
        fmt::arg("by", launch.block[1]), fmt::arg("bz", launch.block[2]),
        fmt::arg("subgroup", dispatch_.subgroup_size), fmt::arg("shared", launch.shared_bytes),
        fmt::arg("tie", tie), fmt::arg("operands", names_.size()), fmt::arg("gx", launch.grid[0]),
        fmt::arg("gy", launch.grid[1]), fmt::arg("gz", launch.grid[2]),
        fmt::arg("types", fmt::join(operand_types_, ", ")));
  }

 private:
  const std::string& kernel_type(int binding) const { return kernel_types_.at(to_index(binding)); }
  const ExternBorder* border(int binding) const {
    const auto found = std::ranges::find(dispatch_.borders, binding, &ExternBorder::binding);
    return found == dispatch_.borders.end() ? nullptr : &*found;
  }

  // The name of an operand as the kernel reads it.
  std::string operand(int binding) {
    std::string name = fmt::format("%operand_{}", binding);
    const ExternBorder* const between = border(binding);
    if (between == nullptr) return name;
    lines_.push_back(
        moved(name, types_.at(to_index(binding)), kernel_type(binding), between->permutation));
    return name + "_moved";
  }

  // Converts the kernel's result to the program's.
  std::string back(std::string_view leave) const {
    const std::string& type = types_.at(kResultBinding);
    const ExternBorder* const between = border(kResultBinding);
    if (between == nullptr) return fmt::format("{} %called : {}", leave, type);
    return fmt::format("{}\n    {} %called_moved : {}",
                       moved("%called", between->kernel_type, type, inverse(between->permutation)),
                       leave, type);
  }

  void add_result() {
    const std::string& type = kernel_type(kResultBinding);
    if (!dispatch_.zeroed) {
      lines_.push_back(fmt::format("%result = tensor.empty() : {}", type));
      return;
    }
    add_zeros("result", type);
  }

  // Lines that make %`name`.
  void add_zeros(const std::string& name, const std::string& type) {
    const std::string element = element_of(type);
    lines_.push_back(fmt::format("%{}_zero = arith.constant {}", name, zero_of(element)));
    lines_.push_back(fmt::format("%{}_place = tensor.empty() : {}", name, type));
    lines_.push_back(
        fmt::format("%{0} = linalg.fill ins(%{0}_zero : {1}) outs(%{0}_place : {2}) -> {2}", name,
                    element, type));
  }

  std::string scratch_type() const { return fmt::format("tensor<{}xi8>", dispatch_.scratch_bytes); }

  const ExternDispatch& dispatch_;
  const std::vector<std::string>& types_;  // by binding, as the program has them
  std::vector<std::string> kernel_types_;
  std::vector<std::string> lines_, names_, operand_types_;
};

// "tensor<2x3xf16>" of "tensor<2x3xf32>" and "f16".
std::string with_element(const std::string& type, const std::string& element) {
  return type.substr(0, type.rfind('x') + 1) + element + ">";
}

// Launches the kernel, with its borders. `head`: the function's operation and name
// ("util.func private @kernel_0"), `leave`: what returns from it ("util.return").
std::string extern_function(const ExternDispatch& dispatch, std::string_view head,
                            std::string_view leave, problem::GpuBackend backend) {
  return Call(dispatch).text(head, leave, target_of(backend));
}

// The operation itself, its operands and its result rounded to the types that the kernel has; a
// util.func.
std::string converted_function(const ExternDispatch& dispatch, std::string_view head) {
  const ReplaceableOperation& operation = dispatch.operation;
  std::vector<std::string> parameters, lines;
  // Lines that make `to` of `from`.
  const auto round = [&](const std::string& from, const std::string& to, std::size_t binding) {
    const std::string& type = operation.types.at(binding);
    std::string narrow = type;
    for (const ExternBorder& border : dispatch.borders)
      if (to_index(border.binding) == binding)
        narrow = with_element(type, element_of(border.kernel_type));
    std::string rounded = from;
    if (narrow != type) {
      lines.push_back(moved(from, type, narrow, {}));
      lines.push_back(moved(from + "_moved", narrow, type, {}));
      rounded += "_moved_moved";
    }
    lines.push_back(fmt::format("{} = tensor.cast {} : {} to {}", to, rounded, type, type));
  };
  for (std::size_t i = 0; i < operation.types.size(); ++i) {
    if (i == kResultBinding) continue;
    const std::string operand = fmt::format("%operand_{}", i);
    round(operand, fmt::format("%arg{}", parameters.size()), i);
    parameters.push_back(fmt::format("{}: {}", operand, operation.types[i]));
  }
  const std::string& result = operation.types.at(kResultBinding);
  lines.push_back(operation.body);
  lines.push_back(
      fmt::format("%sums = tensor.cast {} : {} to {}", operation.value, result, result));
  round("%sums", "%rounded", kResultBinding);
  return fmt::format(
      "  {}({}) -> {} {{\n    {}\n    util.return %rounded : "
      "{}\n"
      "  }}\n",
      head, fmt::join(parameters, ", "), result, fmt::join(lines, "\n    "), result);
}

std::string name_of(std::size_t number) {
  return fmt::format("kernel_{}", number);
}

std::string head_of(std::size_t number) {
  return "util.func private @" + name_of(number);
}

// `functions`: by dispatch, what is called in its place.
std::string spec_of_functions(const std::vector<ExternDispatch>& dispatches,
                              const std::vector<std::string>& functions) {
  std::vector<Replacement> replacements;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const ReplaceableOperation& operation = dispatches[i].operation;
    std::vector<std::string> operands = operation.types;
    operands.erase(operands.begin() + kResultBinding);
    replacements.push_back({dispatches[i].comment, name_of(i), functions[i], std::move(operands),
                            operation.dag, operation.scalars});
  }
  return replacing_spec(replacements);
}

}  // namespace

std::string extern_spec_text(const std::vector<ExternDispatch>& dispatches,
                             problem::GpuBackend backend) {
  std::vector<std::string> functions;
  for (const ExternDispatch& each : dispatches)
    functions.push_back(extern_function(each, head_of(functions.size()), "util.return", backend));
  return spec_of_functions(dispatches, functions);
}

std::string converted_spec_text(const std::vector<ExternDispatch>& dispatches) {
  std::vector<std::string> functions;
  for (const ExternDispatch& each : dispatches)
    functions.push_back(converted_function(each, head_of(functions.size())));
  return spec_of_functions(dispatches, functions);
}

std::string kernel_program_text(const ExternDispatch& dispatch, problem::GpuBackend backend) {
  ExternDispatch alone = dispatch;
  for (const ExternBorder& border : dispatch.borders)
    alone.operation.types.at(to_index(border.binding)) = border.kernel_type;
  alone.borders.clear();
  alone.zeroed = false;
  return extern_function(alone, "func.func @kernel", "return", backend);
}

std::vector<std::string> extern_spec_flags(const std::string& spec, const std::string& folder) {
  return {std::string(kTransformSpecFlag) + spec,
          "--iree-hal-executable-object-search-path=" + folder};
}

}  // namespace hone::iree
