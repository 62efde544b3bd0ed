// Place in a YAML file that a message is about.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <string_view>

#include "base/result.h"

namespace hone::provider {

class YamlPlace {
 public:
  YamlPlace(std::string_view path, const YAML::Node& node)
      : path_(path), line_(node.Mark().line + 1) {}
  YamlPlace(std::string_view path, int line) : path_(path), line_(line) {}

  // Makes an input error "gemms.yaml:12: ...".
  template <class... Arguments>
  tl::unexpected<Error> error(fmt::format_string<Arguments...> format,
                              Arguments&&... arguments) const {
    return input_error("{}:{}: {}", path_, line_,
                       fmt::format(format, std::forward<Arguments>(arguments)...));
  }

 private:
  std::string_view path_;
  int line_;
};

}  // namespace hone::provider
