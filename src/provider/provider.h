// The Provider seam: who makes artifacts and states their space. A Provider lives in the tuner's
// process and never calls a compiler itself: compiling is done by worker processes
// (tune/compile_service.h).
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "provider/artifact.h"
#include "space/space.h"

namespace hone::provider {

// A configuration as the compiler reads it.
struct Attributes {
  std::string lowering_config;   // "#iree_cpu.lowering_config<distribution = [64, 64, 0], ...>"
  std::string translation_info;  // "#iree_codegen.translation_info<pipeline = ...>"
  // Lowering configurations of the operation that initialises the root's output and of those that
  // read its result, where the root's configuration needs theirs to fit; else empty.
  std::string init_config = {};
  std::string consumer_config = {};
  // Likewise of the other operations of the dispatch that have as many loops as the root: of those
  // that reduce, and of those that read what was reduced.
  std::string sibling_reduction_config = {};
  std::string sibling_config = {};
  // Of a root that is made of two products (attention): the configurations of its parts.
  std::string decomposition_config = {};
  // Of each of the dispatch's neighbours, in order; "" for one that gets none. Empty: of none.
  std::vector<std::string> neighbour_configs = {};
  // Where the compiler states its own constraints: which of its statements, and a value for each of
  // its knobs. The compiler makes the texts above of them; they are empty.
  int statement = -1;
  std::map<std::string, std::int64_t> knobs = {};
  // Knobs of hone's own, of what the compiler leaves out of its statement: they change what it made
  // of the others.
  std::map<std::string, std::int64_t> options = {};

  bool operator==(const Attributes&) const = default;
};

void to_json(nlohmann::json& json, const Attributes& attributes);
void from_json(const nlohmann::json& json, Attributes& attributes);

class Provider {
 public:
  virtual ~Provider() = default;

  virtual std::string_view name() const = 0;
  // Names the rules that candidates are drawn by, for the store: "gpu", "tune_gemm".
  virtual std::string_view constraint_set() const = 0;

  // Whether the compiler itself states the space of a dispatch (Dispatch::stated_constraints); it
  // is asked before space_of() is.
  virtual bool compiler_states_spaces() const { return false; }
  // Why there is no space for a dispatch, given what the compiler states; empty where there is.
  virtual std::string why_no_space(const problem::Dispatch& dispatch) const {
    return dispatch.not_tunable;
  }
  // The legal configurations of a dispatch. An input error that says why there are none to state.
  virtual Result<space::Space> space_of(const problem::Dispatch& dispatch) const = 0;

  // What the compiler is told for `configuration`, which is one of space_of(dispatch).
  virtual Result<Attributes> attributes(const problem::Dispatch& dispatch,
                                        const space::Space& space,
                                        const space::Configuration& configuration) const = 0;
  // What a model expects of a configuration, lower is better, for searches that try the best of it
  // first; empty where there is no model. The function may outlive dispatch and space.
  virtual std::function<double(const space::Configuration&)> prior(const problem::Dispatch&,
                                                                   const space::Space&) const {
    return {};
  }
  // The same candidate as it is to ship, where it is searched for in another form (values that are
  // arguments then are constants of what ships); nothing where there is one form.
  virtual std::optional<Attributes> as_shipped(const Attributes&) const { return std::nullopt; }
};

}  // namespace hone::provider
