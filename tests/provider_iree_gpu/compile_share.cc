#include "tests/provider_iree_gpu/compile_share.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "provider/artifact.h"
#include "provider/iree/gpu/stated_space.h"

namespace hone::iree::gpu {
namespace {

constexpr char kCompiled[] = "ok ";

std::string read_all(int end) {
  std::string text;
  char buffer[512];
  for (;;) {
    const ssize_t got = ::read(end, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(end);
  return text;
}

void write_all(int end, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = ::write(end, text.data() + at, text.size() - at);
    if (put < 0 && errno != EINTR) return;
    if (put > 0) at += static_cast<std::size_t>(put);
  }
}

// What `work` returns in a child of this process; what it died of where it says nothing.
template <class Work>
std::string in_child(const Work& work) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_all(ends[1], work());
    ::_exit(0);
  }
  ::close(ends[1]);
  const std::string words = read_all(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (words.empty() && WIFSIGNALED(status))
    return fmt::format("died of signal {}", WTERMSIG(status));
  return words;
}

// "ok IDENTITY", or the first line of what is wrong.
std::string compiled(PreparedDispatch& prepared, const std::optional<Attributes>& attributes) {
  return in_child([&]() -> std::string {
    // Of processor time: the machine may be busy with something else.
    const rlimit limit{60, 60};
    ::setrlimit(RLIMIT_CPU, &limit);
    (void)std::freopen("/dev/null", "w", stderr);
    const auto artifact = prepared.compile(attributes);
    if (artifact) return kCompiled + provider::identity(*artifact);
    const std::string words = artifact.error().message.substr(0, 300);
    return fmt::format("{}: {}", provider::name_of(artifact.error().kind),
                       words.substr(0, words.find('\n')));
  });
}

PreparedDispatch prepare(const problem::Dispatch& dispatch, const std::string& arch) {
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for(arch));
  if (!prepared) throw std::runtime_error(prepared.error().message);
  return std::move(*prepared);
}

}  // namespace

problem::Dispatch stated_dispatch(const std::string& program, const std::string& arch) {
  problem::Dispatch dispatch = dispatch_of(program, arch);
  if (states_constraints(compiler(), "dispatch", dispatch.source, flags_for(arch)))
    dispatch.stated_constraints = nlohmann::json(stated(dispatch, arch)).dump();
  return dispatch;
}

std::vector<Compiled> compile_all(const problem::Dispatch& dispatch, const std::string& arch,
                                  const space::Space& space,
                                  const std::vector<space::Configuration>& configurations,
                                  int jobs) {
  PreparedDispatch prepared = prepare(dispatch, arch);
  const problem::GpuTarget target = *problem::gpu_target(arch);
  std::vector<Compiled> all;
  for (const space::Configuration& configuration : configurations)
    all.push_back({configuration, "not compiled", {}});
  const auto count = static_cast<std::size_t>(std::max(1, jobs));
  // Each worker compiles every count-th one and says "INDEX WORDS\n".
  std::vector<std::pair<pid_t, int>> workers;
  for (std::size_t worker = 0; worker < count; ++worker) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    const pid_t child = ::fork();
    if (child == 0) {
      for (std::size_t i = worker; i < all.size(); i += count) {
        const auto attributes = gpu_attributes(dispatch, target, space, configurations[i]);
        write_all(ends[1], fmt::format("{} {}\n", i,
                                       attributes ? compiled(prepared, *attributes)
                                                  : attributes.error().message));
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    workers.emplace_back(child, ends[0]);
  }
  for (const auto& [child, end] : workers) {
    const std::string lines = read_all(end);
    ::waitpid(child, nullptr, 0);
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t stop = std::min(lines.find('\n', at), lines.size());
      const std::string line = lines.substr(at, stop - at);
      at = stop + 1;
      const std::size_t space_at = line.find(' ');
      if (space_at == std::string::npos) continue;
      Compiled& one = all.at(std::stoul(line));
      const std::string words = line.substr(space_at + 1);
      one.failure = words.starts_with(kCompiled) ? "" : words;
      if (one.failure.empty()) one.identity = words.substr(sizeof kCompiled - 1);
    }
  }
  return all;
}

std::vector<Compiled> compile_samples(const problem::Dispatch& dispatch, const std::string& arch,
                                      const space::Space& space, std::size_t n, std::uint64_t seed,
                                      int jobs) {
  const auto samples = space.samples(n, seed);
  if (!samples) throw std::runtime_error(samples.error().message);
  return compile_all(dispatch, arch, space, *samples, jobs);
}

std::string default_identity(const problem::Dispatch& dispatch, const std::string& arch) {
  PreparedDispatch prepared = prepare(dispatch, arch);
  const std::string words = compiled(prepared, std::nullopt);
  return words.starts_with(kCompiled) ? words.substr(sizeof kCompiled - 1) : "";
}

std::vector<Problem> large_problems() {
  return {{"matmul 2048x10240x1280", matmul(2048, 10240, 1280)},
          {"matmul_transpose_b 2048x10240x1280", matmul(2048, 10240, 1280, "f16", "f32", true)},
          {"conv_nhwc 2x34x34x1280 3x3x1280x1280", convolution(false, 2, 32, 1280, 1280)},
          {"conv_nchw 2x1280x34x34 1280x1280x3x3", convolution(true, 2, 32, 1280, 1280)},
          {"attention 20x4096x64", attention(20, 4096, 64)}};
}

std::vector<Problem> small_problems() {
  return {{"matmul", matmul(512, 768, 256)},
          {"matmul_transpose_b", matmul(512, 768, 256, "f16", "f32", true)},
          {"conv_nhwc", convolution(false, 1, 16, 64, 128)},
          {"conv_nchw", convolution(true, 1, 16, 64, 128)},
          {"attention", attention(4, 512, 64)}};
}

std::vector<Problem> large_own_problems() {
  return {{"batch_matmul 16x512x512x512", batch_matmul(16, 512, 512, 512)},
          {"matvec 4096x4096", matvec(4096, 4096)},
          {"row sum 4096x4096", row_sum(4096, 4096)},
          {"column sum 4096x4096", column_sum(4096, 4096)},
          {"channel sum 16x1280x1024", channel_sum(16, 1280, 1024)},
          {"softmax 4096x4096", softmax(4096, 4096)},
          {"elementwise 4096x5120", elementwise(4096, 5120)},
          {"transpose 4096x2048", transpose(4096, 2048)}};
}

std::vector<Problem> small_own_problems() {
  return {{"batch_matmul", batch_matmul(12, 128, 128, 64)},
          {"matvec", matvec(1024, 2048)},
          {"row sum", row_sum(512, 1024)},
          {"column sum", column_sum(512, 1024)},
          {"channel sum", channel_sum(4, 64, 256)},
          {"softmax", softmax(256, 512)},
          {"elementwise", elementwise(384, 640)},
          {"transpose", transpose(512, 768)}};
}

}  // namespace hone::iree::gpu
