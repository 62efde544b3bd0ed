#include "profiler/expected.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "measure/half.h"
#include "measure/reference.h"

namespace hone::profiler {
namespace {

using problem::Array;
using problem::ElementType;

// Version of cached results: raise it with every change of inputs or outputs.
constexpr int kVersion = 1;
// Number of operations from which on an output is cached: about a second on one core.
constexpr std::int64_t kWorthKeeping = std::int64_t{1} << 33;
// Bytes of im2col rows that are laid out at a time.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 26;
// Room that the exact sums leave for the bias.
constexpr double kRoomForBias = 16;

int largest_of(ElementType type) {
  if (type == kI8) return 2;
  return type == kF32 ? 7 : 3;
}

// Distribution of an operand's values: +-(1 .. magnitude), or 0 with probability 1 - density.
struct Draw {
  int magnitude = 1;
  double density = 1;
};

// Returns the type of the sums: bf16 results add up in f32 and are rounded once.
ElementType type_of_sums(const NamedOperation& operation) {
  return operation.result == kBF16 ? kF32 : operation.result;
}

// Returns the draws of lhs and rhs.
std::array<Draw, 2> draws_of(const NamedOperation& operation) {
  const auto terms = static_cast<double>(operation.product().k);
  const double most =
      std::ldexp(1.0, measure::significand_digits(type_of_sums(operation))) - kRoomForBias;
  const int largest = std::max(largest_of(operation.lhs), largest_of(operation.rhs));
  for (const auto& [lhs, rhs] : {std::pair(largest, largest), std::pair(1, largest)})
    if (terms * lhs * rhs <= most)
      return {Draw{std::min(lhs, largest_of(operation.lhs)), 1},
              Draw{std::min(rhs, largest_of(operation.rhs)), 1}};
  // Use half of the density that would just do: the number of nonzero values varies from row to
  // row.
  return {Draw{1, std::min(1.0, 0.5 * most / terms)}, Draw{1, 1}};
}

Array draw(const problem::TensorType& type, const Draw& draw, std::mt19937_64& generator) {
  Array array = problem::zeros_of(type);
  const auto kept = static_cast<std::uint64_t>(draw.density * 0x1p32);
  measure::change_elements(array, [&](std::size_t, double) {
    const std::uint64_t bits = generator();
    const auto value =
        static_cast<std::int64_t>((bits >> 33) % static_cast<unsigned>(draw.magnitude));
    const bool is_zero = (bits & 0xffffffffU) >= kept;
    const double signed_value =
        static_cast<double>(((bits >> 32) & 1) != 0 ? value + 1 : -value - 1);
    return is_zero ? 0 : signed_value;
  });
  return array;
}

// Returns the batched product. Its sums are f32, or i32, and exact.
problem::Operation product_of(const NamedOperation& operation, std::int64_t rows) {
  const NamedOperation::Product p = operation.product();
  const bool is_convolution_of = is_convolution(operation.kind);
  const bool lhs_rows = is_convolution_of || operation.lhs_layout == kRowMajor;
  const bool rhs_rows = is_convolution_of || operation.rhs_layout == kRowMajor;
  problem::Operation product;
  product.kind = problem::OperationKind::kBatchMatmul;
  product.loops = {{false, p.batch, problem::LoopRole::kBatch},
                   {false, rows, problem::LoopRole::kM},
                   {false, p.n, problem::LoopRole::kN},
                   {true, p.k, problem::LoopRole::kK}};
  const auto operand = [&](ElementType type, std::vector<int> loops, bool output) {
    std::vector<std::int64_t> shape;
    for (const int loop : loops)
      shape.push_back(product.loops[static_cast<std::size_t>(loop)].size);
    product.operands.push_back({{type, shape}, std::move(loops), output});
  };
  const ElementType sums = operation.result == kI32 ? kI32 : kF32;
  operand(operation.lhs, lhs_rows ? std::vector{0, 1, 3} : std::vector{0, 3, 1}, false);
  operand(operation.rhs, rhs_rows ? std::vector{0, 3, 2} : std::vector{0, 2, 3}, false);
  operand(sums, {0, 1, 2}, true);
  return product;
}

// Computes a convolution as a product (im2col), a piece of its pixels at a time.
class Convolution {
 public:
  Convolution(const NamedOperation& operation, const Array& image, const Array& filter)
      : operation_(operation),
        c_(operation.conv),
        product_(operation.product()),
        each_(c_.channels / c_.groups),
        image_(image),
        filter_(filter) {}

  // Returns the sums, 4 bytes each, in the output's layout.
  Result<std::string> sums(int threads) {
    const std::string rhs = rhs_rows();
    std::string sums(static_cast<std::size_t>(problem::element_count(operation_.output())) * 4, 0);
    const std::int64_t row = product_.batch * product_.k * problem::byte_size(operation_.lhs);
    const std::int64_t piece = std::clamp<std::int64_t>(kPieceBytes / row, 1, product_.m);
    for (std::int64_t first = 0; first < product_.m; first += piece) {
      const std::int64_t count = std::min(piece, product_.m - first);
      const std::string lhs = lhs_rows(first, count);
      HONE_ASSIGN(
          const measure::ExactContraction exact,
          measure::exact_contraction(product_of(operation_, count), std::as_bytes(std::span(lhs)),
                                     std::as_bytes(std::span(rhs)), threads));
      put(exact.output, first, count, sums);
    }
    return sums;
  }

 private:
  struct Pixel {
    std::int64_t n, y, x;
  };
  Pixel pixel(std::int64_t index) const {
    const std::int64_t width = c_.output_width(), height = c_.output_height();
    return {index / (width * height), index / width % height, index % width};
  }

  // Returns the index of a pixel's channel in a tensor of images of that size.
  std::size_t index_of(const Pixel& at, std::int64_t channel, std::int64_t height,
                       std::int64_t width, std::int64_t channels) const {
    return static_cast<std::size_t>(
        c_.layout == kNhwc ? ((at.n * height + at.y) * width + at.x) * channels + channel
                           : ((at.n * channels + channel) * height + at.y) * width + at.x);
  }

  // Returns groups x pixels x (filter height, width, channels of a group).
  std::string lhs_rows(std::int64_t first, std::int64_t count) const {
    const std::size_t size = problem::element_bytes(operation_.lhs);
    std::string rows(static_cast<std::size_t>(product_.batch * count * product_.k) * size, 0);
    char* to = rows.data();
    for (std::int64_t group = 0; group < c_.groups; ++group)
      for (std::int64_t p = first; p < first + count; ++p) {
        const Pixel out = pixel(p);
        for (std::int64_t fy = 0; fy < c_.filter_height; ++fy)
          for (std::int64_t fx = 0; fx < c_.filter_width; ++fx) {
            const std::int64_t y =
                out.y * c_.stride_height + fy * c_.dilation_height - c_.padding_height;
            const std::int64_t x =
                out.x * c_.stride_width + fx * c_.dilation_width - c_.padding_width;
            const bool inside = y >= 0 && y < c_.height && x >= 0 && x < c_.width;
            for (std::int64_t c = 0; c < each_; ++c, to += size)
              if (inside)
                std::memcpy(to,
                            image_.bytes.data() + index_of({out.n, y, x}, group * each_ + c,
                                                           c_.height, c_.width, c_.channels) *
                                                      size,
                            size);
          }
      }
    return rows;
  }

  // Returns groups x (filter height, width, channels of a group) x filters of a group.
  std::string rhs_rows() const {
    const std::size_t size = problem::element_bytes(operation_.rhs);
    const bool hwcf = c_.layout == kNhwc;
    std::string rows(filter_.bytes.size(), 0);
    char* to = rows.data();
    for (std::int64_t group = 0; group < c_.groups; ++group)
      for (std::int64_t fy = 0; fy < c_.filter_height; ++fy)
        for (std::int64_t fx = 0; fx < c_.filter_width; ++fx)
          for (std::int64_t c = 0; c < each_; ++c)
            for (std::int64_t f = group * product_.n; f < (group + 1) * product_.n; ++f) {
              const std::int64_t from =
                  hwcf ? ((fy * c_.filter_width + fx) * each_ + c) * c_.filters + f
                       : ((f * each_ + c) * c_.filter_height + fy) * c_.filter_width + fx;
              std::memcpy(to, filter_.bytes.data() + static_cast<std::size_t>(from) * size, size);
              to += size;
            }
    return rows;
  }

  void put(std::span<const std::byte> piece, std::int64_t first, std::int64_t count,
           std::string& sums) const {
    const std::int64_t height = c_.output_height(), width = c_.output_width();
    const std::byte* from = piece.data();
    for (std::int64_t group = 0; group < c_.groups; ++group)
      for (std::int64_t p = first; p < first + count; ++p) {
        const Pixel out = pixel(p);
        for (std::int64_t f = group * product_.n; f < (group + 1) * product_.n; ++f, from += 4)
          std::memcpy(sums.data() + index_of(out, f, height, width, c_.filters) * 4, from, 4);
      }
  }

  const NamedOperation& operation_;
  const ConvDims& c_;
  NamedOperation::Product product_;
  std::int64_t each_;  // channels of a group
  const Array& image_;
  const Array& filter_;
};

// Applies bias, activation and residual to the sums, and rounds once to the result's type.
// Operations that are exact here stay exact if every step is rounded.
Array finish(const NamedOperation& operation, const std::string& sums,
             const std::vector<Array>& inputs) {
  Array output = problem::zeros_of(operation.output());
  const std::size_t size = problem::element_bytes(operation.result);
  const ElementType sum_type = operation.result == kI32 ? kI32 : kF32;
  const auto* from = reinterpret_cast<const std::byte*>(sums.data());
  // The bias lies along the last dimension, for nchw along the second.
  const bool nchw = is_convolution(operation.kind) && operation.conv.layout == kNchw;
  const auto inner = static_cast<std::size_t>(
      nchw ? operation.conv.output_height() * operation.conv.output_width() : 1);
  const auto value_of = [&](std::size_t input, std::size_t i) {
    return measure::load_element(inputs[input].data().data() + i * size, operation.result);
  };
  measure::change_elements(output, [&](std::size_t i, double) {
    double value = measure::load_element(from + i * 4, sum_type);
    if (has_bias(operation.kind)) {
      const auto extent = static_cast<std::size_t>(inputs[2].type.shape[0]);
      value += value_of(2, i / inner % extent);
    }
    switch (operation.kind) {
      case kMatmulBiasAdd:
        value += value_of(3, i);
        break;
      case kMatmulBiasGelu:
        value *= 0.5 * std::erfc(-value * M_SQRT1_2);
        break;
      case kMatmulBiasRelu:
      case kConv2dBiasRelu:
        value = std::max(value, 0.0);
        break;
      default:
        break;
    }
    return value;
  });
  return output;
}

// Returns the value rounded to the type.
double rounded(double value, ElementType type) {
  std::byte bytes[8];
  measure::store_element(bytes, type, value);
  return measure::load_element(bytes, type);
}

// Computes attention by its definition in double: softmax(Q K^T / sqrt(k)) V of the inputs query,
// key and value, rounded once to the result's type. The scale is rounded to that type first, in
// which the file states it. `threads` share the heads' queries: 12 heads of 512x512x64 take about
// half a second on one.
Array attention_of(const NamedOperation& operation, const std::vector<Array>& inputs, int threads) {
  const auto queries = static_cast<std::size_t>(operation.m);
  const auto keys = static_cast<std::size_t>(operation.n);
  const auto elements = static_cast<std::size_t>(operation.k);
  const std::vector<float> query = measure::values_of<float>(inputs[0]),
                           key = measure::values_of<float>(inputs[1]),
                           value = measure::values_of<float>(inputs[2]);
  const double scale = rounded(1.0 / std::sqrt(static_cast<double>(elements)), operation.result);
  Array output = problem::zeros_of(operation.output());
  const std::size_t size = problem::element_bytes(operation.result);
  const std::size_t rows = static_cast<std::size_t>(operation.batch) * queries;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::vector<double> weights(keys), sums(elements);
    for (std::size_t row = next++; row < rows; row = next++) {
      const std::size_t head = row / queries * keys * elements;
      // The scores are sums of integers, exact in float.
      double largest = -HUGE_VAL;
      for (std::size_t n = 0; n < keys; ++n) {
        const float* const q = query.data() + row * elements;
        const float* const k = key.data() + head + n * elements;
        float score = 0;
        for (std::size_t e = 0; e < elements; ++e) score += q[e] * k[e];
        weights[n] = score * scale;
        largest = std::max(largest, weights[n]);
      }
      double total = 0;
      std::ranges::fill(sums, 0);
      for (std::size_t n = 0; n < keys; ++n) {
        const double weight = std::exp(weights[n] - largest);
        const float* const v = value.data() + head + n * elements;
        total += weight;
        for (std::size_t e = 0; e < elements; ++e) sums[e] += weight * v[e];
      }
      std::byte* const to = output.data().data() + row * elements * size;
      for (std::size_t e = 0; e < elements; ++e)
        measure::store_element(to + e * size, operation.result, sums[e] / total);
    }
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < std::max(1, threads); ++i) pool.emplace_back(work);
  work();
  for (std::thread& worker : pool) worker.join();
  return output;
}

measure::Tolerance tolerance_of(const NamedOperation& operation) {
  const double roundoff = measure::unit_roundoff(operation.result);
  if (operation.kind == kMatmulBiasGelu)
    // Compilers compute erf in f32 by a polynomial that is off by about 1e-6.
    return {1e-5, std::max(4 * roundoff, 1e-5), "erf in f32 and two roundings of the result"};
  if (operation.kind == kAttention)
    // Kernels round the weights to the type before they multiply values of at most 3.
    return {16 * roundoff * 3 + 1e-5, 0,
            "weights and values of attention in the result's type, 16 roundings of values up to 3"};
  return {};
}

Result<Array> output_of(const NamedOperation& operation, const std::vector<Array>& inputs,
                        int threads) {
  if (operation.kind == kAttention) return attention_of(operation, inputs, threads);
  if (is_convolution(operation.kind)) {
    HONE_ASSIGN(const std::string sums, Convolution(operation, inputs[0], inputs[1]).sums(threads));
    return finish(operation, sums, inputs);
  }
  HONE_ASSIGN(const measure::ExactContraction exact,
              measure::exact_contraction(product_of(operation, operation.m), inputs[0].data(),
                                         inputs[1].data(), threads));
  const std::string sums(reinterpret_cast<const char*>(exact.output.data()), exact.output.size());
  return finish(operation, sums, inputs);
}

}  // namespace

std::vector<Array> inputs_of(const NamedOperation& operation, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const std::vector<problem::TensorType> types = operation.inputs();
  const std::array<Draw, 2> operands = draws_of(operation);
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < types.size(); ++i) {
    Draw how = i < 2 ? operands[i] : Draw{largest_of(types[i].element), 1};
    // Make scores differ by several units: each query then takes its values from a few keys, which
    // lie anywhere. A kernel that skips one of them gets a visibly wrong result.
    if (operation.kind == kAttention) how = {i < 2 ? 2 : 3, 1};
    inputs.push_back(draw(types[i], how, generator));
  }
  return inputs;
}

Result<ExpectedValues> expected_of(const NamedOperation& operation, std::uint64_t seed,
                                   int threads) {
  ExpectedValues expected{inputs_of(operation, seed), {}, tolerance_of(operation)};
  HONE_ASSIGN(expected.output, output_of(operation, expected.inputs, threads));
  return expected;
}

Result<ExpectedValues> cached_expected(const NamedOperation& operation, std::uint64_t seed,
                                       int threads, const std::filesystem::path& folder) {
  if (operation.flops() < kWorthKeeping) return expected_of(operation, seed, threads);
  const std::string made_for = fmt::format("{} {} {}", kVersion, seed, operation.name());
  const std::filesystem::path file = folder / "result.npy", seal = folder / "result.hash";
  const auto seal_of = [&](std::string_view bytes) {
    return made_for + "\n" + content_hash(bytes) + "\n";
  };
  const Result<std::string> known = read_file(file), known_seal = read_file(seal);
  if (known && known_seal && *known_seal == seal_of(*known)) {
    Result<Array> output = problem::from_npy(*known);
    if (output) output = problem::as_tensor(std::move(*output), operation.output());
    if (output)
      return ExpectedValues{inputs_of(operation, seed), std::move(*output),
                            tolerance_of(operation)};
  }
  HONE_ASSIGN(ExpectedValues expected, expected_of(operation, seed, threads));
  const std::string bytes = problem::to_npy(expected.output);
  HONE_TRY(write_file_atomically(file, bytes));
  HONE_TRY(write_file_atomically(seal, seal_of(bytes)));
  return expected;
}

}  // namespace hone::profiler
