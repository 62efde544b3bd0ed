#include "cli/command_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include "cli/command_tree.h"

namespace hone::cli {
namespace {

constexpr std::size_t kTextColumn = 30;

// Sorted by command.
constexpr Example kExamples[] = {
    {"compare", "hone compare before.vmfb after.vmfb", "is the second module slower?"},
    {"compare", "hone compare none out/tuning_spec.mlir --program examples/feed_forward.mlir",
     "what a spec brings to a whole program"},
    {"compare", "hone compare last_week.db today.db", "the winners of two stores"},
    {"compare", "hone compare expected.npy got.npy", "how far two arrays lie apart"},
    {"compile", "hone compile", "all that was generated, for an sm_80"},
    {"compile", "hone compile --device cpu --dispatches=matmul_768x512x1024 -j 4",
     "one operation, for this machine's CPU"},
    {"completion", "hone completion bash > ~/.local/share/bash-completion/completions/hone",
     "for every bash that starts from now on"},
    {"completion", "hone completion fish > ~/.config/fish/completions/hone.fish", "for fish"},
    {"config", "hone config tune", "what hone tune would do without flags, and who says so"},
    {"config", "hone config tune examples/matmul_512.mlir --budget 5m",
     "the same with flags; nothing is run"},
    {"devices", "hone devices", "the CPU, GPUs and compilers"},
    {"devices", "hone devices --json", "for programs"},
    {"dispatches", "hone dispatches examples/feed_forward.mlir",
     "operation, work and bytes of each dispatch"},
    {"dispatches", "hone dispatches model.onnx", "of a model"},
    {"dispatches", "hone dispatches examples/feed_forward.mlir --extract-root 0 -o root.mlir",
     "the first one's matrix product as a program"},
    {"dispatches", "hone dispatches model.onnx --profile", "where its time goes"},
    {"dispatches", "hone dispatches model.onnx --graph dot | dot -Tsvg > model.svg",
     "its launches as a picture, by Graphviz"},
    {"doctor", "hone doctor", "what is missing or mis-set, and what mends it"},
    {"doctor", "hone doctor --store /mnt/shared/hone.db", "the same for a store elsewhere"},
    {"flags", "hone flags model.onnx", "the flags that make it fastest"},
    {"flags", "hone flags model.mlir --budget 10m --threads 1", "longer, on one core"},
    {"generate", "hone generate --problem-m=768 --problem-n=512 --problem-k=1024",
     "one matrix product in its types and configurations"},
    {"generate", "hone generate --problem-m=64:1024:128 --problem-n=64:1024:128 --problem-k=4096",
     "a sweep over shapes"},
    {"generate", "hone generate --op-kind conv2d --channels 64,128 --padding 1 --device cpu",
     "convolutions, for this machine's CPU"},
    {"generate", "hone generate --dispatches='matmul_2560*_f16t_*_mmasync' --dry-run",
     "which dispatches a pattern means"},
    {"man", "hone man | man -l -", "read the manual page"},
    {"man", "hone man > hone.1", "keep it"},
    {"profile", "hone profile --dispatches='matmul_2560*_f16t_*' --output data.csv",
     "what a pattern means, into a table"},
    {"profile", "hone profile --device cpu --generate --configs space:8 -m 64:512:64",
     "generate, verify and measure"},
    {"report", "hone report hone.db -o report.html", "everything of a store as one page"},
    {"report", "hone report out/demo/hone.db -o demo.html", "of the demo's"},
    {"report", "hone report hone.db --trace trace.json", "its runs as a timeline"},
    {"show", "hone show 53", "what candidate 53 is, and its times"},
    {"show", "hone show 53 --out candidate_53", "its IR, code, samples and commands as files"},
    {"space", "hone space examples/matmul_512.mlir --samples 5", "this CPU's knobs and rules"},
    {"space", "hone space examples/matmul_f16.mlir --target gfx942",
     "that of a GPU that is not here"},
    {"space", "hone space examples/matmul_f16.mlir --target sm_80 --rules compiler",
     "only what the compiler states itself"},
    {"space", "hone space -m 2048 -n 1280 -k 5120 --space tune_gemm --target gfx942",
     "what tune_gemm.py would try of a GEMM"},
    {"space", "hone space examples/matmul_512.mlir --check dist_m=64,dist_n=48",
     "which rules a configuration breaks"},
    {"spec check", "hone spec check out/tuning_spec.mlir --program examples/feed_forward.mlir",
     "does each entry do anything here?"},
    {"spec check",
     "hone spec check out/tuning_spec.mlir --program examples/feed_forward_f16.mlir "
     "--target sm_80",
     "and on a GPU"},
    {"spec emit", "hone spec emit --store hone.db --out found",
     "YAML, a Python module and kernels with C headers"},
    {"spec emit", "hone spec emit --candidate 12 --out found", "of one candidate"},
    {"spec external",
     "hone spec external conv.mlir --external misa_conv.yaml --target gfx942 --out out",
     "a code object in the place of the program's convolutions"},
    {"spec external",
     "hone spec external model.mlir --external a.yaml --external b.yaml --target gfx942 --json",
     "two kernels, and what each is launched with as JSON"},
    {"store check", "hone store check hone.db", "is it sound?"},
    {"store check", "hone store check /mnt/shared/hone.db", "and one elsewhere?"},
    {"store export", "hone store export hone.db -o candidates.csv", "every candidate, for a sheet"},
    {"store export", "hone store export hone.db --format json", "for programs"},
    {"store gc", "hone store gc hone.db", "make it smaller"},
    {"store gc", "hone store gc out/demo/hone.db", "the demo's"},
    {"store list", "hone store list hone.db", "what was tuned, and what it brought"},
    {"store list", "hone store list hone.db --json", "for programs"},
    {"store merge", "hone store merge all.db monday.db", "add monday.db to all.db"},
    {"store merge", "hone store merge gpu.db compiled.db",
     "what was compiled elsewhere, for this machine's GPU"},
    {"store rescue", "hone store rescue damaged.db saved.db", "read what can be read"},
    {"store rescue", "hone store rescue hone.db new.db && mv new.db hone.db",
     "and go on with that"},
    {"tune", "hone tune examples/feed_forward.mlir --out out --budget 90s",
     "tune each dispatch, prove the spec"},
    {"tune", "hone tune examples/matmul_f16.mlir --target gfx942 --compile-only --candidates 20",
     "compile and rank for a GPU that is not here"},
    {"tune", "hone tune -m 2048 -n 1280 -k 5120 --dtype-a bf16 --dtype-b bf16 --dtype-c bf16",
     "one GEMM by Triton, on an NVIDIA GPU"},
    {"verify", "hone verify examples/feed_forward.mlir",
     "against an independent compile, on generated inputs"},
    {"verify", "hone verify examples/feed_forward.mlir --spec out/tuning_spec.mlir",
     "is it right with a spec?"},
    {"verify", "hone verify mm.mlir --input=@a.npy --input=@b.npy --expected=@c.npy",
     "on your own arrays"},
};

constexpr EnvironmentVariable kVariables[] = {
    {"HONE_CONFIG", true,
     "the configuration file to read instead of looking for some; empty: none"},
    {"HONE_CUBLASLT", true, "NVIDIA's libcublasLt.so, a baseline for GEMMs"},
    {"HONE_IREE", true,
     "IREE: libIREECompiler.so, a virtual environment or a site-packages folder"},
    {"HONE_TRITON", true, "a Python interpreter or virtual environment that has Triton"},
    {"NO_COLOR", false, "hone never prints colours; set or not, it makes no difference"},
    {"OPENBLAS_CORETYPE", false,
     "kernels that OpenBLAS uses; hone sets SkylakeX where the CPU has AVX-512"},
    {"TMPDIR", true, "where temporary files go"},
    {"XDG_CONFIG_HOME", false, "the user's hone/config.yaml lies there (default: ~/.config)"},
    {"XDG_STATE_HOME", false,
     "hone/seal-key lies there, by which hone knows the code it compiled (default: "
     "~/.local/state)"},
};

constexpr std::pair<std::string_view, std::string_view> kGroups[] = {
    {"tune", "Tune and prove"},         {"compare", "Tune and prove"},
    {"verify", "Tune and prove"},       {"dispatches", "Look into a program"},
    {"flags", "Tune and prove"},        {"space", "Look into a program"},
    {"generate", "Profile operations"}, {"compile", "Profile operations"},
    {"profile", "Profile operations"},  {"store", "What was found"},
    {"show", "What was found"},         {"spec", "What was found"},
    {"report", "What was found"},       {"devices", "This machine"},
    {"doctor", "This machine"},         {"config", "This machine"},
    {"completion", "For the shell"},    {"man", "For the shell"},
};

constexpr std::pair<std::string_view, const char*> kPlaceholders[] = {
    {"INPUT", "FILE"},
    {"A", "FILE"},
    {"SPEC", "FILE"},
    {"STORE", "FILE"},
    {"NEW", "FILE"},
    {"OTHER", "FILE"},
    {"--store", "FILE"},
    {"--spec", "FILE"},
    {"--program", "FILE"},
    {"--kernel", "FILE"},
    {"--manifest", "FILE"},
    {"--gemm-size-file", "FILE"},
    {"--tuning-results-file", "FILE"},
    {"--compare-wo-tuning", "FILE"},
    {"--output", "FILE"},
    {"--config-file", "FILE"},
    {"--parameters", "SCOPE=FILE"},
    {"--env", "NAME=VALUE"},
    {"--runtime-flags-file", "FILE"},
    {"--save-inputs", "DIR"},
    {"--iree", "PATH"},
    {"--triton", "PATH"},
    {"--out", "DIR"},
    {"--generated-dir", "DIR"},
    {"--workload", "FILE"},
    {"--junit", "FILE"},
    {"--report", "FILE"},
    {"--save-cmds", "FILE"},
};

std::string path_of(const CLI::App* command) {
  const CLI::App* parent = command->get_parent();
  if (parent == nullptr) return {};
  const std::string above = path_of(parent);
  return (above.empty() ? "" : above + " ") + command->get_name();
}

std::string two_columns(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  if (right.empty()) return line + "\n";
  if (line.size() + 2 > kTextColumn)
    line += "\n" + std::string(kTextColumn, ' ');
  else
    line.resize(kTextColumn, ' ');
  return line + wrapped(right, kTextColumn, kTextColumn) + "\n";
}

// Wraps a command so that it can be pasted into a shell.
std::string wrapped_command(std::string_view line) {
  return CLI::detail::find_and_replace(wrapped(line, 4, 2, 78), "\n", " \\\n");
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t used,
                    std::size_t width) {
  std::string result;
  std::size_t column = used;
  bool first = true;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::span<const Example> examples_of(std::string_view command) {
  const auto begin = std::ranges::lower_bound(kExamples, command, {}, &Example::command);
  const auto end = std::ranges::upper_bound(kExamples, command, {}, &Example::command);
  return {begin, end};
}

std::span<const EnvironmentVariable> environment_variables() {
  return kVariables;
}

void describe_commands(CLI::App& root) {
  root.formatter(std::make_shared<HelpFormatter>());
  for (const CommandNode& node : command_tree(root)) {
    node.app->formatter(root.get_formatter());
    for (const auto& [name, group] : kGroups)
      if (node.path == name) node.app->group(std::string(group));
    for (CLI::Option* option : node.app->get_options())
      for (const auto& [name, placeholder] : kPlaceholders)
        if (name_of(*option) == name) option->type_name(placeholder);
  }
}

HelpFormatter::HelpFormatter() {
  label("Positionals", "What it works on");
  label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string left = make_option_name(option, is_positional);
  if (!is_positional && !is_flag(*option)) {
    const auto values = values_of(*option);
    left += " " +
            (values.empty() ? placeholder_of(*option) : fmt::format("{}", fmt::join(values, "|")));
  }
  std::string text = option->get_description();
  if (!option->get_default_str().empty() && !is_flag(*option))
    text += fmt::format(" [{}]", option->get_default_str());
  if (option->get_required() && !is_positional) text += " (required)";
  return two_columns(left, text);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return two_columns(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* command) const {
  return wrapped(command->get_description(), 0, 0) + "\n\n";
}

std::string HelpFormatter::make_footer(const CLI::App* command) const {
  std::string text = command->get_footer();
  if (!text.empty()) text += "\n";
  const auto examples = examples_of(path_of(command));
  if (!examples.empty()) text += (text.empty() ? "" : "\n") + std::string("Examples:\n");
  for (const Example& example : examples)
    text += fmt::format("  # {}\n  {}\n", example.explanation, wrapped_command(example.line));
  return text;
}

}  // namespace hone::cli
