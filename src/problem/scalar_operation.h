// The one table of operations on scalars, MLIR's dialects arith and math: the meaning of each, and
// the facts that verification, evaluation and estimates use. CONTRIBUTING.md, "To add an
// operation to the IR", says how to extend it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace hone::problem {

// Meaning of an operation; operations on integers and on floats share one.
enum class ScalarKind {
  kOther,  // not in the table
  // Sources of values in a statement (problem/statement.h).
  kRoot,
  kLoad,
  kTable,
  kConstant,
  kReduction,
  kSum,
  kDifference,
  kProduct,
  kQuotient,
  kPower,
  kMultiplyAdd,
  kLarger,
  kSmaller,
  kAnd,
  kOr,
  kExclusiveOr,
  kNegation,
  kMagnitude,
  kComparison,
  kSelection,           // the second operand if the first is true, else the third
  kWidening,            // of floats
  kNarrowing,           // of floats
  kSignedConversion,    // of an integer to a wider one or to a float
  kUnsignedConversion,  // the same of an integer without a sign
  kIndexConversion,
  kTruncation,  // of integers, to the low bits
  kToInteger,   // rounding to a whole number, and bits taken as an integer
  kFunction,    // any other function
};

// Shape of a function, by which an error of its argument grows (measure/rounding.cc).
enum class Curve {
  kUnknown,
  kExponential,
  kShiftedExponential,  // exp(x) - 1
  kLogarithm,
  kRoot,
  kReciprocalRoot,
  kGentle,      // its slope is at most 1
  kErf,         // at most 2 / sqrt(pi)
  kHyperbolic,  // grows like cosh
};

// Roundings of a function's result, in multiples of the unit roundoff (measure/rounding.h names the
// source).
inline constexpr double kFunctionRoundings = 4;
inline constexpr double kHardFunctionRoundings = 8;

// Function of one operand, as far as verification estimates it.
struct CurveFacts {
  Curve curve = Curve::kUnknown;
  double roundings = 0;
  bool needs_positive = false;
  bool oscillates = false;  // it gives no sign and no order
};

struct ScalarFacts {
  std::string_view name;  // "arith.addf"
  ScalarKind kind = ScalarKind::kOther;
  std::size_t operands = 0;
  // Result for the operands as real numbers, unrounded. Null: it depends on their types or is not
  // known (measure::stated_value).
  double (*value)(const double* operands) = nullptr;
  CurveFacts function = {};
  // A polynomial of the operand has the same degree and size behind it
  // (measure/input_dependence.h).
  bool keeps_polynomial = false;
  bool zero_of_zero = false;  // 0 if the first operand is 0
  // Instructions of a GPU's thread: seen in Triton's code for sm_90; of operations that are one PTX
  // instruction, those of the machine code.
  int gpu_instructions = 1;

  // Whether the result is one of two operands. A reduction by such an operation rounds nothing.
  bool selects() const {
    return kind == ScalarKind::kLarger || kind == ScalarKind::kSmaller ||
           kind == ScalarKind::kAnd || kind == ScalarKind::kOr;
  }
  bool converts_floats() const {
    return kind == ScalarKind::kWidening || kind == ScalarKind::kNarrowing;
  }
};

// Returns the table's row; for another name a row of kind kOther, without a name.
const ScalarFacts& scalar_facts(std::string_view name);

// Whether the name is one of the dialects arith and math, in the table or not.
bool is_scalar_operation(std::string_view name);

// An operation by its name in the compiler's dialect, which the table may lack.
class ScalarOperation {
 public:
  ScalarOperation() : ScalarOperation(std::string()) {}
  ScalarOperation(std::string name) : name_(std::move(name)), facts_(&scalar_facts(name_)) {}
  ScalarOperation(std::string_view name) : ScalarOperation(std::string(name)) {}
  ScalarOperation(const char* name) : ScalarOperation(std::string(name)) {}

  const std::string& name() const { return name_; }
  const ScalarFacts& facts() const { return *facts_; }
  ScalarKind kind() const { return facts_->kind; }
  bool is(ScalarKind kind) const { return facts_->kind == kind; }

  friend bool operator==(const ScalarOperation& a, const ScalarOperation& b) {
    return a.name_ == b.name_;
  }

 private:
  std::string name_;
  const ScalarFacts* facts_;
};

// In JSON an operation is its name.
void to_json(nlohmann::json& json, const ScalarOperation& operation);
void from_json(const nlohmann::json& json, ScalarOperation& operation);

}  // namespace hone::problem
