// The call graph of a program's functions, and the total effect of one call from outside.
#pragma once

#include <map>
#include <string>

#include "provider/iree/compiler/ir.h"

namespace hone::iree {

struct Count {
  int times = 0;        // each place in the program once
  bool varies = false;  // a branch or a loop decides it

  Count& operator+=(const Count& other);
  bool operator==(const Count&) const = default;
};

// Counts by a function's symbol.
using CountByFunction = std::map<std::string, Count>;

// Use from one thread.
class CallGraph {
 public:
  // Reads util.call and util.global.store of a program at executable-sources.
  CallGraph(const Ir& ir, const OwnedModule& program);

  // Total count of one call of each public function, from the counts inside each function.
  // Functions with count 0 are omitted.
  CountByFunction per_call(const CountByFunction& in_functions) const;
  // Whether a call of the function changes state for the next one: it, or a function that it calls,
  // stores to a global.
  bool keeps_state(const std::string& function) const;

 private:
  struct Node {
    bool is_public = false, stores = false;
    CountByFunction calls;
  };
  // Adds how often a call of `function` calls each one, itself included.
  void add_calls(const std::string& function, const Count& count, int depth,
                 CountByFunction& counts) const;

  std::map<std::string, Node> nodes_;
};

}  // namespace hone::iree
