#include "worker/remote_host.h"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

namespace hone::worker {
namespace {

// Copying hone takes seconds on a slow line; a host that does not answer is noticed by ssh.
constexpr ProcessLimits kCopyLimits{.seconds = 600};
// Exit codes of the scripts below; ssh itself ends with 255.
constexpr int kMissing = 44;

// host "[user@]name[:port]" in the parts that ssh takes.
struct Destination {
  std::string name;
  std::string port;  // empty: ssh's own
};

Destination destination_of(const std::string& host) {
  // The colons of an IPv6 address stand in brackets.
  const std::size_t colon = host.rfind(':'), bracket = host.rfind(']');
  if (colon == std::string::npos || (bracket != std::string::npos && colon < bracket))
    return {host, ""};
  return {host.substr(0, colon), host.substr(colon + 1)};
}

std::vector<std::string> ssh_to(const std::string& host, const std::string& script) {
  const char* given = std::getenv("HONE_SSH");
  std::istringstream words(given != nullptr && *given != '\0' ? given : "ssh");
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  // Without an answer for 15 s the connection is lost.
  for (const char* option : {"BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=5",
                             "ServerAliveCountMax=3", "RequestTTY=no"})
    command.insert(command.end(), {"-o", option});
  const Destination destination = destination_of(host);
  if (!destination.port.empty()) command.insert(command.end(), {"-p", destination.port});
  command.insert(command.end(), {"--", destination.name, script});
  return command;
}

std::filesystem::path own_binary() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

// hone for machines of another kind, where somebody has put it.
std::filesystem::path binary_for(std::string_view machine) {
  return own_binary().parent_path() / fmt::format("hone-{}", machine);
}

// hone's folder there, for the remote shell. With another binary, for whichever processor, the name
// is another one.
std::string folder_there() {
  static const std::string kHash = [] {
    std::string binaries = read_file(own_binary()).value_or("");
    for (const char* machine : {"aarch64", "x86_64"})
      binaries += read_file(binary_for(machine)).value_or("");
    return content_hash(binaries).substr(0, 16);
  }();
  return R"("$HOME/.cache/hone/)" + kHash + '"';
}

// The last line that a program said: ssh warns first and gives its reason then.
std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \r\t") != std::string::npos) last = line;
  while (!last.empty() && last.back() == '\r') last.pop_back();
  return readable(last);
}

tl::unexpected<Error> failed_at(const std::string& host, std::string_view what,
                                const ProcessResult& result) {
  const std::string said = last_line(result.standard_error.text());
  return environment_error("{} '{}' by ssh ({}){}{}", what, host, describe(result, kCopyLimits),
                           said.empty() ? "" : ": ", said);
}

}  // namespace

Status check_host(const std::string& host) {
  const Destination destination = destination_of(host);
  int port = 0;
  const char* const end = destination.port.data() + destination.port.size();
  const auto [rest, code] = std::from_chars(destination.port.data(), end, port);
  const bool has_port = host.size() > destination.name.size();
  const bool bad_port =
      has_port && (code != std::errc() || rest != end || port < 1 || port > 65535);
  // A name that begins so would be an option.
  if (!destination.name.empty() && !destination.name.starts_with('-') && !bad_port) return {};
  return input_error(
      "'ssh://{}' names no host; write ssh://[user@]name[:port]/ in front of the device", host);
}

std::vector<std::string> command_at(const std::string& host,
                                    const std::vector<std::string>& arguments) {
  std::string script = "exec " + folder_there() + "/hone";
  for (const std::string& argument : arguments) script += ' ' + shell_word(argument);
  return ssh_to(host, script);
}

std::vector<std::string> on_socket(const std::vector<std::string>& command) {
  static_assert(ChildProcess::kChildSocket == 3);
  std::vector<std::string> all{"/bin/sh", "-c", R"(exec "$@" <&3 >&3 3>&-)", "hone"};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

Status install_at(const std::string& host, int stop_fd) {
  HONE_TRY(check_host(host));
  utsname here{};
  ::uname(&here);
  const std::string folder = folder_there();
  const std::string look =
      fmt::format("[ -x {}/hone ] || {{ uname -m; exit {}; }}", folder, kMissing);
  HONE_ASSIGN(const ProcessResult found,
              run_process({ssh_to(host, look), {}, {}}, kCopyLimits, stop_fd));
  if (found.succeeded()) return {};
  const auto& [name, port] = destination_of(host);
  if (found.exit_code != kMissing)
    return advised(failed_at(host, "cannot reach", found),
                   fmt::format("'ssh -o BatchMode=yes {}{} true' has to work first",
                               port.empty() ? "" : fmt::format("-p {} ", port), name));
  std::filesystem::path binary = own_binary();
  const std::string machine = last_line(found.standard_output.text());
  if (machine != here.machine) {
    binary = binary_for(machine);
    std::error_code code;
    if (!std::filesystem::exists(binary, code))
      return advised(environment_error("'{}' is a machine of kind {}, and this hone is for {}",
                                       host, machine, here.machine),
                     fmt::format("put a hone of the same version for {} there: '{}'", machine,
                                 binary.string()));
  }
  // A copy that was cut short never has the name of a whole one.
  const std::string copy = fmt::format(
      "umask 077; mkdir -p {0} && {{ cat > {0}/copy.$$ && chmod 700 {0}/copy.$$ && "
      "mv {0}/copy.$$ {0}/hone; }} || {{ rm -f {0}/copy.$$; exit 1; }}",
      folder);
  std::vector<std::string> command{"/bin/sh", "-c", R"(f=$1; shift; exec "$@" < "$f")", "hone",
                                   binary.string()};
  std::ranges::copy(ssh_to(host, copy), std::back_inserter(command));
  HONE_ASSIGN(const ProcessResult copied, run_process({command, {}, {}}, kCopyLimits, stop_fd));
  if (copied.succeeded()) return {};
  return failed_at(host, "cannot copy hone to", copied);
}

}  // namespace hone::worker
