#include "worker/compile_pool.h"

#include "worker/pool_session.h"

namespace hone::worker {

Result<std::unique_ptr<CompilePool>> CompilePool::start(CompilePoolOptions options) {
  auto session = std::make_unique<Session>(std::move(options));
  HONE_TRY(session->start_zygote());
  return std::unique_ptr<CompilePool>(new CompilePool(std::move(session)));
}

CompilePool::CompilePool(std::unique_ptr<Session> session) : session_(std::move(session)) {}
CompilePool::~CompilePool() = default;

Result<Outcome> CompilePool::once(const Message& message) {
  return session_->run_once(message);
}

Result<std::vector<Outcome>> CompilePool::once_each(const std::vector<Message>& messages) {
  return session_->run_once_each(messages);
}

Result<Outcome> CompilePool::prepare(const std::string& key, const Message& message) {
  return session_->run_prepare(key, message);
}

Status CompilePool::release(const std::string& key) {
  return session_->release(key);
}

Status CompilePool::submit(const std::string& key, JobId id, const Message& message) {
  return session_->submit(key, id, message);
}

Result<std::optional<Finished>> CompilePool::next_finished(double seconds) {
  return session_->next_finished(seconds);
}

std::size_t CompilePool::outstanding() const {
  return session_->outstanding();
}
Status CompilePool::cancel_all() {
  return session_->cancel_all();
}
pid_t CompilePool::zygote_pid() const {
  return session_->zygote_pid();
}
int CompilePool::restarts() const {
  return session_->restarts();
}

}  // namespace hone::worker
