// Keys that the manifests (YAML) of users' own kernels share, whichever compiler they use: the
// function, its launch and its knobs (docs/kernels.md, docs/external-kernels.md).
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "provider/yaml_place.h"
#include "space/expression_parser.h"
#include "space/space.h"

namespace hone::provider {

struct KernelManifest {
  // A word or an expression of the manifest (space/expression_parser.h) and its line, from 1.
  struct Text {
    std::string text;
    int line = 0;
  };
  struct Knob {
    std::string name;
    std::vector<space::Value> values;
    int line = 0;
  };
  struct Rule {
    std::string name, rule, reason;
    bool soft = false;
    int line = 0;
  };

  std::string manifest;  // path of the manifest
  Text function;
  std::vector<Text> grid;  // one to three
  std::vector<Knob> knobs;
  std::vector<Rule> rules;
  std::map<std::string, space::Value> defaults;  // by knob
  int defaults_line = 0;
};

// Reads the common keys of a manifest. Input errors of all functions begin with the manifest's path
// and a line.
class ManifestReader {
 public:
  // Reads into `manifest`, whose path is set, and which must outlive the reader.
  explicit ManifestReader(KernelManifest& manifest) : common_(&manifest) {}

  YamlPlace at(const YAML::Node& node) const { return {common_->manifest, node}; }
  YamlPlace at(int line) const { return {common_->manifest, line}; }

  // Calls `read` for each key of the file. Errors: text that is no YAML or no mapping, a repeated
  // key, a missing key of `needed`, and a key that is not in `keys`.
  Status read_keys(const std::string& text, const std::vector<std::string>& keys,
                   const std::vector<std::string>& needed,
                   const std::function<Status(const std::string&, const YAML::Node&)>& read) const;
  // Calls `use` for each entry of a mapping. Errors: a name that is no identifier, and a repeated
  // name.
  Status each(const YAML::Node& node, const std::string& what,
              const std::function<Status(const std::string&, const YAML::Node&)>& use) const;
  Result<KernelManifest::Text> scalar(const std::string& what, const YAML::Node& node) const;
  // Reads a whole number from 0 to 2147483647.
  Result<space::Value> number(const std::string& what, const YAML::Node& node) const;
  // Reads one to three expressions.
  Result<std::vector<KernelManifest::Text>> extents(const std::string& what,
                                                    const YAML::Node& node) const;

  // Reads `kernel`, `grid`, `knobs`, `constraints` or `default`; false for another key.
  Result<bool> read_common(const std::string& key, const YAML::Node& node);
  // Whether `text` can be read with these names; `more` is added to the error.
  Status legal(const std::string& what, const KernelManifest::Text& text, const space::Names& names,
               const char* more = "") const;
  // Checks the common keys against one another. No knob may have a name from `taken` or `names`;
  // grid and rules must parse; defaults must be values of their knobs. Adds the knobs to `names`.
  Status check_common(space::Names& names, const std::vector<std::string>& taken) const;

 private:
  Status read_knob(const std::string& name, const YAML::Node& node);
  Status read_rules(const YAML::Node& node);
  Status check_defaults() const;

  KernelManifest* common_;
};

// The space of the manifest's knobs and rules, with `names` bound to their values. A knob for which
// `is_knob` is false has its default. `what` names the subject of the error when the manifest's
// default breaks a rule.
Result<space::Space> manifest_space(const KernelManifest& manifest, space::Names names,
                                    const std::function<bool(const std::string&)>& is_knob,
                                    const std::string& what);

}  // namespace hone::provider
