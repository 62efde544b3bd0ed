#include "device/cuda/session.h"

namespace hone::device::cuda {

Result<std::shared_ptr<Session>> Session::open(std::shared_ptr<Driver> driver, const Facts& facts) {
  const std::shared_ptr<Session> session(new Session);
  session->driver_ = std::move(driver);
  session->facts_ = facts;
  const DriverApi& call = session->call();
  Context context = nullptr;
  const auto open = [&]() -> Status {
    const std::string doing = fmt::format("opening cuda:{} ({})", facts.index, facts.name);
    HONE_TRY(session->driver().check(call.device_get(&session->device_, facts.index), doing));
    HONE_TRY(
        session->driver().check(call.primary_context_retain(&context, session->device_), doing));
    session->retained_ = true;
    return session->driver().check(call.context_set_current(context), doing);
  };
  if (const Status opened = open(); !opened) return environment_error("{}", opened.error().message);
  return session;
}

Session::~Session() {
  if (retained_) call().primary_context_release(device_);
}

}  // namespace hone::device::cuda
