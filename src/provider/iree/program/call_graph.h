// Which of a program's functions call which, and what a call of one from outside comes to.
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

// By a function's symbol.
using CountByFunction = std::map<std::string, Count>;

// For one thread.
class CallGraph {
 public:
  // Reads util.call and util.global.store of a program at executable-sources.
  CallGraph(const Ir& ir, const OwnedModule& program);

  // How often one call of each public function does what its functions do so often: 0 is left out.
  CountByFunction per_call(const CountByFunction& in_functions) const;
  // Whether a call of the function leaves something behind for the next one: a global that it, or
  // what it calls, stores to.
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
