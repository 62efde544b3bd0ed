// hone on another machine, reached by ssh: the commands that run there, and this binary's copy.
//
// ssh never asks anything (BatchMode): a host key, a password or a passphrase that it would ask for
// is an error in its own words. HONE_SSH replaces the program, with options in front of hone's own:
// HONE_SSH="ssh -F FILE".
#pragma once

#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace hone::worker {

// An input error for a host that is not "[user@]name[:port]" (device::Address::host).
Status check_host(const std::string& host);

// Returns the command that runs the arguments of hone on `host`, by the copy that install_at() put
// there. Its stdin and stdout are the remote ones.
std::vector<std::string> command_at(const std::string& host,
                                    const std::vector<std::string>& arguments);

// Returns `command` as a program whose stdin and stdout are its socket
// (ChildProcess::kChildSocket).
std::vector<std::string> on_socket(const std::vector<std::string>& command);

// Copies this binary to ~/.cache/hone on `host`, under the hash of its content, if it is not there.
// For another kind of processor it is the one beside this binary: "hone-aarch64". Environment
// errors: the host cannot be reached, in ssh's words; no space, no permission; no binary for its
// processor.
Status install_at(const std::string& host, int stop_fd = -1);

}  // namespace hone::worker
