#include "worker/message.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace hone::worker {
namespace {

// The header; docs/worker-protocol.md, "Frame".
constexpr std::array<char, 4> kMagic = {'H', 'O', 'N', 'E'};
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 20;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

std::uint64_t get(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

// Nesting depth of JSON text, found without parsing it. nlohmann::json writes a value by recursion,
// so that a deep one would overflow the stack.
bool is_nested_deeper_than(std::string_view text, int limit) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limit) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

struct Header {
  std::uint64_t kind_bytes;
  std::uint64_t body_bytes;
  std::uint64_t blobs;
};

Result<Header> read_header(std::string_view bytes) {
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return failure("not a message: it does not start with 'HONE'");
  const std::uint64_t version = get(bytes, 4, 2);
  if (version != kVersion)
    return failure("a message of protocol version {}; this is version {}", version, kVersion);
  if (get(bytes, 6, 2) != 0) return failure("a message whose reserved bytes are not 0");
  const Header header{get(bytes, 8, 4), get(bytes, 12, 4), get(bytes, 16, 4)};
  if (header.kind_bytes > FrameLimits::kKindBytes)
    return failure("a message kind of {} bytes; the limit is {}", header.kind_bytes,
                   FrameLimits::kKindBytes);
  if (header.body_bytes > FrameLimits::kBodyBytes)
    return failure("a message body of {} bytes; the limit is {}", header.body_bytes,
                   FrameLimits::kBodyBytes);
  if (header.blobs > FrameLimits::kBlobs)
    return failure("a message with {} blobs; the limit is {}", header.blobs, FrameLimits::kBlobs);
  return header;
}

Result<nlohmann::json> parse_body(std::string_view text) {
  if (is_nested_deeper_than(text, FrameLimits::kDepth))
    return failure("a message body nested deeper than {}", FrameLimits::kDepth);
  nlohmann::json body = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (body.is_discarded()) return failure("a message body that is not JSON");
  return body;
}

}  // namespace

Result<std::string> encode(const Message& message) {
  const std::string body =
      message.body.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
  std::uint64_t blob_bytes = 0;
  for (const std::string& blob : message.blobs) blob_bytes += blob.size();
  if (message.kind.size() > FrameLimits::kKindBytes || body.size() > FrameLimits::kBodyBytes ||
      message.blobs.size() > FrameLimits::kBlobs || blob_bytes > FrameLimits::kBlobBytes ||
      is_nested_deeper_than(body, FrameLimits::kDepth))
    return failure(
        "the message '{:.64}' is too large to send: a body of {} bytes (limit {}, nested at most "
        "{} "
        "deep), {} blobs (limit {}) of {} bytes together (limit {})",
        message.kind, body.size(), FrameLimits::kBodyBytes, FrameLimits::kDepth,
        message.blobs.size(), FrameLimits::kBlobs, blob_bytes, FrameLimits::kBlobBytes);
  std::string frame(kMagic.data(), kMagic.size());
  put(frame, kVersion, 2);
  put(frame, 0, 2);
  put(frame, message.kind.size(), 4);
  put(frame, body.size(), 4);
  put(frame, message.blobs.size(), 4);
  for (const std::string& blob : message.blobs) put(frame, blob.size(), 8);
  frame.reserve(frame.size() + message.kind.size() + body.size() + blob_bytes);
  frame += message.kind;
  frame += body;
  for (const std::string& blob : message.blobs) frame += blob;
  return frame;
}

Result<std::optional<Message>> FrameDecoder::next() {
  if (broken_) return tl::unexpected(*broken_);
  auto message = take_frame();
  if (!message) broken_ = message.error();
  return message;
}

Result<std::optional<Message>> FrameDecoder::take_frame() {
  const std::string_view bytes = std::string_view(buffer_).substr(at_);
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  HONE_ASSIGN(const Header header, read_header(bytes));
  const std::uint64_t sizes_end = kHeaderBytes + 8 * header.blobs;
  if (bytes.size() < sizes_end) return std::nullopt;
  std::uint64_t blob_bytes = 0;
  for (std::size_t i = 0; i < header.blobs; ++i) {
    const std::uint64_t size = get(bytes, kHeaderBytes + 8 * i, 8);
    if (size > FrameLimits::kBlobBytes || (blob_bytes += size) > FrameLimits::kBlobBytes)
      return failure("a message with blobs of more than {} bytes", FrameLimits::kBlobBytes);
  }
  const std::uint64_t total = sizes_end + header.kind_bytes + header.body_bytes + blob_bytes;
  if (bytes.size() < total) return std::nullopt;

  std::size_t at = sizes_end;
  const auto take = [&](std::uint64_t size) {
    const std::string_view part = bytes.substr(at, size);
    at += size;
    return part;
  };
  Message message;
  message.kind = take(header.kind_bytes);
  HONE_ASSIGN(message.body, parse_body(take(header.body_bytes)));
  for (std::size_t i = 0; i < header.blobs; ++i)
    message.blobs.emplace_back(take(get(bytes, kHeaderBytes + 8 * i, 8)));
  at_ += total;
  if (at_ == buffer_.size()) {
    buffer_ = std::string();  // one large message does not hold its memory for ever
    at_ = 0;
  } else if (at_ > (std::size_t{1} << 20)) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return message;
}

Message to_message(const provider::Failure& failure) {
  return {"failure", {{"kind", provider::name_of(failure.kind)}, {"message", failure.message}}, {}};
}

provider::Failure failure_from(const Message& message) {
  const auto text = [&](const char* name) {
    const auto value = message.body.is_object() ? message.body.find(name) : message.body.end();
    return value != message.body.end() && value->is_string() ? value->get<std::string>() : "";
  };
  const auto kind = provider::failure_kind_from(text("kind"));
  // A malformed failure counts as a crash.
  if (!kind)
    return {
        provider::FailureKind::kCompileCrash,
        fmt::format("its answer cannot be read: {}: {}", kind.error().message, text("message"))};
  return {*kind, text("message")};
}

Outcome outcome_from(Message message) {
  if (message.kind == "failure") return tl::unexpected(failure_from(message));
  return message;
}

}  // namespace hone::worker
