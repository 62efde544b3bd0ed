#include "tests/tune_fake/tape.h"

#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/file.h"
#include "base/stopwatch.h"
#include "provider/jobs.h"

namespace hone::test {
namespace {

// Written once, read often.
constexpr int kCompressionLevel = 19;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

Result<std::string> unpacked(const std::string& bytes) {
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size > kMostBytes) return failure("no recording");
  std::string text(size, '\0');
  if (ZSTD_isError(ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size())) != 0)
    return failure("no recording");
  return text;
}

std::string packed(const std::string& text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(
      ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), kCompressionLevel));
  return bytes;
}

std::string one_line(const nlohmann::json& job) {
  return fmt::format("{} {}", job.at("kind").get<std::string>(),
                     job.at("body").dump().substr(0, 300));
}

}  // namespace

Tape Tape::record(Places places) {
  Tape tape(std::move(places));
  tape.is_recording_ = true;
  return tape;
}

Result<Tape> Tape::load(const std::filesystem::path& file, Places places, bool accepts) {
  HONE_ASSIGN(const std::string bytes, read_file(file));
  HONE_ASSIGN(const std::string text, unpacked(bytes));
  Tape tape(std::move(places));
  tape.accepts_ = accepts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    if (json.contains("result")) {
      tape.result_ = json.at("result");
      continue;
    }
    std::vector<Entry>& entries = tape.lanes_[json.at("lane")];
    if (whole_program(json.at("job"), entries) == nullptr)
      entries.push_back({json.at("job"), json.at("answer"), json.at("seconds")});
  }
  return tape;
}

Status Tape::save(const std::filesystem::path& file) const {
  std::string text;
  for (const auto& [lane, entries] : lanes_)
    for (const Entry& entry : entries)
      text += nlohmann::json{{"lane", lane},
                             {"job", entry.job},
                             {"answer", entry.answer},
                             {"seconds", entry.seconds}}
                  .dump() +
              "\n";
  text += nlohmann::json{{"result", result_}}.dump() + "\n";
  return write_file_atomically(file, packed(text));
}

const Tape::Entry* Tape::whole_program(const nlohmann::json& job, std::span<const Entry> entries) {
  if (job.at("kind") != provider::jobs::kCompileProgram.kind) return nullptr;
  const auto found = std::ranges::find(entries, job, &Entry::job);
  return found == entries.end() ? nullptr : &*found;
}

Result<nlohmann::json> Tape::give(const Entry& entry) {
  seconds_ += entry.seconds;
  return placed_answer(entry.answer, places_);
}

Result<nlohmann::json> Tape::answer(const std::string& lane, const worker::Message& job,
                                    const std::function<Result<nlohmann::json>()>& done) {
  if (!problem_.empty()) return tl::unexpected(Error{ErrorKind::kInterrupted, problem_});
  nlohmann::json asked = normal_job(job);
  std::vector<Entry>& entries = lanes_[lane];
  if (is_recording_) {
    const Stopwatch watch;
    HONE_ASSIGN(nlohmann::json answer, done());
    // In milliseconds, as no decision is finer.
    entries.push_back({std::move(asked), normal_answer(std::move(answer), places_),
                       std::round(watch.seconds() * 1000) / 1000});
    return give(entries.back());
  }
  if (const Entry* known = whole_program(asked, std::span(entries).first(next_[lane])))
    return give(*known);
  const std::size_t number = next_[lane]++;
  const std::string where = fmt::format("job {} of '{}'", number + 1, lane);
  if (number >= entries.size()) {
    problem_ = fmt::format("{} was not recorded: {}", where, one_line(asked));
    return tl::unexpected(Error{ErrorKind::kInterrupted, problem_});
  }
  Entry& entry = entries[number];
  if (entry.job == asked) return give(entry);
  const std::string difference =
      fmt::format("{} is not the recorded one:\n  asked    {}\n  recorded {}\n{}", where,
                  one_line(asked), one_line(entry.job), differences(entry.job, asked));
  if (accepts_ && entry.job.at("kind") == asked.at("kind")) {
    accepted_ += difference;
    entry.job = std::move(asked);
    return give(entry);
  }
  problem_ = difference;
  return tl::unexpected(Error{ErrorKind::kInterrupted, problem_});
}

std::string Tape::left() const {
  std::string text;
  for (const auto& [lane, entries] : lanes_) {
    const auto next = next_.find(lane);
    const std::size_t asked = next == next_.end() ? 0 : next->second;
    if (is_recording_ || asked >= entries.size()) continue;
    text += fmt::format("{} of {} jobs of '{}' were not asked for, the first of them {}\n",
                        entries.size() - asked, entries.size(), lane, one_line(entries[asked].job));
  }
  return text;
}

}  // namespace hone::test
