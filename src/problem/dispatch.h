// A dispatch: a piece of a program compiled as one kernel. And the program it is a piece of.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "problem/argument_form.h"
#include "problem/computation.h"
#include "problem/launch.h"
#include "problem/operation.h"
#include "problem/statement.h"

namespace hone::problem {

enum class Access { kReadOnly, kWriteOnly, kReadWrite };

// Use of a binding's data; verification chooses the data by it.
enum class BindingUse {
  kRootInput,   // read by the root operation: small integers, so that sums are exact
  kFusedInput,  // read only by what is fused around it: scaled reals
  kIndexInput,  // integers used as indices
  kOutput,      // written
};

// Room for a guard on either side of a binding, where possible. A changed guard reveals a kernel
// that writes out of bounds. It is a page: with a guard before it a binding still begins on a page,
// as an allocator's buffers do (measure/buffers.h).
inline constexpr std::int64_t kGuardBytes = 4096;

// A kernel's view of its buffers. A program may pack all its weights into one buffer, of which a
// kernel reads two small pieces. hone allocates, guards and fills only these pieces.
struct Binding {
  Access access = Access::kReadOnly;
  BindingUse use = BindingUse::kRootInput;
  TensorType type;         // as the kernel sees it
  std::int64_t bytes = 0;  // of the view
  // The kernel's own binding (the compiler's ordinal) that holds the view, and the view's first
  // byte in it. -1: the view is the whole binding at this place in the list.
  int ordinal = -1;
  std::int64_t offset = 0;

  bool operator==(const Binding&) const = default;
};

// An operation of a dispatch other than its root: a fill before a sum, an operation that reads the
// sums.
struct SurroundingOperation {
  std::string name;  // the compiler's: "linalg.fill"
  // Edge to the operation, from the root (-1) or from surrounding[from]. The operation makes that
  // one's operand number `operand`, or reads its result (-1).
  int from = -1;
  int operand = -1;
  bool feeds_root = false;  // reached by operands only
  std::vector<Loop> loops;
  // The root's loop that walks the same dimension of the data as each of `loops`; -1: none.
  std::vector<int> root_loops;

  bool operator==(const SurroundingOperation&) const = default;
};

struct Dispatch {
  std::string name;        // the export's symbol: "main_dispatch_0_matmul_512x512x512_f32"
  std::string executable;  // the executable's symbol: "main_dispatch_0"
  std::string source;      // stand-alone MLIR module at the phase executable-sources
  Operation root;
  int root_operations = 0;  // 0: none found
  // By operand of `root`: the ordinal of the binding that holds it, element for element in
  // row-major order; -1 where something is computed or cut on the way. Empty: not known.
  std::vector<int> root_bindings;
  // The root multiplies and adds signed values, as hone's own product does (measure/reference.h),
  // to a fill or to what its output holds. An unsigned or a logical contraction does not.
  bool plain_products = true;
  // The operations fused behind the root are elementwise, into the output's binding in the root's
  // layout. They are at most a "bias" (the one fused input, over the n loop, added in the root's
  // output type) and a narrowing conversion. hone can then compute them too.
  bool plain_epilogue = false;
  double fill_value = 0;  // that a fill gives the root's output before the root adds to it
  std::vector<std::string>
      fused;  // operations around the root: "fill", "elementwise(math.erf, ...)"
  // Computation value by value, as in the compiler's IR; without values if nobody has read it
  // (computation_of).
  Computation computation = {};
  // Binary digits to which the dispatch's author allows its operands to be narrowed (TF32: 11); 0:
  // no fewer than their type has.
  int operand_digits = 0;
  // Surrounding operations that a configuration of the root affects, in the form in which the
  // compiler reads configurations (softmax is already decomposed). Each `from` is a smaller number.
  std::vector<SurroundingOperation> surrounding;
  std::vector<Binding> bindings;  // in ordinal order
  // By the kernel's own binding: number of the function's argument that it is, in whole and at
  // every launch; -1 if it is none. Empty: not known.
  std::vector<int> arguments = {};
  // 32-bit words the kernel is launched with, if they are static: values that the program passes,
  // and hone's own choice of those that only say where a view begins.
  std::vector<std::uint32_t> constants;
  // Launches per call of the called function, or of all functions together if none is chosen.
  // `launched_by`: launches per call of each function that can be called from outside.
  int launches_per_call = 0;
  std::map<std::string, int> launched_by = {};
  // A branch or a loop decides the number of launches. Until a call has been watched
  // (tune/program/program_calls.h), each place that launches it counts once.
  bool launches_vary = false;
  std::string default_configuration;  // what the compiler chooses: "#iree_cpu.lowering_config<...>"
  std::string default_translation;    // "#iree_codegen.translation_info<...>"
  // Constraints on a GPU's legal configurations that the compiler states, as JSON that the provider
  // reads. Empty if it states none or dies of being asked.
  std::string stated_constraints;
  // The dispatch as one contraction or attention with its epilogue, or as values of elements and
  // reductions, for providers that can write a replacement kernel. Nothing: nobody has stated it.
  std::optional<Statement> statement = {};
  std::string not_tunable;  // why hone cannot tune it; empty when it can

  bool operator==(const Dispatch&) const = default;
};

// Names the dispatch by its source: a content hash.
std::string fingerprint(const Dispatch& dispatch);

// Returns `launch` over one buffer per binding: sets the addresses among the constants, and finds
// the kernel's own bindings in the buffers. A launch that lists its arguments is unchanged.
Launch over_bindings(Launch launch, const Dispatch& dispatch);

// Range of a function's integer input that a program uses as more than a value: as an index, a
// shape, a trip count.
struct InputRange {
  int input = 0;                     // its number
  std::int64_t least = 0, most = 0;  // values from which every access is within its tensor
  // Reason why hone cannot make values up, in words: "a shape". Empty: it can.
  std::string unknown = {};

  bool operator==(const InputRange&) const = default;
};

struct Function {
  std::string name;
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  std::vector<InputRange> ranges = {};  // of inputs of which any value will not do
  // Names of the extents that `inputs` leave open, each size once, by its best name: "batch",
  // "input0.1".
  std::vector<std::string> missing_sizes = {};
  // Form in which each of `inputs` and `outputs`, which are carriers, is passed; empty: all
  // plainly.
  std::vector<ArgumentForm> input_forms = {}, output_forms = {};
  // A type that hone cannot pass, of an argument or a result that is in neither list:
  // "tensor<4xi7>".
  std::string unknown_type = {};
  bool keeps_state = false;  // a call leaves something behind for the next one
  // Numbers of the arguments that a call overwrites. They also come last in `outputs`, after the
  // function's own results. `module`: the module in which a wrapper that returns them finds the
  // function.
  std::vector<int> overwritten = {};
  std::string module = {};  // the program's name

  bool operator==(const Function&) const = default;
};

// Neighbouring operations of a program that a spec makes one dispatch each.
struct Regions {
  std::vector<std::string> names = {};  // "attention 32x512x64x512x64"
  std::string spec = {};                // its text; empty: there are none

  bool operator==(const Regions&) const = default;
};

struct Program {
  std::string path;
  std::string hash;                 // content hash of the file
  std::vector<Function> functions;  // that can be called from outside
  std::vector<Dispatch> dispatches = {};
  std::string called = {};        // the function that dispatches are tuned for; empty: all
  int configured_operations = 0;  // that the program itself configures
  Regions regions = {};           // on a GPU; none of them once flags apply the spec
};

void to_json(nlohmann::json& json, const TensorType& type);
void from_json(const nlohmann::json& json, TensorType& type);
void to_json(nlohmann::json& json, const Binding& binding);
void from_json(const nlohmann::json& json, Binding& binding);
void to_json(nlohmann::json& json, const SurroundingOperation& operation);
void from_json(const nlohmann::json& json, SurroundingOperation& operation);
void to_json(nlohmann::json& json, const Function& function);
void from_json(const nlohmann::json& json, Function& function);
void to_json(nlohmann::json& json, const Dispatch& dispatch);
void from_json(const nlohmann::json& json, Dispatch& dispatch);
void to_json(nlohmann::json& json, const Program& program);
void from_json(const nlohmann::json& json, Program& program);

}  // namespace hone::problem
