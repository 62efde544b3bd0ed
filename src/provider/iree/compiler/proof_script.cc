
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
  # The name before the time may have blanks.
  awk '/real_time / {
    scale["ns"] = 1e-6; scale["us"] = 1e-3; scale["ms"] = 1; scale["s"] = 1e3
    for (i = NF - 2; i > 0 && $i !~ /real_time$/;) --i
    printf "%.6f\n", $(i + 1) * scale[$(i + 2)]; exit }' "$work/times"
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

// The tools compare no integers that have no sign in IREE but one in NumPy, and no type that NumPy
// lacks. So every result is read as bytes.
constexpr std::string_view kAgree = R"sh(
# Whether the elements of result $1 lie at most $4 apart. od reads them as $2. They are what that
# prints ("number"), floats of "$3" exponent and mantissa bits and a bias, or to be the same ("exact").
agree() {
  if cmp -s "$work/default.$1.bin" "$work/tuned.$1.bin"; then
    echo "result $1: equal"
    return
  fi
  for module in default tuned; do
    od -A n -v -t "$2" "$work/$module.$1.bin" | tr -s ' ' '\n' | sed -e '/^$/d' -e 's/-nan/nan/' > "$work/$module.txt"
  done
  paste "$work/default.txt" "$work/tuned.txt" | awk -v result="$1" -v kind="$3" -v most="$4" '
    function value(text, sign, exponent, mantissa) {
      if (kind == "number") return text + 0
      split(kind, bits, " ")
      mantissa = text % 2 ^ bits[2] / 2 ^ bits[2]
      exponent = int(text / 2 ^ bits[2]) % 2 ^ bits[1]
      sign = text >= 2 ^ (bits[1] + bits[2]) ? -1 : 1
      if (exponent == 0) return sign * mantissa * 2 ^ (1 - bits[3])
      return sign * (1 + mantissa) * 2 ^ (exponent - bits[3])
    }
    {
      elements++
      if ($1 "" == $2 "") next
      apart = value($1) - value($2)
      if (apart < 0) apart = -apart
      if (apart > largest) largest = apart
      if (kind == "exact" || $0 ~ /[a-z][a-z]/ || NF < 2 || !(apart <= most)) wrong++
    }
    END {
      if (wrong) printf "result %s: %d of %d elements are wrong", result, wrong, elements
      else printf "result %s: right", result
      if (kind != "exact") printf ", %.3g apart at most (%.3g is allowed)", largest, most
      printf "\n"
      exit wrong > 0
    }'
}
)sh";

// Format in which run.sh reads the elements of a result, and the tolerance for outputs in which
// hone saw no larger difference: that of iree-run-module, or a step of the type at one.
struct Reading {
  std::string_view format, kind;  // of od; agree() above
  double own_tolerance = 0;
};

Reading reading_of(const problem::ArgumentType& type) {
  using problem::ArgumentForm, problem::ElementType;
  if (type.form == ArgumentForm::kI2 || type.form == ArgumentForm::kI4) return {"u1", "exact"};
  if (type.form == ArgumentForm::kF8E4M3FNUZ) return {"u1", "4 3 8", 0.125};
  if (type.form == ArgumentForm::kF8E5M2FNUZ) return {"u1", "5 2 16", 0.25};
  switch (type.carrier.element) {
    case ElementType::kF64:
      return {"f8", "number", 1e-4};
    case ElementType::kF32:
      return {"f4", "number", 1e-4};
    case ElementType::kF16:
      return {"u2", "5 10 15", 1e-3};
    case ElementType::kBF16:
      return {"u2", "8 7 127", 1e-2};
    case ElementType::kF8E4M3:
      return {"u1", "4 3 7", 0.125};
    case ElementType::kF8E5M2:
      return {"u1", "5 2 15", 0.25};
    case ElementType::kI1:
    case ElementType::kI8:
      return {"u1", "exact"};
    case ElementType::kI16:
      return {"u2", "exact"};
    case ElementType::kI32:
      return {"u4", "exact"};
    case ElementType::kI64:
      return {"u8", "exact"};
  }
  return {"u1", "exact"};
}

// Flags for a function that keeps state: each call changes the next one, so only the first is
// timed.
constexpr std::string_view kFirstCall = " --benchmark_min_time=1x --benchmark_min_warmup_time=0";
constexpr std::string_view kVerdict = R"sh(
if [ "$wrong" -eq 0 ]; then echo "the outputs agree"; exit 0; fi
)sh";
constexpr std::string_view kFailed = R"sh(echo "FAILED: the outputs differ" >&2
exit 1
)sh";
constexpr std::string_view kDefaultIsWrong =
    "echo \"they differ, as they must: hone found the default's outputs wrong (hone verify)\"\n";

}  // namespace

Result<std::string> proof_script(const provider::ProofScript& request) {
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
  arguments.push_back("--function=" + call.function.name);
  HONE_ASSIGN(const std::vector<std::string> inputs, input_flags(call));
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), call.runtime_flags.begin(), call.runtime_flags.end());
  const std::string pin = pinned(call.device), words = words_of(arguments);
  script += fmt::format(
      "\ntime_of() {{\n"
      "  {}iree-benchmark-module --module=\"$work/$1.vmfb\"{}{} ${{MORE:-}} 2> \"$work/log\" ||\n"
      "    {{ cat \"$work/log\" >&2; exit 1; }}\n}}\n",
      pin, words, call.function.keeps_state ? kFirstCall : "");
  script += kTimes;
  const std::string returning = returning_module(call);
  if (!returning.empty())
    script += fmt::format(
        "\n# Returns the arguments that the function overwrites, too.\n"
        "cat > \"$work/returning.mlir\" << 'END'\n{}END\n"
        "iree-compile \"$work/returning.mlir\"{} -o \"$work/returning.vmfb\"\n",
        returning, words_of(returning_module_flags()));
  script += fmt::format(
      "\ncall() {{\n"
      "  module=$1; shift\n"
      "  {}iree-run-module --module=\"$work/$module.vmfb\"{}{} ${{MORE:-}} \"$@\"\n}}\n",
      pin, returning.empty() ? "" : " --module=\"$work/returning.vmfb\"", words);
  script += kAgree;
  script += "\nfor module in default tuned; do\n  call \"$module\"";
  for (std::size_t i = 0; i < call.function.outputs.size(); ++i)
    script += fmt::format(" --output=@\"$work/$module.{}.bin\"", i);
  script += " > /dev/null\ndone\nwrong=0\n";
  for (std::size_t i = 0; i < call.function.outputs.size(); ++i) {
    const Reading reading =
        reading_of({call.function.outputs[i], i < call.function.output_forms.size()
                                                  ? call.function.output_forms[i]
                                                  : problem::ArgumentForm::kPlain});
    double tolerance = reading.own_tolerance;
    if (i < request.tolerances.size()) tolerance = std::max(tolerance, request.tolerances[i]);
    script += fmt::format("agree {} {} \"{}\" {:.3g} || wrong=1\n", i, reading.format, reading.kind,
                          tolerance);
  }
  script += kVerdict;
  script += request.default_is_wrong ? kDefaultIsWrong : kFailed;
  return script;
}

}  // namespace hone::iree
