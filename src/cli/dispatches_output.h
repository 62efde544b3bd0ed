// Output of hone dispatches beside its list: the time of a program by dispatch (--profile), and its
// launches with the tensors between them, for Graphviz (--graph dot).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "provider/iree/program/program_graph.h"
#include "session/session_options.h"
#include "trial/compile_service.h"

namespace hone::cli {

// Times the whole program, and each distinct dispatch in it if the runtime tells that. Prints the
// table, the longest times first, and their sum against the whole. Without `quick` each dispatch is
// also verified and measured alone. With `graph`, prints the program's graph instead of the table,
// each dispatch with its share of the time.
CommandResult profile_dispatches(SessionOptions options, bool quick, bool graph);

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
