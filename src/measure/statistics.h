// Summaries of samples. Pure functions: no clock, no state, equal input gives equal output.
// Samples are times in any unit; results are in the same unit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hone::measure {

struct Summary {
  std::size_t n = 0;
  double min = 0;
  double q1 = 0;  // quartiles by linear interpolation (Hyndman and Fan 1996, type 7)
  double median = 0;
  double q3 = 0;
  double mean = 0;
  double mad = 0;  // median absolute deviation from the median, not scaled
  double cov = 0;  // sample standard deviation (n - 1) / mean; 0 for fewer than two samples
};

// All fields are 0 when there are no samples.
Summary summarise(std::span<const double> samples);

// The q-quantile, 0 <= q <= 1, by linear interpolation (type 7); `sorted` is ascending, not empty.
double quantile(std::span<const double> sorted, double q);

double median(std::span<const double> samples);  // 0 when there are none

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

// Two-sided confidence interval of the median by order statistics: the narrowest symmetric pair
// x(i), x(n+1-i) that covers the median with at least `confidence`. Free of any distribution, and
// never narrower than stated (Conover, Practical Nonparametric Statistics, 3rd ed., 3.2; binomial
// with p = 1/2). Fewer than six samples cannot give 95 %: the interval is then (-inf, inf).
Interval median_interval(std::span<const double> samples, double confidence = 0.95);

// Lower end of a one-sided interval: the median is at least this, with at least `confidence`. -inf
// for too few samples (five give 95 %: all five are above the median with probability 1/32).
double median_lower_bound(std::span<const double> samples, double confidence = 0.95);

// Half the width of the median's interval over the median: 0.01 means +-1 %. Infinite while there
// are too few samples.
double relative_half_width(std::span<const double> samples, double confidence = 0.95);

// Indices of samples above q3 + reach x (q3 - q1): Tukey's rule, upper side only, since nothing
// makes a kernel faster by accident. They are counted and shown, not removed: medians do not need
// it, and removing them would hide a machine that is not quiet.
std::vector<std::size_t> outliers(std::span<const double> samples, double reach = 3);

// Correlation of neighbouring samples, in order of time; 0 for fewer than three samples.
double lag_one_autocorrelation(std::span<const double> samples);

}  // namespace hone::measure
