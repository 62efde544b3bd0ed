// Files that a proof is repeated with and without a compiler: the compiled programs, the arguments,
// and the outputs that they must have.
#pragma once

#include <filesystem>
#include <vector>

#include "measure/verification.h"
#include "problem/dispatch.h"
#include "tune/program/build_bench.h"

namespace hone::tune {

struct ProofFiles {
  std::filesystem::path baseline, shipped;                // modules: the default, and what ships
  problem::Function function;                             // that is called
  std::vector<std::filesystem::path> inputs, references;  // .npy files by argument and by output
  // By output: how far a correct one may lie from its reference.
  std::vector<measure::Tolerance> tolerances;
};

// Copies the modules of the default and of `best`, with arguments and expected outputs, into the
// folder "proof" in `out`. Arguments that run.sh names, in `inputs`, stay where they are. Failure:
// the bench lacks a module, or outputs cannot tell right from wrong. Environment error: a file
// cannot be written.
Result<ProofFiles> write_proof_files(const BuildBench& bench, const VerifiedBuild& best,
                                     const std::vector<std::filesystem::path>& inputs,
                                     const std::filesystem::path& out);

// Deletes the files of an earlier run.
void remove_proof_files(const std::filesystem::path& out);

}  // namespace hone::tune
