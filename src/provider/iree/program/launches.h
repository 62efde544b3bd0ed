// Launches of a program's kernels: how often, with which values, and those of external kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/compiler/sizes.h"

namespace hone::iree {

struct CallCount {
  int times = 0;        // each place in the program once
  bool varies = false;  // a branch or a loop decides it

  CallCount& operator+=(const CallCount& other);
  bool operator==(const CallCount&) const = default;
};

// Counts by a function's symbol.
using CountByFunction = std::map<std::string, CallCount>;

// The call graph of a program's functions, and the total effect of one call from outside. Use from
// one thread.
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
  void add_calls(const std::string& function, const CallCount& count, int depth,
                 CountByFunction& counts) const;

  std::map<std::string, Node> nodes_;
};

// The values that a program passes to a kernel launch beside its buffers.
struct LaunchValues {
  std::vector<std::int64_t> workload;     // the numbers of workgroups follow from it (sizes.h)
  std::vector<std::uint32_t> constants;   // 32-bit words that the kernel reads
  std::vector<std::size_t> unknown = {};  // of constants, those known only at run time: 0 there

  bool operator==(const LaunchValues&) const = default;
};

// The launches of one export in a program at executable-sources.
struct Launches {
  struct Different {
    LaunchValues values;
    CountByFunction in_functions;  // those in initializers run once and do not count
  };
  std::vector<Different> different;  // in the program's order
  bool known = true;                 // that of each workload is
  // The function argument that each binding is, from its first byte on, in every launch of a
  // function; -1 if there is none or launches differ. Empty if no launch is known.
  std::vector<int> arguments;
};

// "executable::export" of a reference to an export.
std::string entry_point(const Ir& ir, MlirAttribute symbol);

// Finds the launches of each export, by entry_point(). Reads stream.cmd.dispatch (programs) and
// hal.command_buffer.dispatch (benchmark files). `sizes`: known integers of the program.
std::map<std::string, Launches> find_launches(const Ir& ir, const OwnedModule& program,
                                              const Sizes& sizes);

// Launch of an external kernel (hal.dispatch.extern) in a compiled program, read back from the
// compiler's IR.
struct ExternLaunch {
  std::string function;
  std::vector<std::int64_t> grid, block;  // three extents each
  std::vector<std::uint32_t> constants;   // 32-bit words, behind the bindings
  std::vector<std::int64_t> binding_bytes;
  std::vector<std::int64_t> written_bindings;  // their positions

  bool operator==(const ExternLaunch&) const = default;
  static void fields(auto& launch, auto&& field) {
    field("function", launch.function);
    field("grid", launch.grid);
    field("block", launch.block);
    field("constants", launch.constants);
    field("binding_bytes", launch.binding_bytes);
    field("written_bindings", launch.written_bindings);
  }
};

// Reads the launches of a program compiled up to executable-sources, in its order. An extent or
// byte count that is known only at run time is -1. Such a value among the constants makes the
// launch's constants empty. Input error with the compiler's words if it does not accept program or
// flags.
Result<std::vector<ExternLaunch>> extern_launches(const CompilerLibrary& library,
                                                  const std::string& path, std::string_view bytes,
                                                  const std::vector<std::string>& flags);

}  // namespace hone::iree
