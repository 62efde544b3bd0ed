#include "provider/message.h"

#include "base/hash.h"

namespace hone::provider {

std::string key_of(const Message& job) {
  std::string key = job.kind + job.body.dump();
  for (const std::string& blob : job.blobs) key += content_hash(blob);
  return key;
}

void give_blobs(Artifact& artifact, Message& message) {
  message.blobs.push_back(std::move(artifact.code));
}

Status take_blobs(Artifact& artifact, Message& message) {
  if (message.blobs.empty()) return failure("cannot be read: the code is missing");
  artifact.code = std::move(message.blobs.front());
  return {};
}

}  // namespace hone::provider
