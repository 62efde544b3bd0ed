#include "provider/iree/compiler/proof_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "provider/iree/compiler/runtime_tools.h"

namespace hone::iree {
namespace {

std::string words_of(const std::vector<std::string>& arguments) {
  std::string words;
  for (const std::string& argument : arguments) words += " " + shell_word(argument);
  return words;
}

// The synchronous device runs on whatever core its process is on.
std::string pinned(const device::Address& address) {
  return address.index ? "" : fmt::format("taskset -c {} ", fmt::join(address.cores, ","));
}

constexpr std::string_view kHead = R"sh(#!/bin/sh
# Repeats what hone found, without hone: compiles the program by the default flags and by
# compile_flags.txt, times both in turn and compares their outputs. IREE's tools must be on PATH:
#   PATH=$PWD/.venv/bin:$PATH sh out/run.sh
# ROUNDS: how often each is timed. MORE: further flags of the runtime.
set -eu
cd "$(dirname "$0")"/{folder}
rounds=${{ROUNDS:-9}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
)sh";

constexpr std::string_view kTimes = R"sh(
milliseconds() {
  time_of "$1" > "$work/times"
  awk '$1 ~ /real_time$/ {
    scale["ns"] = 1e-6; scale["us"] = 1e-3; scale["ms"] = 1; scale["s"] = 1e3
    printf "%.6f\n", $2 * scale[$3]; exit }' "$work/times"
}
median() { sort -n "$1" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  for module in default tuned; do milliseconds "$module" >> "$work/$module.ms"; done
  echo "round $round: default $(tail -n 1 "$work/default.ms") ms," \
    "tuned $(tail -n 1 "$work/tuned.ms") ms"
done
echo "$(median "$work/default.ms") $(median "$work/tuned.ms")" |
  awk '{ printf "medians: default %.4g ms, tuned %.4g ms, %.2fx\n", $1, $2, $1 / $2 }'
)sh";

// The tool has one tolerance for each element type, of which these are its own.
constexpr std::array<std::pair<problem::ElementType, double>, 4> kThresholds{
    {{problem::ElementType::kF16, 1e-3},
     {problem::ElementType::kBF16, 1e-2},
     {problem::ElementType::kF32, 1e-4},
     {problem::ElementType::kF64, 1e-4}}};

std::string thresholds_of(const provider::ProofScript& request) {
  std::string words;
  for (const auto& [element, own] : kThresholds) {
    double widest = own;
    const std::vector<problem::TensorType>& results = request.call.results;
    for (std::size_t i = 0; i < std::min(request.tolerances.size(), results.size()); ++i)
      if (results[i].element == element) widest = std::max(widest, request.tolerances[i]);
    if (widest > own)
      words += fmt::format(" --expected_{}_threshold={:.2g}", problem::name_of(element), widest);
  }
  return words;
}

constexpr std::string_view kDefaultIsWrong =
    " ||\n  echo \"they differ, as they must: hone found the default's outputs wrong (hone verify)\"";

}  // namespace

std::string proof_script(const provider::ProofScript& request) {
  const provider::ProgramCall& call = request.call;
  std::string script = fmt::format(kHead, fmt::arg("folder", shell_word(request.folder.string())));
  for (const std::string& variable : request.environment)
    script += "\nexport " + shell_word(variable);
  if (!request.environment.empty()) script += "\n";
  const std::string program = shell_word(request.program.string());
  script += fmt::format("\niree-compile {}{} -o \"$work/default.vmfb\"\n", program,
                        words_of(request.default_flags));
  script += fmt::format("iree-compile {} {} -o \"$work/tuned.vmfb\"\n", program,
                        shell_word("@" + request.flags_file.string()));
  std::vector<std::string> arguments = device_flags(call.device);
  arguments.push_back("--function=" + call.function);
  for (const std::filesystem::path& input : call.inputs)
    arguments.push_back("--input=@" + input.string());
  arguments.insert(arguments.end(), call.runtime_flags.begin(), call.runtime_flags.end());
  const std::string pin = pinned(call.device), words = words_of(arguments);
  script += fmt::format(
      "\ntime_of() {{\n"
      "  {}iree-benchmark-module --module=\"$work/$1.vmfb\"{} ${{MORE:-}} 2> \"$work/log\" ||\n"
      "    {{ cat \"$work/log\" >&2; exit 1; }}\n}}\n",
      pin, words);
  script += kTimes;
  script += fmt::format(
      "\ncall() {{\n"
      "  module=$1; shift\n"
      "  {}iree-run-module --module=\"$work/$module.vmfb\"{} ${{MORE:-}} \"$@\"\n}}\n",
      pin, words);
  std::string outputs, expected;
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const bool has_npy = !lacks_npy(call.results[i]);
    outputs += has_npy ? fmt::format(" --output=@\"$work/{}.npy\"", i) : " --output=-";
    expected += has_npy ? fmt::format(" --expected_output=@\"$work/{}.npy\"", i)
                        : " '--expected_output=(ignored)'";
  }
  script += fmt::format("call default{} > /dev/null\n", outputs);
  // That it runs is claimed all the same: only the comparison may fail.
  if (request.default_is_wrong) script += "call tuned > /dev/null\n";
  script += fmt::format("call tuned{}{}{}\n", expected,
                        thresholds_of(request), request.default_is_wrong ? kDefaultIsWrong : "");
  return script;
}

}  // namespace hone::iree
