// `hone tune --device ssh://...` through a real sshd, which listens on this machine under a
// configuration, a port and a host key of its own. The home there has a blank in its path.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cli/running_tune.h"

namespace hone::cli {
namespace {

int unused_port() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

class SshPlace : public RunningTune {
 protected:
  // scripts/setup --daemons
  static constexpr const char* kSshd = "/usr/sbin/sshd";

  void SetUp() override {
    if (!std::filesystem::exists(kSshd)) GTEST_SKIP() << kSshd << " is not installed";
    RunningTune::SetUp();
    // sshd's own, which its service would make.
    std::error_code code;
    if (::geteuid() == 0) std::filesystem::create_directory("/run/sshd", code);
    port_ = unused_port();
    std::filesystem::create_directory(home());
    for (const char* key : {"host_key", "id", "other_id", "other_host_key"})
      run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key)});
    write("sshd_config",
          fmt::format("Port {}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nUsePAM no\n"
                      "AuthorizedKeysFile {}\nStrictModes no\nSetEnv \"HOME={}\" "
                      "\"TMPDIR={}\" \"HONE_TEST_THERE={}\" \"PATH={}:/usr/bin:/bin\"\n",
                      port_, path("host_key"), path("id.pub"), home().string(), path("tmp"),
                      folder().string(), path("programs there")));
    know(path("host_key.pub"));
    use_key("id");
    // sshd starts itself again by its whole path.
    auto daemon = ChildProcess::start({{kSshd, "-D", "-f", path("sshd_config")}, {}, {}});
    ASSERT_TRUE(daemon) << daemon.error().message;
    daemon_.emplace(std::move(*daemon));
    ASSERT_TRUE(holds_soon([&] { return ssh({"true"}).exit_code == 0; })) << ssh({"true"}).err;
  }

  void TearDown() override {
    if (!daemon_) return;
    RunningTune::TearDown();
    EXPECT_TRUE(holds_soon([&] { return there().empty(); })) << "processes are left there";
    daemon_->kill();
  }

  std::filesystem::path home() const { return folder() / "home of another"; }
  std::string path(const std::string& name) const { return (folder() / name).string(); }
  std::string host() const { return fmt::format("127.0.0.1:{}", port_); }
  std::string device() const { return "ssh://" + host() + "/cpu:0"; }

  void use_key(const std::string& key) const {
    write("ssh_config", fmt::format("Host *\n  IdentityFile {}\n  IdentitiesOnly yes\n"
                                    "  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n",
                                    path(key), path("known_hosts")));
  }
  void know(const std::string& key) const {
    const auto text = read_file(key);
    ASSERT_TRUE(text);
    write("known_hosts", fmt::format("[127.0.0.1]:{} {}", port_, *text));
  }
  std::vector<EnvironmentChange> by_ssh() const {
    return {{"HONE_SSH", "ssh -F " + path("ssh_config")}};
  }

  Ran run(const std::vector<std::string>& arguments) const {
    const auto result = run_process({arguments, {}, {}});
    EXPECT_TRUE(result) << result.error().message;
    return {result->exit_code, result->standard_output.text(), result->standard_error.text()};
  }
  Ran ssh(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{"ssh",           "-F", path("ssh_config"),    "-o",
                                 "BatchMode=yes", "-p", std::to_string(port_), "127.0.0.1"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run(all);
  }

  std::vector<std::string> tuning(int candidates) const {
    std::vector<std::string> all = arguments(candidates);
    const auto threads = std::ranges::find(all, "--threads");
    all.erase(threads, threads + 2);
    all.insert(all.end(), {"--device", device()});
    return all;
  }
  // Does what start() does, by this ssh.
  void start_there(int candidates) {
    ::setenv("HONE_SSH", by_ssh().front().second->c_str(), 1);
    start(tuning(candidates));
    ::unsetenv("HONE_SSH");
  }
  // Processes that sessions there have started.
  std::vector<pid_t> there() const {
    return processes_started_with("HONE_TEST_THERE=" + folder().string());
  }
  std::vector<pid_t> there(const std::string& worker) const {
    std::vector<pid_t> found;
    for (const pid_t pid : there()) {
      const auto line = read_file(fmt::format("/proc/{}/cmdline", pid));
      if (line && line->find(std::string("worker\0", 7) + worker) != std::string::npos)
        found.push_back(pid);
    }
    return found;
  }
  // hone ended with one message that has `words`, and left nothing behind.
  void expect_refused(const Ran& ran, int exit_code, const std::string& words) const {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(folder() / "hone.db"));
  }

 private:
  int port_ = 0;
  std::optional<ChildProcess> daemon_;
};

TEST_F(SshPlace, AProgramIsTunedThereAndItsResultsAreThisMachines) {
  const Ran ran = hone(tuning(4), by_ssh());
  EXPECT_LE(ran.exit_code, 1) << ran.err;
  expect_complete(4);
  // A second run here finds all that was measured there: both are one kind of machine.
  const nlohmann::json there = rows();
  const nlohmann::json again = json(arguments(4));
  EXPECT_EQ(rows(), there) << "something was measured again";
  EXPECT_EQ(again["dispatches"].size(), 1u);
  std::size_t copies = 0;
  for (const auto& each : std::filesystem::directory_iterator(home() / ".cache" / "hone"))
    if (std::filesystem::exists(each.path() / "hone")) ++copies;
  EXPECT_EQ(copies, 1u);
}

TEST_F(SshPlace, AWholeProgramIsProvedUnderTheRuntimeThere) {
  const std::string program = write("proved.mlir", matmul_program("128"));
  const std::string iree = std::string(HONE_SOURCE_DIR) + "/.venv";
  const Ran ran =
      hone({"tune", program, "--device", device(), "--candidates", "3", "--budget", "8s",
            "--no-baselines", "--no-flags", "--json", "--env", "HONE_IREE=" + iree},
           by_ssh());
  EXPECT_LE(ran.exit_code, 1) << ran.err;
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
  ASSERT_FALSE(document["programs"].empty()) << ran.out;
  EXPECT_GT(document["programs"][0]["seconds"].get<double>(), 0);
}

TEST_F(SshPlace, AKilledRunnerIsReplacedThere) {
  start_there(kMany);
  wait_until_measured(1);
  ASSERT_TRUE(holds_soon([&] { return !there("run").empty(); }));
  for (const pid_t pid : there("run")) strike(pid, SIGKILL);
  EXPECT_LE(finish(), 1) << words();
  expect_complete(kMany);
}

TEST_F(SshPlace, AfterALostConnectionOnlyUnfinishedWorkIsRepeated) {
  start_there(kMany);
  wait_until_measured(1);
  const nlohmann::json before = rows();
  ASSERT_TRUE(holds_soon([&] { return !there("serve").empty(); }));
  for (const pid_t pid : there("serve")) strike(pid, SIGKILL);
  EXPECT_LE(finish(), 1) << words();
  expect_complete(kMany);
  const nlohmann::json after = rows();
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i]["state"] == "measured") {
      EXPECT_EQ(before[i], after[i]);
    }
}

TEST_F(SshPlace, AHostThatIsNotThereIsOneMessage) {
  std::vector<std::string> all = tuning(1);
  all.back() = "ssh://no-such-host.invalid/cpu:0";
  expect_refused(hone(all, by_ssh()), 3, "cannot reach 'no-such-host.invalid' by ssh");
  all.back() = "ssh://-oProxyCommand=true/cpu:0";
  expect_refused(hone(all, by_ssh()), 2, "names no host");
  all.back() = "ssh://127.0.0.1:99999/cpu:0";
  expect_refused(hone(all, by_ssh()), 2, "names no host");
}

TEST_F(SshPlace, AnotherHostKeyIsOneMessage) {
  know(path("other_host_key.pub"));
  expect_refused(hone(tuning(1), by_ssh()), 3, "Host key verification failed.");
}

TEST_F(SshPlace, AKeyThatIsNotTakenIsOneMessage) {
  use_key("other_id");
  expect_refused(hone(tuning(1), by_ssh()), 3, "Permission denied");
}

TEST_F(SshPlace, AHomeThatTakesNoCopyIsOneMessage) {
  // A file has the folder's name.
  write("home of another/.cache", "");
  expect_refused(hone(tuning(1), by_ssh()), 3, "cannot copy hone to '" + host() + "'");
}

TEST_F(SshPlace, AMachineOfAnotherKindNeedsItsOwnHone) {
  std::filesystem::create_directory(path("programs there"));
  write("programs there/uname", "#!/bin/sh\necho riscv64\n");
  std::filesystem::permissions(path("programs there/uname"), std::filesystem::perms::owner_all);
  const Ran ran = hone(tuning(1), by_ssh());
  expect_refused(ran, 3, "'" + host() + "' is a machine of kind riscv64, and this hone is for ");
  EXPECT_NE(ran.err.find("put a hone of the same version for riscv64 there: '"), std::string::npos);
}

TEST_F(SshPlace, ACommandThatMeasuresHereSaysSo) {
  const std::string program = write("one.mlir", matmul_program("64"));
  const Ran ran = hone({"verify", program, "--device", device()}, by_ssh());
  expect_refused(ran, 2, "this command runs on this machine");
}

TEST_F(SshPlace, StoredCodeIsMeasuredThere) {
  const std::string program = write("stored.mlir", matmul_program("64"));
  const Ran compiled = hone({"tune", program, "--compile-only", "--candidates", "3"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Ran measured = hone({"tune", program, "--measure-only", "--device", device(), "--json",
                             "--no-baselines", "--budget", "5s"},
                            by_ssh());
  EXPECT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_EQ(count("measured"), 3u) << measured.out;
}

TEST_F(SshPlace, AFleetMeasuresOnItsNodes) {
  std::vector<std::string> all = tuning(1);
  all.insert(all.end(), {"--launcher", "slurm"});
  expect_refused(hone(all, by_ssh()), 2, "--launcher and --device ssh://");
}

}  // namespace
}  // namespace hone::cli
