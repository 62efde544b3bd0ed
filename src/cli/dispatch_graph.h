// hone dispatches --graph dot: a program's launches and the tensors between them, for Graphviz.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/program/program_graph.h"
#include "trial/compile_service.h"

namespace hone::cli {

// Further lines in the box of a dispatch, by its name: its root operation, its share of the time.
using BoxLines = std::map<std::string, std::vector<std::string>>;

// Returns the graph in the DOT language: launches are boxes, arguments and results ellipses, calls
// of other functions have double sides. Several functions are a cluster each.
std::string dot_text(const iree::ProgramGraph& graph, const std::string& title,
                     const BoxLines& lines);

// Asks the compiler for the graph of a program and prints its dot_text(). Errors:
// iree::program_graph().
Status print_graph(trial::CompileService& compiler, const std::string& path,
                   const std::string& bytes, const std::vector<std::string>& flags,
                   const BoxLines& lines);

}  // namespace hone::cli
