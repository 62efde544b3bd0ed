#include "provider/jobs.h"

namespace hone::provider::jobs {

void give_blobs(ProgramRequest& request, Message& message) {
  message.blobs.push_back(std::move(request.bytes));
  if (request.second) message.blobs.push_back(std::move(*request.second));
}

}  // namespace hone::provider::jobs
