#include "cli/assembling_worker.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include "device/cuda/ptxas.h"
#include "provider/resources.h"

namespace hone::cli {
namespace {

using provider::Message;
using provider::Outcome;

class AssemblingWorker : public provider::CompileWorker {
 public:
  explicit AssemblingWorker(std::unique_ptr<provider::CompileWorker> worker)
      : worker_(std::move(worker)) {}

  Outcome once(const Message& job) override { return worker_->once(job); }

  Outcome prepare(const Message& job) override {
    Outcome prepared = worker_->prepare(job);
    if (!prepared) return prepared;
    assemble_for_ = job.body.at("assemble_for").get<std::string>();
    if (!assemble_for_.empty()) ptxas_ = device::cuda::find_ptxas().value_or("");
    return prepared;
  }

  Outcome run(const Message& job) override {
    Outcome compiled = worker_->run(job);
    if (!compiled || assemble_for_.empty() || ptxas_.empty() ||
        compiled->body.at("format") != provider::kCudaPtx)
      return compiled;
    const auto begin = std::chrono::steady_clock::now();
    auto assembly = device::cuda::assemble(ptxas_, compiled->blobs.at(0), assemble_for_);
    if (!assembly)
      return tl::unexpected(
          provider::Failure{provider::FailureKind::kCompileError, assembly.error().message});
    compiled->body["stages"]["assemble"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    compiled->body["format"] = provider::kCudaCubin;
    compiled->blobs.front() = std::move(assembly->cubin);
    return compiled;
  }

 private:
  std::unique_ptr<provider::CompileWorker> worker_;
  std::string assemble_for_;          // the GPU of the dispatch's candidates
  std::filesystem::path ptxas_ = {};  // empty where there is none
};

}  // namespace

std::unique_ptr<provider::CompileWorker> assembling(
    std::unique_ptr<provider::CompileWorker> worker) {
  return std::make_unique<AssemblingWorker>(std::move(worker));
}

}  // namespace hone::cli
