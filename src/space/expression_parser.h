// Parses expressions in Python's syntax, so that one text serves here and in Python.
//
//   cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)        BLOCK_M * BLOCK_N <= 128 * 256 or num_warps == 8
//   16 <= BLOCK_K <= 64 and K % BLOCK_K == 0   1 if K % BLOCK_K == 0 else 0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "space/expression.h"

namespace hone::space {

// Meaning of names: variables of a space, or constants. A method with one argument is a name too,
// written without blanks: "A.stride(0)".
using Names = std::map<std::string, Expression, std::less<>>;

// Decimal integers, names, + - * // %, == != < <= > >= (also chained), and, or, not, True, False,
// `x if c else y`, min and max of two or more, cdiv(a, b) (a / b rounded up), ceil_log2(a) (of 1 to
// 2147483648), division_magic(d), parentheses. Division is Euclidean (expression.h), which is
// Python's where the divisor is positive.
//
// division_magic(d) is the m with which kernels divide without dividing: for 0 <= x < 2**31,
// x // d is ((x * m >> 32) + x) >> ceil_log2(d). m = 2**32 * (2**ceil_log2(d) - d) // d + 1
// (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, section
// 4). Input errors begin with the column, from 1: "column 9: unknown name 'BLOK_M' (did you mean
// 'BLOCK_M'?)".
Result<Expression> parse_expression(std::string_view text, const Names& names);

}  // namespace hone::space
