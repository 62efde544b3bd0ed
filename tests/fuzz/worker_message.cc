// The worker protocol: a stream of frames, fed in pieces as a socket would.
#include "tests/fuzz/fuzz_target.h"
#include "worker/message.h"

namespace hone::worker {
namespace {

void read_fields(const Message& message) {
  (void)number_field(message, "id");
  (void)text_field(message, "kind");
  (void)seconds_field(message);
  if (const auto settings = settings_from(message))
    fuzz::require(settings_from(to_message(*settings)).has_value(), "settings come back");
  (void)failure_from(message);
  (void)outcome_from(message);
  (void)unwrap(message);
  (void)outcome_from_report(message);
}

void read_stream(std::string_view stream, std::size_t piece) {
  FrameDecoder decoder;
  bool broken = false;
  while (!stream.empty() && !broken) {
    decoder.add(stream.substr(0, piece));
    stream.remove_prefix(std::min(piece, stream.size()));
    while (true) {
      const auto message = decoder.next();
      broken = !message;
      if (broken) fuzz::require(!decoder.next(), "a broken stream stays broken");
      if (broken || !*message) break;
      read_fields(**message);
      const auto frame = encode(**message);
      fuzz::require(frame.has_value(), "what was decoded can be encoded");
      FrameDecoder again;
      again.add(*frame);
      const auto same = again.next();
      fuzz::require(same && *same, "and decoded again");
      fuzz::require((*same)->kind == (*message)->kind && (*same)->body == (*message)->body &&
                        (*same)->blobs == (*message)->blobs,
                    "to the same message");
    }
  }
}

}  // namespace
}  // namespace hone::worker

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view stream = hone::fuzz::text_of(bytes, size);
  if (stream.empty()) return 0;
  hone::worker::read_stream(stream.substr(1), 1 + static_cast<std::uint8_t>(stream.front()));
  return 0;
}
