#include "worker/message.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/json.h"
#include "base/stopwatch.h"

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

const nlohmann::json* field(const Message& message, const char* name) {
  if (!message.body.is_object()) return nullptr;
  const auto found = message.body.find(name);
  return found == message.body.end() ? nullptr : &*found;
}

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

// send() for sockets, never SIGPIPE.
ssize_t send_some(int socket, std::string_view bytes) {
  const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  // A worker behind ssh writes to a pipe.
  return count < 0 && errno == ENOTSOCK ? ::write(socket, bytes.data(), bytes.size()) : count;
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

Message wrap(std::string kind, nlohmann::json fields, Message payload) {
  fields["kind"] = std::move(payload.kind);
  fields["body"] = std::move(payload.body);
  return {std::move(kind), std::move(fields), std::move(payload.blobs)};
}

Message unwrap(Message message) {
  Message payload;
  payload.kind = text_field(message, "kind").value_or("");
  if (message.body.is_object() && message.body.contains("body"))
    payload.body = std::move(message.body["body"]);
  payload.blobs = std::move(message.blobs);
  return payload;
}

Message to_report(std::uint64_t id, double seconds, Outcome outcome) {
  const nlohmann::json fields = {{"id", id}, {"seconds", seconds}, {"ended", monotonic_seconds()}};
  return outcome ? wrap("done", fields, std::move(*outcome))
                 : wrap("failed", fields, to_message(outcome.error()));
}

Outcome outcome_from_report(Message message) {
  const bool failed = message.kind == "failed";
  Message payload = unwrap(std::move(message));
  if (failed) return tl::unexpected(failure_from(payload));
  return payload;
}

std::optional<std::uint64_t> number_field(const Message& message, const char* name) {
  const nlohmann::json* value = field(message, name);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<std::uint64_t>();
}

std::optional<std::string> text_field(const Message& message, const char* name) {
  const nlohmann::json* value = field(message, name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

double seconds_field(const Message& message, const char* name) {
  const nlohmann::json* value = field(message, name);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

Message to_message(const TreeSettings& settings) {
  return {"configure", settings, {}};
}

std::optional<TreeSettings> settings_from(const Message& message) {
  const auto settings = decode_json<TreeSettings>(message.body);
  if (message.kind != "configure" || !settings || settings->jobs == 0) return std::nullopt;
  return *settings;
}

Status write_message(int socket, const Message& message) {
  HONE_ASSIGN(const std::string frame, encode(message));
  std::string_view left = frame;
  while (!left.empty()) {
    const ssize_t count = send_some(socket, left);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("cannot send '{}': {}", message.kind, std::strerror(errno));
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::optional<Message>> read_message(int socket, FrameDecoder& decoder) {
  char buffer[kReadBytes];
  while (true) {
    HONE_ASSIGN(auto message, decoder.next());
    if (message) return message;
    const ssize_t count = ::read(socket, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("cannot receive a message: {}", std::strerror(errno));
    if (count == 0 && decoder.is_inside_frame()) return failure("the stream ends in a message");
    if (count == 0) return std::nullopt;
    decoder.add({buffer, static_cast<std::size_t>(count)});
  }
}

Connection::Connection(UniqueFd socket) : socket_(std::move(socket)) {
  closed_ = !socket_ || !set_nonblocking(socket_.get(), true);
}

short Connection::poll_events() const {
  return static_cast<short>(output_.empty() ? POLLIN : POLLIN | POLLOUT);
}

Status Connection::send(const Message& message) {
  if (closed_) return failure("cannot send '{}': the other end is gone", message.kind);
  HONE_ASSIGN(std::string frame, encode(message));
  output_.push_back(std::move(frame));
  flush();
  return {};
}

void Connection::flush() {
  while (!output_.empty()) {
    const ssize_t count =
        send_some(socket_.get(), std::string_view(output_.front()).substr(written_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) {
      // Messages that the other end sent before it left remain to be read.
      output_.clear();
      written_ = 0;
      return;
    }
    written_ += static_cast<std::size_t>(count);
    if (written_ < output_.front().size()) continue;
    output_.pop_front();
    written_ = 0;
  }
}

void Connection::fill() {
  constexpr std::size_t kMost = std::size_t{4} << 20;
  char buffer[kReadBytes];
  for (std::size_t total = 0; total < kMost && !closed_;) {
    const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      closed_ = true;
      return;
    }
    decoder_.add({buffer, static_cast<std::size_t>(count)});
    total += static_cast<std::size_t>(count);
  }
}

}  // namespace hone::worker
