#include "provider/iree/spec_upgrade/benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

// "flow.dispatch.tensor.load" until 2025, "iree_tensor_ext.dispatch.tensor.load" since.
bool is_dispatch(std::string_view word, std::string_view operation) {
  return word.ends_with(operation) && word.find(".dispatch.tensor.") != std::string_view::npos;
}

// A function of an executable.
class DispatchFunction {
 public:
  DispatchFunction(const MlirText& text, const std::string& path, std::size_t function)
      : text_(text), path_(path), function_(function) {}

  Result<std::string> run() {
    open_ = function_ + 1;
    while (open_ < text_.size() && (text_.at(open_) != "{" || text_.at(open_ - 1) == "attributes"))
      open_ = text_.behind(open_);
    close_ = text_[open_].partner;
    if (close_ == 0)
      return input_error("{}:{}: a function without a body", path_, text_.line(function_));
    for (std::size_t i = open_ + 1; i < close_;) {
      const std::size_t end = end_of_statement(i);
      HONE_TRY(read(i, end));
      i = end;
    }
    return written();
  }

 private:
  struct Binding {
    std::string type;      // of the whole tensor
    std::string argument;  // if it is read
    std::string result;    // the value that it gets, if it is written
  };

  // A statement begins with "%a, %b = operation", or with an operation.
  bool begins(std::size_t i) const {
    if (text_.is(i, Kind::kWord)) {
      const std::string_view word = text_.at(i);
      const bool has_results = text_.at(i - 1) == "=" && text_.is(i - 2, Kind::kValue);
      return !has_results && (word == "return" || word.find('.') != std::string_view::npos);
    }
    if (!text_.is(i, Kind::kValue)) return false;
    std::size_t at = i;
    while (text_.at(at + 1) == "," && text_.is(at + 2, Kind::kValue)) at += 2;
    return text_.at(at + 1) == "=" && text_.is(at + 2, Kind::kWord) && text_.at(i - 1) != ",";
  }

  std::size_t end_of_statement(std::size_t first) const {
    std::size_t i = text_.behind(first);
    while (i < close_ && !begins(i)) i = text_.behind(i);
    return i;
  }

  // "readonly" and "tensor<4x8xf16>" of "!flow.dispatch.tensor<readonly:tensor<4x8xf16>>".
  std::string tensor_in(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i)
      if (text_.is(i, Kind::kType) && text_.at(i).ends_with("dispatch.tensor") &&
          text_.at(i + 1) == "<") {
        const std::size_t colon = text_.find(":", i, last);
        return text_.between(colon + 1, text_[i + 1].partner);
      }
    return "";
  }

  auto refusal(std::size_t token, std::string_view reason) const {
    return input_error("{}:{}: {}", path_, text_.line(token), reason);
  }

  // Whether a load or a store moves the whole binding.
  bool is_whole(std::size_t first, std::size_t last, const std::string& type) const {
    const std::size_t sizes = text_.find("sizes", first, last);
    if (sizes + 2 >= last) return false;
    std::string dimensions;
    for (const long size : integers_of(text_.between(sizes + 2, text_.behind(sizes + 2))))
      dimensions += fmt::format("{}x", size);
    return type.starts_with("tensor<" + dimensions) &&
           type.find_first_of("0123456789", 7 + dimensions.size()) != 7 + dimensions.size();
  }

  Status read(std::size_t first, std::size_t last) {
    std::size_t operation = first;
    std::vector<std::string> results;
    for (; operation < last && !text_.is(operation, Kind::kWord); ++operation)
      if (text_.is(operation, Kind::kValue)) results.emplace_back(text_.at(operation));
    const std::string_view name = text_.at(operation);
    const std::string operand(text_.at(operation + 1));
    if (name == "hal.interface.binding.subspan") {
      const std::string type = tensor_in(operation, last);
      if (type.empty() || type.find('?') != std::string::npos || results.size() != 1)
        return refusal(first, "a binding of sizes that only the run time knows");
      order_.push_back(results[0]);
      bindings_[results[0]] = {type, "", ""};
    } else if (name.starts_with("hal.interface.")) {
      dropped_.insert(results.begin(), results.end());
    } else if (is_dispatch(name, ".load")) {
      HONE_TRY(read_load(operation, last, results));
    } else if (is_dispatch(name, ".store")) {
      const std::string target(text_.at(operation + 3));
      const auto found = bindings_.find(target);
      if (found == bindings_.end() || !is_whole(operation, last, found->second.type))
        return refusal(first, "a binding that is written in parts");
      found->second.result = operand;
    } else if (name != "return") {
      return keep(first, last, results);
    }
    return {};
  }

  Status read_load(std::size_t operation, std::size_t last,
                   const std::vector<std::string>& results) {
    const auto found = bindings_.find(std::string(text_.at(operation + 1)));
    if (found == bindings_.end() || results.size() != 1 ||
        !is_whole(operation, last, found->second.type))
      return refusal(operation, "a binding that is read in parts");
    Binding& binding = found->second;
    if (binding.argument.empty())
      binding.argument = "%hone_argument" + std::to_string(arguments_++);
    renamed_[results[0]] = binding.argument;
    return {};
  }

  // Copies a statement, unless it is about offsets of bindings only.
  Status keep(std::size_t first, std::size_t last, const std::vector<std::string>& results) {
    bool uses_dropped = false, has_region = false;
    for (std::size_t i = first; i < last; ++i) {
      uses_dropped = uses_dropped || dropped_.contains(std::string(text_.at(i)));
      has_region = has_region || text_.is(i, Kind::kBlock);
    }
    if (uses_dropped) {
      if (has_region || results.empty())
        return refusal(first, "a value that only the run time knows");
      dropped_.insert(results.begin(), results.end());
      return {};
    }
    MlirEdits edits;
    const std::size_t start = text_[first].begin;
    for (std::size_t i = first; i < last; ++i) {
      if (const auto found = renamed_.find(std::string(text_.at(i))); found != renamed_.end())
        edits.replace(text_[i].begin - start, text_[i].end - start, found->second);
      if (text_.at(i) != "{") continue;
      MlirFields fields(text_, i + 1, text_[i].partner);
      if (!fields.has("lowering_config")) continue;
      fields.remove("lowering_config");
      const bool is_behind = text_.at(i - 1) == "=" && text_.at(i - 2) == "attrs";
      const std::size_t begin = is_behind && fields.all().empty() ? i - 2 : i;
      edits.replace(text_[begin].begin - start, text_[text_[i].partner].end - start,
                    fields.all().empty() ? "" : "{" + fields.to_text() + "}");
    }
    body_ += "  " + edits.apply(text_.between(first, last)) + "\n";
    return {};
  }

  Result<std::string> written() const {
    std::vector<std::string> arguments, values, types;
    for (const std::string& name : order_) {
      const Binding& binding = bindings_.at(name);
      if (!binding.argument.empty()) arguments.push_back(binding.argument + ": " + binding.type);
      if (binding.result.empty()) continue;
      const auto found = renamed_.find(binding.result);
      values.push_back(found != renamed_.end() ? found->second : binding.result);
      types.push_back(binding.type);
    }
    if (values.empty()) return refusal(function_, "a function that writes no binding");
    const std::string_view symbol = text_.at(function_ + 1);
    return fmt::format("func.func {}({}) -> ({}) {{\n{}  return {} : {}\n}}\n", symbol,
                       fmt::join(arguments, ", "), fmt::join(types, ", "), body_,
                       fmt::join(values, ", "), fmt::join(types, ", "));
  }

  const MlirText& text_;
  const std::string& path_;
  std::size_t function_, open_ = 0, close_ = 0;
  std::vector<std::string> order_;
  std::map<std::string, Binding> bindings_;
  std::map<std::string, std::string> renamed_;  // values that were loaded, to arguments
  std::set<std::string> dropped_;
  std::string body_;
  int arguments_ = 0;
};

}  // namespace

Result<std::optional<std::string>> program_of_benchmark(const MlirText& text,
                                                        const std::string& path) {
  std::string program;
  // Aliases stand before the module.
  for (std::size_t i = 0;
       i < text.size() && text.at(i) != "module" && text.at(i) != "hal.executable";
       i = text.behind(i))
    if (text.is(i, Kind::kAttribute) && text.at(i + 1) == "=" && text.at(i + 2) == "affine_map")
      program += text.between(i, text.behind(i + 3)) + "\n";
  bool has_executable = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.at(i) != "hal.executable") continue;
    const std::size_t open = text.find("{", i, text.size());
    if (open >= text.size()) continue;
    has_executable = true;
    for (std::size_t at = open; at < text[open].partner; ++at)
      if (text.at(at) == "func.func" && text.is(at + 1, Kind::kSymbol)) {
        HONE_ASSIGN(const std::string function, DispatchFunction(text, path, at).run());
        program += function;
      }
    i = text[open].partner;
  }
  if (!has_executable) return std::optional<std::string>();
  return std::optional(program);
}

}  // namespace hone::iree
