// Triton GEMMs whose fastest kernels a store holds.
#pragma once

#include <string>
#include <vector>

#include "provider/triton/emitted_gemm.h"
#include "store/store.h"

namespace hone::session {

struct FoundGemms {
  std::vector<triton::EmittedGemm> gemms;
  std::vector<std::string> codes;  // of each: its kernels', one behind the other
  std::string made;                // "NVIDIA H200 (sm_90), Triton 3.9.0"
};

struct WantedGemms {
  std::string target;                 // "sm_90"; empty: any, if there is but one
  std::string device;                 // "NVIDIA H200"; likewise
  std::vector<store::Id> candidates;  // these instead of what was selected
  bool trust = false;                 // also code that somebody else compiled
};

// Returns the latest selection for each GEMM: the winner, or the default if nothing beats it. Input
// errors: results for several targets or devices with none of them wanted, no results, a candidate
// that is not Triton's or has no code.
Result<FoundGemms> found_gemms(store::Store& store, const WantedGemms& wanted);

}  // namespace hone::session
