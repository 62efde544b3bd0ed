#include "worker/compile_pool.h"

#include "worker/compile_pool_state.h"

namespace hone::worker {

Result<std::unique_ptr<CompilePool>> CompilePool::start(CompilePoolOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  HONE_TRY(state->start_zygote());
  return std::unique_ptr<CompilePool>(new CompilePool(std::move(state)));
}

CompilePool::CompilePool(std::unique_ptr<State> state) : state_(std::move(state)) {}
CompilePool::~CompilePool() = default;

Result<Outcome> CompilePool::once(const Message& message) {
  return state_->run_once(message);
}

Result<std::vector<Outcome>> CompilePool::once_each(const std::vector<Message>& messages) {
  return state_->run_once_each(messages);
}

Result<Outcome> CompilePool::prepare(const std::string& key, const Message& message) {
  return state_->run_prepare(key, message);
}

Status CompilePool::release(const std::string& key) {
  return state_->release(key);
}

Status CompilePool::submit(const std::string& key, JobId id, const Message& message) {
  return state_->submit(key, id, message);
}

Result<std::optional<Finished>> CompilePool::next_finished(double seconds) {
  return state_->next_finished(seconds);
}

std::size_t CompilePool::outstanding() const {
  return state_->outstanding();
}
Status CompilePool::cancel_all() {
  return state_->cancel_all();
}
pid_t CompilePool::zygote_pid() const {
  return state_->zygote_pid();
}
int CompilePool::restarts() const {
  return state_->restarts();
}

}  // namespace hone::worker
