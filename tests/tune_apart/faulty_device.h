// The runner of a "GPU" (tests/measure/apart_device.h) on which some codes do what a candidate can
// do to a GPU. Which code does what is drawn when it is first loaded, and kept in a file, so that a
// runner that takes another's place does the same.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "base/hash.h"
#include "tests/measure/apart_device.h"

namespace hone::test {

inline constexpr std::string_view kServeRunner = "--serve-runner";
// The file; without it every code does right.
inline constexpr const char* kFaultsFile = "HONE_TEST_FAULTS";
// Set: a library is measured beside the candidates (tests/device/made_up_library.h).
inline constexpr const char* kLibrary = "HONE_TEST_LIBRARY";
// A file in which the runner writes its process, a line each time, when it stands in a launch that
// is to be compared with the reference and waits to be killed, as often as kStrikes says: of the
// second code that is loaded, the first launch, or the third of a load that compares three at
// least, the time that kStruckAt says. (How many a load compares, its time tells.) That code is the
// fastest, and right.
inline constexpr const char* kStruckFile = "HONE_TEST_STRUCK";
inline constexpr const char* kStruckAt = "HONE_TEST_STRUCK_AT";  // 0: the first launch
inline constexpr const char* kStrikes = "HONE_TEST_STRIKES";

enum class Fault {
  kNone,
  kNoMemory,
  kWrong,
  kNeverEnds,
  kIllegalAccess,
  kKilled,
  kRace,     // the fastest of all, and wrong in one of 50 launches
  kTooFast,  // right, and measured to be faster than the device can be
  kStruck    // the fastest of all, and right, if it is left alone
};

// The first code, the default, does right; of the next ten all but two or three do not.
inline Fault fault_of(std::string_view code) {
  const char* const path = std::getenv(kFaultsFile);
  if (path == nullptr) return Fault::kNone;
  const std::string hash = content_hash(code);
  const bool struck = std::getenv(kStruckFile) != nullptr;
  int line = 0;
  std::ifstream known(path);
  for (std::string each; std::getline(known, each); ++line)
    if (each == hash) break;
  if (known.eof() || !known) std::ofstream(path, std::ios::app) << hash << "\n";
  if (struck) return line == 1 ? Fault::kStruck : Fault::kNone;
  if (line == 2) return Fault::kRace;
  if (line == 4) return Fault::kTooFast;
  return line % 2 == 1 && line <= 9 ? static_cast<Fault>((line + 1) / 2) : Fault::kNone;
}

class FaultyDevice final : public ApartDevice {
 public:
  FaultyDevice(std::unique_ptr<device::Device> cpu, int index)
      : ApartDevice(std::move(cpu)), index_(index) {}

  Result<std::unique_ptr<device::Kernel>> load(
      std::string_view format, std::string_view code,
      const device::LaunchParameters& parameters) override {
    const Fault fault = fault_of(code);
    if (fault == Fault::kNoMemory)
      return failure("the driver cannot load the code: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
    HONE_ASSIGN(auto kernel, ApartDevice::load(format, code, parameters));
    if (fault == Fault::kNone) return kernel;
    if (fault == Fault::kStruck) compared_ = 0;
    return std::make_unique<FaultyKernel>(*this, std::move(kernel), fault);
  }
  Result<device::BatchTime> time(device::Kernel& kernel,
                                 std::span<const std::vector<device::Buffer>> rotation,
                                 std::size_t first, std::size_t launches) override {
    is_timing_ = true;
    Result<device::BatchTime> timed = ApartDevice::time(kernel, rotation, first, launches);
    is_timing_ = false;
    const auto* const faulty = dynamic_cast<const FaultyKernel*>(&kernel);
    if (!timed || faulty == nullptr) return timed;
    device::BatchTime time = *timed;
    time.disturbed = false;
    // Of the 512^3 matmul of these tests: 1.3 TFLOP/s, more than one core does, and 17 TFLOP/s,
    // more than the peak below allows. Of the 128^3 one 0.8 TFLOP/s.
    if (faulty->fault == Fault::kRace) time.seconds = 200e-6 * static_cast<double>(launches);
    if (faulty->fault == Fault::kStruck) time.seconds = 5e-6 * static_cast<double>(launches);
    if (faulty->fault == Fault::kTooFast) time.seconds = 16e-6 * static_cast<double>(launches);
    return time;
  }
  // As a maker states it: no kernel of one core comes near it.
  device::Peak measure_peak() override {
    device::Peak peak = ApartDevice::measure_peak();
    peak.stated_matrix_gflops = 9000;
    return peak;
  }
  bool is_lost() const override { return is_lost_; }
  device::MachineState machine_state() override {
    device::MachineState state = ApartDevice::machine_state();
    state.gpus.push_back({.gpu = index_});
    return state;
  }

 private:
  struct FaultyKernel : device::Kernel {
    FaultyKernel(FaultyDevice& owner, std::unique_ptr<device::Kernel> right, Fault what)
        : on(owner), kernel(std::move(right)), fault(what) {}
    Status launch(std::span<const device::Buffer> bindings) override {
      switch (fault) {
        case Fault::kNeverEnds:
          for (;;) ::pause();
        case Fault::kKilled:
          ::raise(SIGKILL);
          break;
        case Fault::kStruck:
          on.wait_to_be_struck();
          break;
        case Fault::kIllegalAccess:
          on.is_lost_ = true;
          return failure(
              "running the kernel: an illegal memory access was encountered "
              "(CUDA_ERROR_ILLEGAL_ADDRESS)");
        default:
          break;
      }
      HONE_TRY(kernel->launch(bindings));
      if (fault == Fault::kTooFast || fault == Fault::kStruck ||
          (fault == Fault::kRace && ++on.race_launches_ % 50 != 0))
        return {};
      *reinterpret_cast<float*>(here(bindings.back().data)) += 1;
      return {};
    }
    FaultyDevice& on;
    std::unique_ptr<device::Kernel> kernel;
    Fault fault;
  };

  void wait_to_be_struck() {
    if (is_timing_) return;
    ++compared_;
    if (compared_ == 3) ++long_loads_;
    const int at = std::atoi(std::getenv(kStruckAt));
    if (at == 0 ? compared_ != 1 : compared_ != 3 || long_loads_ != at) return;
    const char* const path = std::getenv(kStruckFile);
    int before = 0;
    std::ifstream strikes(path);
    for (std::string each; std::getline(strikes, each);) ++before;
    if (before >= std::atoi(std::getenv(kStrikes))) return;
    std::ofstream(path, std::ios::app) << ::getpid() << std::endl;
    for (;;) ::pause();
  }

  int index_;
  int race_launches_ = 0;
  int compared_ = 0;    // launches since the struck code was loaded
  int long_loads_ = 0;  // that compared three
  bool is_timing_ = false;
  bool is_lost_ = false;
};

}  // namespace hone::test
