#include "provider/iree/compiler/compiler_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <new>
#include <optional>

namespace hone::iree {
namespace {

std::string take_message(const CApi& api, Error_t* error) {
  std::string message = api.ireeCompilerErrorGetMessage(error);
  api.ireeCompilerErrorDestroy(error);
  return message;
}

void on_diagnostic(Severity severity, const char* message, std::size_t size, void* data) {
  if (severity == Severity::kWarning || severity == Severity::kRemark) return;
  auto& text = *static_cast<std::string*>(data);
  // A note without an error before it belongs to a warning that was omitted.
  if (severity == Severity::kNote && text.empty()) return;
  std::string_view words(message, size);
  // Drop the dump of the whole function that follows: it is of no use to the reader of a message.
  if (const auto dump = words.find("see current operation:"); dump != std::string_view::npos) {
    const auto line = words.rfind('\n', dump);
    words = words.substr(0, line == std::string_view::npos ? 0 : line);
  }
  if (words.empty()) return;
  while (words.ends_with('\n')) words.remove_suffix(1);
  if (!text.empty()) text += '\n';
  text += words;
}

// A session's message about an unknown flag.
constexpr std::string_view kNotOfASession = "option not found";

// A session accepts most flags. LLVM keeps others once per process (llvm::cl), and a session does
// not know these.
bool is_of_process(const CompilerLibrary& library, const std::string& flag) {
  const CApi& api = library.api();
  Session_t* const probe = api.ireeCompilerSessionCreate();
  const char* const text = flag.c_str();
  Error_t* const error = api.ireeCompilerSessionSetFlags(probe, 1, &text);
  const bool unknown =
      error != nullptr && take_message(api, error).find(kNotOfASession) != std::string::npos;
  api.ireeCompilerSessionDestroy(probe);
  const std::size_t first = flag.find_first_not_of('-');
  return unknown && first != std::string::npos &&
         library.has_option(flag.substr(first, flag.find('=') - first));
}

bool is_known_to_be_of_process(std::string_view flag) {
  return flag.starts_with(kTransformLibraryFlag) || flag.starts_with(kReplacedFlag);
}

// Sessions of a process with flags start from these flags. They then apply an optimisation level of
// their own without its implied settings (IREE 3.13) and silently compile another program.
constexpr std::string_view kOptimizationLevelFlag = "--iree-opt-level";

constexpr std::string_view kPassPipelineFlag = "--iree-preprocessing-pass-pipeline=";

// The compiler skips a pipeline that it cannot build, with a line on stderr and no error (IREE
// 3.13). Without this check hone would measure another program than the requested one.
Status check_pipeline(const CApi& api, MlirContext context, std::string_view pipeline) {
  std::string words;
  const MlirPassManager passes = api.mlirPassManagerCreate(context);
  const MlirLogicalResult parsed = api.mlirParsePassPipeline(
      api.mlirPassManagerGetAsOpPassManager(passes), to_ref(pipeline), append_to_string, &words);
  api.mlirPassManagerDestroy(passes);
  if (parsed.value != 0) return {};
  while (words.ends_with('\n')) words.pop_back();
  return input_error("IREE's compiler cannot build the pass pipeline '{}': {}", pipeline, words);
}

// IREE 3.13 holds a lock while it parses a spec for one executable. The parsing thread may
// meanwhile be given another executable, for which it waits for that lock for ever. Seen in
// getOrLoadTransformLibraryModule.
bool read_specs(const std::vector<std::string>& flags) {
  return std::ranges::any_of(flags, [](const std::string& flag) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    return name.find("tuning-spec") != name.npos || name.find("transform-") != name.npos;
  });
}

constexpr std::string_view kBytecodeMagic = "ML\xefR";

// MLIR reads resources of bytecode in place where the buffer is at least as aligned as they are.
constexpr std::align_val_t kSourceAlignment{4096};

struct DeleteSource {
  void operator()(char* bytes) const { ::operator delete[](bytes, kSourceAlignment); }
};

}  // namespace

class CompilerSession::Sources {
 public:
  const char* add(std::string_view bytes) {
    auto* const copy = static_cast<char*>(::operator new[](bytes.size() + 1, kSourceAlignment));
    kept_.emplace_back(copy);
    *std::ranges::copy(bytes, copy).out = '\0';
    return copy;
  }

 private:
  std::vector<std::unique_ptr<char, DeleteSource>> kept_;
};

CompilerSession::CompilerSession(CompilerLibrary library, Session_t* session)
    : library_(std::move(library)), session_(session), sources_(std::make_unique<Sources>()) {}

const char* CompilerSession::keep(std::string_view bytes) const {
  return sources_->add(bytes);
}

Result<CompilerSession> CompilerSession::create(const CompilerLibrary& library,
                                                const std::vector<std::string>& flags,
                                                Threads threads) {
  const CApi& api = library.api();
  std::string words;
  // Probing whether a flag belongs to the process costs a session per flag. It runs only if some
  // flag is known to, since a process takes its flags once, or after a session has rejected a flag
  // that it does not know.
  std::vector<bool> attempts{true};
  if (std::ranges::none_of(flags, is_known_to_be_of_process))
    attempts.insert(attempts.begin(), false);
  for (const bool sorted : attempts) {
    std::vector<std::string> of_process;
    std::vector<const char*> arguments;
    for (const std::string& flag : flags)
      if (is_known_to_be_of_process(flag) ||
          std::ranges::count(library.process_flags(), flag) > 0 ||
          (sorted && is_of_process(library, flag)))
        of_process.push_back(flag);
      else
        arguments.push_back(flag.c_str());
    if (!of_process.empty())
      std::erase_if(arguments, [&](const char* flag) {
        const bool is_level = std::string_view(flag).starts_with(kOptimizationLevelFlag);
        if (is_level) of_process.emplace_back(flag);
        return is_level;
      });
    HONE_TRY(library.set_process_flags(of_process));
    CompilerSession session(library, api.ireeCompilerSessionCreate());
    Error_t* const error = api.ireeCompilerSessionSetFlags(
        session.session_, static_cast<int>(arguments.size()), arguments.data());
    if (error == nullptr) return checked(std::move(session), flags, threads);
    words = take_message(api, error);
    if (words.find(kNotOfASession) == std::string::npos) break;
  }
  return input_error("IREE's compiler does not accept the flags '{}': {}", fmt::join(flags, " "),
                     words);
}

Result<CompilerSession> CompilerSession::checked(CompilerSession session,
                                                 const std::vector<std::string>& flags,
                                                 Threads threads) {
  const MlirContext context = session.context();
  if (!context)
    return environment_error("IREE's compiler could not start a session with flags {}",
                             fmt::join(flags, " "));
  session.api().mlirContextEnableMultithreading(
      context, threads == Threads::kAll && session.library_.allows_threads() && !read_specs(flags));
  for (const std::string_view flag : flags)
    if (flag.starts_with(kPassPipelineFlag))
      HONE_TRY(check_pipeline(session.api(), context, flag.substr(kPassPipelineFlag.size())));
  return session;
}

CompilerSession::CompilerSession(CompilerSession&& other) noexcept
    : library_(other.library_),
      session_(std::exchange(other.session_, nullptr)),
      sources_(std::move(other.sources_)) {}

CompilerSession& CompilerSession::operator=(CompilerSession&& other) noexcept {
  std::swap(library_, other.library_);
  std::swap(session_, other.session_);
  std::swap(sources_, other.sources_);
  return *this;
}

CompilerSession::~CompilerSession() {
  if (session_ != nullptr) api().ireeCompilerSessionDestroy(session_);
}

Invocation::Invocation(const CompilerSession& session)
    : session_(session),
      invocation_(session.api().ireeCompilerInvocationCreate(session.get())),
      diagnostics_(std::make_unique<std::string>()) {
  session.api().ireeCompilerInvocationEnableCallbackDiagnostics(invocation_, 0, on_diagnostic,
                                                                diagnostics_.get());
}

Invocation::~Invocation() {
  session_.api().ireeCompilerInvocationDestroy(invocation_);
}

bool Invocation::parse(const std::string& name, std::string_view bytes) {
  const CApi& api = session_.api();
  Source_t* source = nullptr;
  // Constants of bytecode (dense_resource) are not copied: the context's attributes point into it.
  const bool is_bytecode = bytes.starts_with(kBytecodeMagic);
  const std::string text(is_bytecode ? std::string_view() : bytes);
  const char* const terminated = is_bytecode ? session_.keep(bytes) : text.c_str();
  if (Error_t* error = api.ireeCompilerSourceWrapBuffer(session_.get(), name.c_str(), terminated,
                                                        bytes.size() + 1, true, &source)) {
    *diagnostics_ = take_message(api, error);
    return false;
  }
  const bool parsed = api.ireeCompilerInvocationParseSource(invocation_, source);
  api.ireeCompilerSourceDestroy(source);
  return parsed;
}

bool Invocation::import(OwnedModule module) {
  return session_.api().ireeCompilerInvocationImportStealModule(invocation_, module.release());
}

bool Invocation::run(const char* from, const char* to) {
  const CApi& api = session_.api();
  api.ireeCompilerInvocationSetCompileFromPhase(invocation_, from);
  api.ireeCompilerInvocationSetCompileToPhase(invocation_, to);
  constexpr int kStandardPipeline = 0;
  return api.ireeCompilerInvocationPipeline(invocation_, kStandardPipeline);
}

bool Invocation::run_passes(const char* pipeline) {
  return session_.api().ireeCompilerInvocationRunPassPipeline(invocation_, pipeline);
}

void Invocation::verify_passes(bool enable) {
  session_.api().ireeCompilerInvocationSetVerifyIR(invocation_, enable);
}

OwnedModule Invocation::take_module() {
  const CApi& api = session_.api();
  return OwnedModule(api, api.ireeCompilerInvocationExportStealModule(invocation_));
}

Result<std::string> Invocation::output(const OutputFunction& write) {
  const CApi& api = session_.api();
  Output_t* out = nullptr;
  if (Error_t* error = api.ireeCompilerOutputOpenMembuffer(&out))
    return environment_error("{}", take_message(api, error));
  Error_t* error = write(invocation_, out);
  void* contents = nullptr;
  std::uint64_t size = 0;
  if (error == nullptr) error = api.ireeCompilerOutputMapMemory(out, &contents, &size);
  std::string bytes;
  if (error == nullptr) bytes.assign(static_cast<const char*>(contents), size);
  api.ireeCompilerOutputDestroy(out);
  if (error == nullptr) return bytes;
  const std::string message = take_message(api, error);
  return input_error("{}{}{}", diagnostics(), diagnostics_->empty() ? "" : "\n", message);
}

Result<std::string> Invocation::vm_bytecode() {
  return output(session_.api().ireeCompilerInvocationOutputVMBytecode);
}

Result<std::string> Invocation::executable() {
  return output(session_.api().ireeCompilerInvocationOutputHALExecutable);
}

Result<std::string> Invocation::ir() {
  // Bytecode has attributes of IREE's dialects (util.composite) as text, and loses the content of
  // the resources in them (IREE 3.13).
  OwnedModule module = take_module();
  const bool as_text = Ir(session_.api()).holds_resources(module.get());
  if (!import(std::move(module))) return input_error("{}", diagnostics());
  if (as_text) return output(session_.api().ireeCompilerInvocationOutputIR);
  return output([this](Invocation_t* invocation, Output_t* out) {
    constexpr int kNewestVersion = -1;
    return session_.api().ireeCompilerInvocationOutputIRBytecode(invocation, out, kNewestVersion);
  });
}

std::string Invocation::diagnostics() const {
  return *diagnostics_;
}

namespace {

// The integer between `before` and `after`, where the text has both around one.
std::optional<std::int64_t> number_between(std::string_view text, std::string_view before,
                                           std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(begin + before.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() ||
      !rest.substr(static_cast<std::size_t>(end - rest.data())).starts_with(after))
    return std::nullopt;
  return number;
}

// LLVMCPUCheckIRBeforeLLVMConversion and GPUCheckResourceUsage report the size of the code's demand
// and the limit. "failed to distribute" means that a GPU pipeline's vector distribution found no
// layout.
std::string known_reason(std::string_view text) {
  const auto stack = number_between(text, "bytes for function. Got ", " bytes");
  const auto stack_limit = number_between(text, "exceeded stack allocation limit of ", " bytes");
  if (stack && stack_limit) return fmt::format("stack {} B, limit {} B", *stack, *stack_limit);
  // LLVMCPUVerifyVectorSizeLegality.
  if (const auto vectors =
          number_between(text, "operations with large vector sizes (", " bytes) were found"))
    return fmt::format("vectors of more than {} B", *vectors);
  const auto shared = number_between(text, " op uses ", " bytes of shared memory");
  const auto shared_limit =
      number_between(text, "bytes of shared memory; exceeded the limit of ", " bytes");
  if (shared && shared_limit)
    return fmt::format("shared memory {} B, limit {} B", *shared, *shared_limit);
  if (text.find("op failed to distribute\n") != std::string_view::npos ||
      text.ends_with("op failed to distribute"))
    return "no vector layout: the compiler cannot distribute it over threads";
  return {};
}

// Removes "dispatch:16:9: ".
std::string_view without_place(std::string_view text) {
  constexpr std::string_view kSource = "dispatch:";
  if (!text.starts_with(kSource)) return text;
  const std::size_t end = text.find_first_not_of("0123456789:", kSource.size());
  return end == std::string_view::npos || text[end] != ' ' ? text : text.substr(end + 1);
}

}  // namespace

std::string with_reason(std::string_view diagnostics) {
  const std::string reason = known_reason(diagnostics);
  if (reason.empty()) return std::string(without_place(diagnostics));
  return fmt::format("{}\n{}", reason, diagnostics);
}

std::string reason_in_program(std::string_view message) {
  if (std::string reason = known_reason(message); !reason.empty()) return reason;
  constexpr std::string_view kLinker = "lld: error: ", kHeading = "IREE cannot compile";
  if (const std::size_t at = message.find(kLinker); at != std::string_view::npos)
    message.remove_prefix(at + kLinker.size());
  else if (const std::size_t end = message.find('\n');
           message.starts_with(kHeading) && end != std::string_view::npos)
    message.remove_prefix(end + 1);
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace hone::iree
