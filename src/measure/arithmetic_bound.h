// Bounds from below the time of any kernel for an operation on a device.
#pragma once

#include <string>

#include "device/device.h"
#include "problem/operation.h"

namespace hone::measure {

// Upper bound on the operations per second of any kernel for `operation`; 0 where none is known.
//
// Known are multiply-adds: contractions, convolutions and attention, whose flop_count() must all be
// done. For the rest it counts steps of loops, which a compiler may leave out.
// - Cores: f32 and f64, from the peak of f32 multiply-adds in registers as measured, of which f64
//   has half, times 1.5: between two moments the clock may differ by what lies between base clock
//   and the highest one (2.0 and 3.0 GHz are usual in servers). Narrower types may go through units
//   of their own (AMX, VNNI, AVX512-FP16) of up to 32 times that, which nothing here measures.
// - Matrix units (device::Traits), a GPU's: floats of 16 bits and more, from the maker's figure for
//   dense f16 products at the highest clock, times 1.05 for the clock's own error; tensor cores do
//   TF32 and f64 at a part of that. Twice that where the output is of 16 bits, and sums may be too:
//   some GPUs add up in f16 twice as fast. Where the maker's figure is not known there is no bound:
//   what mma.sync was measured to reach is not the most on a GPU that has faster instructions.
double most_flops(const problem::Operation& operation, const device::Peak& peak, bool matrix_units);

// Seconds of one launch at most_flops(); 0 where none is known.
double least_seconds(const problem::Operation& operation, const device::Peak& peak,
                     bool matrix_units);

// Seconds of one launch at the peak as measured or stated, without the factors for clocks: a time
// that a kernel may come near. 0 where none is known.
double seconds_at_peak(const problem::Operation& operation, const device::Peak& peak,
                       bool matrix_units);

// "measured above the device's arithmetic peak: 1201 of 1124 GFLOP/s".
std::string impossible_time(const problem::Operation& operation, double seconds,
                            double least_seconds);

}  // namespace hone::measure
