#include "provider/iree/compiler/runtime_tools.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/file.h"
#include "base/process.h"
#include "problem/types.h"
#include "provider/retry.h"

namespace hone::iree {
namespace {

// Time limit of tools that call no program: reading a module, one artifact.
constexpr double kMostSeconds = 600;
// A call that has no end in half of its time is made again (provider/retry.h), in the other half.
constexpr double kShareOfACall = 0.5;

struct Printed {
  std::string output, error;
};

// `call`: of a program, that the tool makes.
Result<Printed> run_tool(const std::filesystem::path& tool, std::string_view name,
                         const std::vector<int>& cores, std::vector<std::string> arguments,
                         const provider::ProgramCall* call = nullptr, int stop_fd = -1) {
  if (tool.empty())
    return environment_error(
        "{} is not installed; pip install iree-base-runtime (scripts/setup does)", name);
  arguments.insert(arguments.begin(), tool.string());
  // The synchronous device runs on whatever core the process is on.
  if (!cores.empty())
    arguments.insert(arguments.begin(),
                     {"taskset", "-c", fmt::format("{}", fmt::join(cores, ","))});
  Command command;
  command.arguments = std::move(arguments);
  const double seconds = call != nullptr ? call->most_seconds : kMostSeconds;
  const ProcessLimits limits{
      .seconds = seconds * kShareOfACall, .memory_bytes = 0, .output_bytes = 4u << 20};
  ProcessResult result;
  for (int tries = 1;; ++tries) {
    HONE_ASSIGN(result, run_process(command, limits, call != nullptr ? call->stop_fd : stop_fd));
    if (!result.timed_out ||
        !provider::is_tried_again(provider::Attempt::kCall, provider::FailureKind::kKernelTimeout,
                                  tries))
      break;
  }
  if (!result.succeeded())
    return failure("{}{} failed ({}): {}",
                   call != nullptr ? fmt::format("calling '{}': ", call->function.name) : "", name,
                   describe(result, limits), result.standard_error.text());
  return Printed{result.standard_output.text(), result.standard_error.text()};
}

problem::ArgumentForm form_at(const std::vector<problem::ArgumentForm>& forms, std::size_t i) {
  return i < forms.size() ? forms[i] : problem::ArgumentForm::kPlain;
}

// Whether NumPy's files have no such element type, so that the tools write its bytes alone.
bool lacks_npy(const problem::TensorType& type) {
  return type.element == problem::ElementType::kBF16 ||
         type.element == problem::ElementType::kF8E4M3 ||
         type.element == problem::ElementType::kF8E5M2;
}

// Whether iree-run-module has no .npy form for it and writes its bytes only.
bool is_raw(const provider::ProgramCall& call, std::size_t result) {
  if (result >= call.function.outputs.size() || problem::is_dynamic(call.function.outputs[result]))
    return false;
  return lacks_npy(call.function.outputs[result]) ||
         form_at(call.function.output_forms, result) != problem::ArgumentForm::kPlain;
}

Result<std::vector<std::string>> call_arguments(const provider::ProgramCall& call) {
  std::vector<std::string> arguments = device_flags(call.device);
  arguments.push_back("--module=" + call.module.string());
  arguments.push_back("--function=" + call.function.name);
  HONE_ASSIGN(const std::vector<std::string> inputs, input_flags(call));
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), call.runtime_flags.begin(), call.runtime_flags.end());
  return arguments;
}

// The host's part of a call to another device may run anywhere.
std::vector<int> host_cores(const device::Address& address) {
  return address.index ? std::vector<int>() : address.cores;
}

// No seconds: one call, which the tool makes no other before.
void add_benchmark_arguments(std::vector<std::string>& arguments, double seconds) {
  const bool once = seconds <= 0;
  arguments.push_back(once ? "--benchmark_min_time=1x"
                           : fmt::format("--benchmark_min_time={:.3f}s", seconds));
  arguments.push_back(once ? "--benchmark_min_warmup_time=0" : "--benchmark_min_warmup_time=0.02");
  arguments.push_back("--benchmark_format=json");
}

Result<Printed> run_benchmark(const Installation& installation, const provider::ProgramCall& call,
                              double seconds, std::vector<std::string> more) {
  HONE_ASSIGN(std::vector<std::string> arguments, call_arguments(call));
  add_benchmark_arguments(arguments, call.function.keeps_state ? 0 : seconds);
  std::ranges::move(more, std::back_inserter(arguments));
  return run_tool(installation.benchmark_module, "iree-benchmark-module", host_cores(call.device),
                  std::move(arguments), &call);
}

}  // namespace

std::vector<std::string> device_flags(const device::Address& address) {
  const auto& [kind, index, cores, host, library] = address;
  if (index) {
    std::vector<std::string> flags{
        *index == 0 ? "--device=" + kind : fmt::format("--device={}://{}", kind, *index)};
    if (!library.empty()) flags.push_back(fmt::format("--{}_dylib_path=file:{}", kind, library));
    return flags;
  }
  if (cores.size() <= 1) return {"--device=local-sync"};
  return {"--device=local-task", fmt::format("--task_topology_cpu_ids={}", fmt::join(cores, ","))};
}

Result<std::vector<std::string>> input_flags(const provider::ProgramCall& call) {
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::filesystem::path& file = call.inputs[i];
    const problem::ArgumentForm form = form_at(call.function.input_forms, i);
    if (form == problem::ArgumentForm::kPlain) {
      flags.push_back("--input=@" + file.string());
      continue;
    }
    HONE_ASSIGN(const std::string bytes, read_file(file));
    HONE_ASSIGN(problem::Array array, problem::from_npy(bytes));
    // NumPy has no f8 type: its files hold bytes.
    if (form == problem::ArgumentForm::kF8E4M3) array.type.element = problem::ElementType::kF8E4M3;
    if (form == problem::ArgumentForm::kF8E5M2) array.type.element = problem::ElementType::kF8E5M2;
    const std::string content = problem::in_form(array, form);
    if (form == problem::ArgumentForm::kScalar) {
      flags.push_back("--input=" + content);
      continue;
    }
    std::filesystem::path raw = file;
    HONE_TRY(write_file_atomically(raw.replace_extension(".bin"), content));
    flags.push_back(
        fmt::format("--input={}=@{}", problem::text_of({array.type, form}), raw.string()));
  }
  return flags;
}

std::string returning_module(const provider::ProgramCall& call) {
  const problem::Function& function = call.function;
  if (function.overwritten.empty()) return {};
  const auto list = [](std::size_t count, const auto& text_of_one) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(text_of_one(i));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  // Numbers go as they are, all else in buffers.
  const auto type_in = [](const std::vector<problem::TensorType>& types,
                          const std::vector<problem::ArgumentForm>& forms) {
    return [&](std::size_t i) {
      const bool is_number = form_at(forms, i) == problem::ArgumentForm::kScalar;
      return is_number ? problem::to_string(types.at(i)) : std::string("!hal.buffer_view");
    };
  };
  const auto input = type_in(function.inputs, function.input_forms);
  const auto output = type_in(function.outputs, function.output_forms);
  const std::size_t inputs = call.inputs.size(), all = function.outputs.size(),
                    own = all - function.overwritten.size();
  const std::string taken =
      list(inputs, [&](std::size_t i) { return fmt::format("%a{}: {}", i, input(i)); });
  const std::string given = list(inputs, [](std::size_t i) { return fmt::format("%a{}", i); });
  const std::string results = own == 0 ? "" : fmt::format(" -> ({})", list(own, output));
  const std::string made =
      own == 0 ? "" : list(own, [](std::size_t i) { return fmt::format("%r{}", i); }) + " = ";
  const std::string returned = list(all, [&](std::size_t i) {
    return i < own ? fmt::format("%r{}", i) : fmt::format("%a{}", function.overwritten[i - own]);
  });
  const std::string callee =
      fmt::format("@{}.{}", function.module.empty() ? "module" : function.module, function.name);
  return fmt::format(
      "module @returns_arguments {{\n"
      "  util.func private {callee}({taken}){results}\n"
      "  util.func public @{function}({taken}) -> ({returned_types}) {{\n"
      "    {made}util.call {callee}({given}) : ({types}) -> ({own})\n"
      "    util.return {returned} : {returned_types}\n"
      "  }}\n"
      "}}\n",
      fmt::arg("callee", callee), fmt::arg("taken", taken), fmt::arg("results", results),
      fmt::arg("function", function.name), fmt::arg("returned_types", list(all, output)),
      fmt::arg("made", made), fmt::arg("given", given), fmt::arg("types", list(inputs, input)),
      fmt::arg("own", list(own, output)), fmt::arg("returned", returned));
}

std::vector<std::string> returning_module_flags() {
  return {"--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"};
}

Result<std::string> dump_module(const Installation& installation,
                                const std::filesystem::path& module) {
  HONE_ASSIGN(Printed dump, run_tool(installation.dump_module, "iree-dump-module", {},
                                     {"--output=metadata", module.string()}));
  return std::move(dump.output);
}

Result<std::vector<problem::Array>> run_module(const Installation& installation,
                                               const provider::ProgramCall& call,
                                               std::size_t results) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-run-module-"));
  HONE_ASSIGN(std::vector<std::string> arguments, call_arguments(call));
  if (const std::string text = returning_module(call); !text.empty()) {
    const std::filesystem::path source = folder.path() / "returning.mlir",
                                module = folder.path() / "returning.vmfb";
    HONE_TRY(write_file_atomically(source, text));
    std::vector<std::string> compile{source.string(), "-o", module.string()};
    std::ranges::move(returning_module_flags(), std::back_inserter(compile));
    HONE_TRY(run_tool(installation.iree_compile, "iree-compile", {}, std::move(compile), nullptr,
                      call.stop_fd));
    const auto first = std::ranges::find_if(
        arguments, [](const std::string& each) { return each.starts_with("--module="); });
    arguments.insert(first + 1, "--module=" + module.string());
  }
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < results; ++i) {
    files.push_back(folder.path() / fmt::format("result{}.{}", i, is_raw(call, i) ? "bin" : "npy"));
    arguments.push_back("--output=@" + files.back().string());
  }
  HONE_TRY(run_tool(installation.run_module, "iree-run-module", host_cores(call.device),
                    std::move(arguments), &call));
  std::vector<problem::Array> arrays;
  for (std::size_t i = 0; i < files.size(); ++i) {
    HONE_ASSIGN(std::string bytes, read_file(files[i]));
    if (is_raw(call, i)) {
      HONE_ASSIGN(arrays.emplace_back(),
                  problem::from_form(std::move(bytes), {call.function.outputs[i],
                                                        form_at(call.function.output_forms, i)}));
      continue;
    }
    HONE_ASSIGN(problem::Array array, problem::from_npy(bytes));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Result<double> benchmark_module(const Installation& installation, const provider::ProgramCall& call,
                                double seconds) {
  HONE_ASSIGN(const Printed printed, run_benchmark(installation, call, seconds, {}));
  return time_in_report(printed.output);
}

Result<provider::ProgramTimes> kernel_times_in_module(const Installation& installation,
                                                      const provider::ProgramCall& call,
                                                      double seconds) {
  HONE_ASSIGN(const Printed printed,
              run_benchmark(installation, call, seconds, {"--print_device_statistics"}));
  provider::ProgramTimes times;
  HONE_ASSIGN(times.seconds, time_in_report(printed.output));
  times.kernels = kernel_times_in_statistics(printed.error);
  return times;
}

std::vector<provider::KernelTime> kernel_times_in_statistics(std::string_view text) {
  std::vector<provider::KernelTime> kernels;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string row, count, total, unit;
    provider::KernelTime kernel;
    words >> row >> kernel.name >> count >> total >> unit;
    if (row != "host_execute" || !count.starts_with("count=") || !total.starts_with("total="))
      continue;
    const double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9;
    kernel.launches = std::strtoull(count.c_str() + std::strlen("count="), nullptr, 10);
    kernel.seconds = std::strtod(total.c_str() + std::strlen("total="), nullptr) * scale;
    if (kernel.launches > 0) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

Result<double> benchmark_executable(const Installation& installation,
                                    const provider::ArtifactCall& call, double seconds) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-benchmark-executable-"));
  const std::filesystem::path code = folder.path() / "executable.so";
  HONE_TRY(write_file_atomically(code, call.artifact->code));
  const provider::Launch& launch = call.artifact->launch;
  std::vector<std::string> arguments = device_flags(call.device);
  arguments.push_back("--executable_format=" + call.artifact->format);
  arguments.push_back("--executable_file=" + code.string());
  arguments.push_back(fmt::format("--entry_point={}", launch.ordinal));
  arguments.push_back(fmt::format("--workgroup_count={}", fmt::join(launch.grid, ",")));
  arguments.push_back(fmt::format("--batch_size={}", call.launches));
  for (const std::uint32_t constant : launch.constants)
    arguments.push_back(fmt::format("--constant={}", constant));
  for (std::size_t i = 0; i < call.types.size(); ++i)
    arguments.push_back(call.contents[i].empty() ? "--binding=" + problem::to_string(call.types[i])
                                                 : "--binding=@" + call.contents[i].string());
  add_benchmark_arguments(arguments, seconds);
  HONE_ASSIGN(const Printed printed,
              run_tool(installation.benchmark_executable, "iree-benchmark-executable",
                       host_cores(call.device), std::move(arguments), nullptr, call.stop_fd));
  return time_in_report(printed.output);
}

Result<double> time_in_report(const std::string& report) {
  const nlohmann::json json = nlohmann::json::parse(report, nullptr, false);
  const auto list = json.is_object() ? json.find("benchmarks") : json.end();
  if (list == json.end() || !list->is_array() || list->empty() || !list->front().is_object())
    return failure("the benchmark tool printed no report: {}", report.substr(0, 200));
  const nlohmann::json& benchmark = list->front();
  const auto text = [&](const char* name, const char* otherwise) {
    const auto found = benchmark.find(name);
    return found != benchmark.end() && found->is_string() ? found->get<std::string>() : otherwise;
  };
  if (const auto wrong = benchmark.find("error_occurred");
      wrong != benchmark.end() && *wrong == true)
    return failure("{}", text("error_message", "the benchmark failed"));
  const std::string unit = text("time_unit", "ns");
  const double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9;
  const auto time = benchmark.find("real_time");
  const double seconds =
      time != benchmark.end() && time->is_number() ? time->get<double>() * scale : 0;
  if (!(seconds > 0))
    return failure("the benchmark tool's report holds no time: {}", report.substr(0, 200));
  return seconds;
}

namespace {

constexpr std::string_view kDeclaration = "iree.abi.declaration: ";

// The types of "%input0: tensor<4xf32>, %input1: tensor<f32> {...}"; nothing when one is no tensor.
std::optional<std::vector<problem::TensorType>> types_in(std::string_view text) {
  constexpr std::string_view kTensor = "tensor<";
  std::vector<problem::TensorType> types;
  for (std::size_t name = text.find('%'); name != std::string_view::npos; name = text.find('%')) {
    const std::size_t colon = text.find(": ", name);
    if (colon == std::string_view::npos) return std::nullopt;
    text.remove_prefix(colon + 2);
    const std::size_t end = text.find('>');
    if (text.substr(0, kTensor.size()) != kTensor || end == std::string_view::npos)
      return std::nullopt;
    const auto type = problem::tensor_type_from(text.substr(kTensor.size(), end - kTensor.size()));
    if (!type) return std::nullopt;
    types.push_back(*type);
    text.remove_prefix(end);
  }
  return types;
}

std::optional<problem::Function> function_from(std::string_view declaration) {
  const std::size_t at = declaration.find('@'), open = declaration.find('(');
  const std::size_t arrow = declaration.find(") -> (");
  if (at == std::string_view::npos || open == std::string_view::npos ||
      arrow == std::string_view::npos || open < at || arrow < open)
    return std::nullopt;
  const auto inputs = types_in(declaration.substr(open + 1, arrow - open - 1));
  const auto outputs = types_in(declaration.substr(arrow));
  if (!inputs || !outputs) return std::nullopt;
  return problem::Function{std::string(declaration.substr(at + 1, open - at - 1)), *inputs,
                           *outputs};
}

// The number of "!vm.ref<?>, !vm.ref<?>"; nothing where something else is in the list.
std::optional<std::size_t> references_in(std::string_view list) {
  constexpr std::string_view kReference = "!vm.ref<?>";
  std::size_t count = 0;
  for (; !list.empty(); ++count) {
    if (!list.starts_with(kReference)) return std::nullopt;
    list.remove_prefix(kReference.size());
    if (list.starts_with(", ")) list.remove_prefix(2);
  }
  return count;
}

// "  [  1] net(!vm.ref<?>) -> (!vm.ref<?>)".
std::optional<provider::UntypedFunction> exported_function(std::string_view line) {
  constexpr std::string_view kArrow = ") -> (";
  const std::size_t number = line.find("] "), open = line.find('('), arrow = line.find(kArrow);
  if (!line.starts_with("  [") || number == std::string_view::npos ||
      open == std::string_view::npos || arrow == std::string_view::npos || open < number ||
      arrow < open || !line.ends_with(')'))
    return std::nullopt;
  const std::size_t results = arrow + kArrow.size();
  const auto inputs = references_in(line.substr(open + 1, arrow - open - 1));
  const auto outputs = references_in(line.substr(results, line.size() - 1 - results));
  if (!inputs || !outputs) return std::nullopt;
  return provider::UntypedFunction{std::string(line.substr(number + 2, open - number - 2)), *inputs,
                                   *outputs};
}

}  // namespace

std::vector<problem::Function> functions_in_dump(std::string_view dump) {
  std::vector<problem::Function> functions;
  for (std::size_t at = dump.find(kDeclaration); at != std::string_view::npos;
       at = dump.find(kDeclaration)) {
    dump.remove_prefix(at + kDeclaration.size());
    if (auto function = function_from(dump.substr(0, dump.find('\n'))))
      functions.push_back(std::move(*function));
  }
  return functions;
}

std::vector<provider::UntypedFunction> untyped_in_dump(std::string_view dump) {
  constexpr std::string_view kExports = "\nExported Functions:\n";
  std::vector<provider::UntypedFunction> functions;
  const std::size_t begin = dump.find(kExports);
  if (begin == std::string_view::npos) return functions;
  dump.remove_prefix(begin + kExports.size());
  bool last_is_one = false;  // which a declaration in the next line takes back
  while (!dump.empty() && !dump.starts_with('\n')) {
    const std::string_view line = dump.substr(0, dump.find('\n'));
    dump.remove_prefix(std::min(dump.size(), line.size() + 1));
    if (line.find(kDeclaration) != std::string_view::npos && last_is_one) functions.pop_back();
    if (!line.starts_with("  [")) {
      last_is_one = last_is_one && line.find(kDeclaration) == std::string_view::npos;
      continue;
    }
    auto function = exported_function(line);
    last_is_one =
        function && !function->name.ends_with("$async") && !function->name.starts_with("__");
    if (last_is_one) functions.push_back(std::move(*function));
  }
  return functions;
}

}  // namespace hone::iree
