#include "provider/iree/compiler/flags_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include "provider/iree/compiler/compiler_session.h"

namespace hone::iree {
namespace {

struct Word {
  std::string text;
  int line = 0;
};

Result<std::vector<Word>> words_in(const std::string& name, std::string_view text) {
  std::vector<Word> words;
  std::optional<Word> word;
  char quote = 0;
  int line = 1, quoted_at = 0;
  const auto open = [&]() -> std::string& {
    if (!word) word = Word{"", line};
    return word->text;
  };
  const auto close = [&] {
    if (word) words.push_back(*std::exchange(word, std::nullopt));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool has_next = i + 1 < text.size();
    if (c == '\n') ++line;
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else if (c == '\\' && quote == '"' && has_next && (text[i + 1] == '"' || text[i + 1] == '\\'))
        open() += text[++i];
      else
        open() += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      quoted_at = line;
      open();
    } else if (c == '\\' && has_next) {
      if (text[++i] == '\n')
        ++line;
      else
        open() += text[i];
    } else if (c == '#' && !word) {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      close();
    } else {
      open() += c;
    }
  }
  if (quote != 0) return input_error("{}:{}: the quote {} is not closed", name, quoted_at, quote);
  close();
  return words;
}

struct OldName {
  std::string_view name, now;  // `now` is empty where there is none
  std::string_view note;
};

// The flags in the histories of nod-ai/sdxl-scripts and nod-ai/shark-ai (since 2024) that IREE 3.13
// does not have (iree-compile --help-list-hidden), by commits of iree-org/iree: 7a7bfe1807,
// d661efa6c1, 274c9984a2, 3e8c81c83c, ac49ab6d06, c18957b7e8, ef04852f6c.
constexpr std::array kOldNames = {
    OldName{"--iree-flow-enable-fuse-horizontal-contractions",
            "--iree-dispatch-creation-enable-fuse-horizontal-contractions", ""},
    OldName{"--iree-codegen-llvmgpu-test-tile-and-fuse-matmul",
            "--iree-codegen-llvmgpu-use-tile-and-fuse-matmul", ""},
    OldName{"--iree-codegen-llvmgpu-early-tile-and-fuse-matmul",
            "--iree-codegen-llvmgpu-use-tile-and-fuse-matmul", ""},
    OldName{"--iree-hip-bc-dir", "--iree-rocm-bc-dir", ""},
    OldName{"--iree-hip-enable-tensor-ukernels", "--iree-rocm-enable-tensor-ukernels", ""},
    OldName{"--iree-hip-enable-ukernels", "--iree-rocm-enable-ukernels", ""},
    OldName{"--iree-hip-encoding-layout-resolver", "--iree-rocm-encoding-layout-resolver", ""},
    OldName{"--iree-hip-llvm-global-isel", "--iree-rocm-llvm-global-isel", ""},
    OldName{"--iree-hip-llvm-slp-vec", "--iree-rocm-llvm-slp-vec", ""},
    OldName{"--iree-hip-specialize-dispatches", "--iree-rocm-specialize-dispatches", ""},
    OldName{"--iree-hip-target-features", "--iree-rocm-target-features", ""},
    OldName{"--iree-hip-waves-per-eu", "--iree-rocm-waves-per-eu", ""},
    OldName{"--iree-hip-legacy-sync", "", "the compiler has one way to wait since January 2025"},
    OldName{"--iree-flow-enable-aggressive-fusion",
            "--iree-dispatch-creation-enable-aggressive-fusion", ""},
    OldName{"--iree-global-opt-enable-fuse-horizontal-contractions",
            "--iree-dispatch-creation-enable-fuse-horizontal-contractions", ""},
    OldName{"--iree-codegen-gpu-native-math-precision", "",
            "this IREE has no such flag, and none in its place"},
    OldName{"--iree-llvmgpu-enable-prefetch", "",
            "the compiler prefetches by its own rule now; --iree-llvmgpu-prefetch-num-stages says "
            "otherwise"},
};

// Flags that write what candidates must not write over each other, or print.
constexpr std::array<std::string_view, 9> kWriters = {
    "--iree-hal-dump-",        "--iree-hal-benchmark-", "--iree-flow-dump-",
    "--iree-scheduling-dump-", "--iree-flow-trace-",    "--mlir-print-ir",
    "--mlir-timing",           "--save-temps",          "--iree-hal-executable-debug-"};

class FlagsReader {
 public:
  explicit FlagsReader(const std::string& name) : name_(name) {}

  Status take(const std::vector<Word>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Word& word = words[i];
      if (word.text == "-o" || word.text == "--output") {
        ++i;
        left_out(word.text, "hone keeps what it compiles in its store");
        continue;
      }
      if (word.text == "-" || !word.text.starts_with('-')) {
        if (i > 0) left_out(word.text, "the program is hone's own argument");
        continue;
      }
      HONE_TRY(take_flag(word));
    }
    return settle();
  }
  FileFlags result;

 private:
  void left_out(std::string_view what, std::string_view why) {
    result.notes.push_back(fmt::format("{}: '{}' is left out: {}", name_, what, why));
  }

  Status take_flag(const Word& word) {
    if (word.text.find('$') != std::string::npos)
      return input_error(
          "{}:{}: '{}' has a variable of the shell, which nobody replaces here: write what it "
          "stands for",
          name_, word.line, word.text);
    // Write two dashes: the compiler accepts one as well.
    std::string flag = word.text.starts_with("--") ? word.text : "-" + word.text;
    const std::string name = flag.substr(0, flag.find('='));
    const std::string value = flag.size() > name.size() ? flag.substr(name.size() + 1) : "";
    if (name == "--iree-hal-target-backends" || name == "--iree-hal-target-device" ||
        name == "--iree-hal-local-target-device-backends")
      return say(kind_, kind_of(value), word);
    if (name == "--iree-rocm-target" || name == "--iree-rocm-target-chip" ||
        name == "--iree-hip-target" || name == "--iree-cuda-target" ||
        name == "--iree-hal-cuda-llvm-target-arch" || name == "--iree-llvmcpu-target-cpu")
      return say(chip_, value, word);
    if (std::ranges::any_of(kWriters,
                            [&](std::string_view writer) { return name.starts_with(writer); })) {
      left_out(flag, "candidates compile side by side, and hone show writes what one of them made");
      return {};
    }
    if (flag.starts_with(kReplacedFlag)) {
      result.kernels = value;
      left_out(flag,
               "the kernels of another tuning hide what they replace, which could not be tuned");
      return {};
    }
    const auto old = std::ranges::find(kOldNames, name, &OldName::name);
    if (old != kOldNames.end() && old->now.empty()) {
      left_out(flag, old->note);
      return {};
    }
    if (old != kOldNames.end()) {
      flag = std::string(old->now) + flag.substr(name.size());
      result.notes.push_back(fmt::format("{}: '{}' is called '{}' now", name_, word.text, flag));
    }
    result.flags.push_back(std::move(flag));
    return {};
  }

  static std::string kind_of(const std::string& value) {
    if (value == "rocm" || value == "hip") return "AMD GPU";
    if (value == "cuda") return "NVIDIA GPU";
    if (value == "local" || value == "llvm-cpu") return "CPU";
    return value;
  }

  Status say(std::string& known, const std::string& said, const Word& word) const {
    if (!known.empty() && known != said)
      return input_error("{}:{}: '{}' contradicts '{}' before it", name_, word.line, word.text,
                         known);
    known = said;
    return {};
  }

  Status settle() {
    if (kind_.empty() && chip_.empty()) return {};
    if (!kind_.empty() && kind_ != "CPU" && kind_ != "AMD GPU" && kind_ != "NVIDIA GPU")
      return input_error("{}: '{}' is no target of hone's: rocm, hip, cuda, local or llvm-cpu are",
                         name_, kind_);
    if (chip_.empty() && kind_ == "AMD GPU")
      return input_error("{}: for an AMD GPU, and which is not said: --iree-rocm-target=gfx942",
                         name_);
    if (chip_.empty() && kind_ == "NVIDIA GPU")
      return input_error("{}: for an NVIDIA GPU, and which is not said: --iree-cuda-target=sm_80",
                         name_);
    result.target = chip_.empty() ? "host" : chip_;
    if (chip_.empty())
      result.notes.push_back(fmt::format(
          "{}: no CPU is said: code is for this one, where iree-compile would make it for any "
          "(--target generic)",
          name_));
    return {};
  }

  const std::string& name_;
  std::string kind_, chip_;
};

}  // namespace

Result<FileFlags> read_flags_file(const std::string& name, std::string_view text) {
  HONE_ASSIGN(const std::vector<Word> words, words_in(name, text));
  FlagsReader reading(name);
  HONE_TRY(reading.take(words));
  return std::move(reading.result);
}

}  // namespace hone::iree
