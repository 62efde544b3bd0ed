#include "profiler/expected_attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <thread>

#include "measure/half.h"

namespace hone::profiler {
namespace {

// The value as the type has it.
double rounded(double value, problem::ElementType type) {
  std::byte bytes[8];
  measure::store_element(bytes, type, value);
  return measure::load_element(bytes, type);
}

}  // namespace

problem::Array attention_of(const Operation& operation, const std::vector<problem::Array>& inputs,
                            int threads) {
  const auto queries = static_cast<std::size_t>(operation.m);
  const auto keys = static_cast<std::size_t>(operation.n);
  const auto elements = static_cast<std::size_t>(operation.k);
  const std::vector<float> query = measure::values_of<float>(inputs[0]), key = measure::values_of<float>(inputs[1]),
                           value = measure::values_of<float>(inputs[2]);
  const double scale = rounded(1.0 / std::sqrt(static_cast<double>(elements)), operation.result);
  problem::Array output{operation.output(), {}};
  const auto size = static_cast<std::size_t>(problem::byte_size(operation.result));
  output.bytes.resize(query.size() * size);
  const std::size_t rows = static_cast<std::size_t>(operation.batch) * queries;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::vector<double> weights(keys), sums(elements);
    for (std::size_t row = next++; row < rows; row = next++) {
      const std::size_t head = row / queries * keys * elements;
      // Sums of integers, exact in float.
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
      auto* const to = reinterpret_cast<std::byte*>(output.bytes.data()) + row * elements * size;
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

}  // namespace hone::profiler
