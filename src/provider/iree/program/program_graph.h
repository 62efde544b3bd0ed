// The launches of a program's dispatches and the tensors that flow between them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

struct ProgramGraph {
  enum class Kind { kArgument, kDispatch, kCall, kResult };
  struct Node {
    Kind kind = Kind::kDispatch;
    // The export's symbol, the called function, or "input 0" and "output 0" of `function`.
    std::string name;
    std::string function;  // that it is in
    bool in_branch_or_loop = false;
  };
  // A tensor that `to` reads and `from` makes; positions in `nodes`. `type` as `from` makes it:
  // "128x768xf32".
  struct Edge {
    std::size_t from = 0, to = 0;
    std::string type;

    bool operator==(const Edge&) const = default;
  };
  std::vector<Node> nodes;  // in the program's order; a launch is a node
  std::vector<Edge> edges;  // by reader, in the order of its operands; equal ones once
};

// Reads the graph of a program at the end of phase `flow`, where operands are still tensors.
// Functions without launches and calls are skipped, and arguments that nothing reads. Tensors are
// followed through reshapes, slices, updates, branches and loops, but not through globals.
// Constants and initializers have no node, nor have the encodings of data tiling, which the
// compiler adds after this phase. A function that another one calls is drawn once. Input errors:
// the compiler's words if it does not accept program or flags; a file that is past this phase.
Result<ProgramGraph> program_graph(const CompilerLibrary& library, const std::string& path,
                                   std::string_view bytes, const std::vector<std::string>& flags);

void to_json(nlohmann::json& json, const ProgramGraph& graph);
void from_json(const nlohmann::json& json, ProgramGraph& graph);

}  // namespace hone::iree
