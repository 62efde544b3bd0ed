#include "tests/made_up_provider/compile_worker.h"

#include "base/file.h"
#include "base/process.h"
#include "provider/jobs.h"
#include "tests/device/executable_interface.h"
#include "tests/made_up_provider/choice.h"

namespace hone::plain_c {
namespace {

namespace jobs = provider::jobs;
using provider::Failure;
using provider::FailureKind;

// The export "kernel" of three buffers, as the CPU's device finds it.
constexpr std::string_view kTables = R"(
static const header_t header = {6, "product", 0, 0};
static const function_t functions[] = {kernel};
static const attributes_t attributes[] = {{0, 0, 0, 3, 1, 1, 1, 0, {0}}};
static const char* const names[] = {"kernel"};
static const library_t library = {&header, 0, 0, 1, functions, attributes, 0, 0, names,
                                  0, 0, 0, 0, 0, 0, 0};
const void* iree_hal_executable_library_query(uint32_t version, const void* environment) {
  return version == 6 ? (const void*)&library : 0;
}
)";

std::string in_c(const Product& product, const Choice& choice) {
  return fmt::format(
      R"({}
enum {{ m = {}, n = {}, k = {}, columns = {} }};
static int kernel(const void* environment, const dispatch_t* dispatch, const workgroup_t* group) {{
  const float* restrict a = dispatch->bindings[0];
  const float* restrict b = dispatch->bindings[1];
  float* restrict c = dispatch->bindings[2];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; j += columns) {{
      float sums[columns] = {{0}};
      for (int step = 0; step < k; ++step)
        for (int column = 0; column < columns; ++column)
          sums[column] += a[i * k + step] * b[step * n + j + column];
      for (int column = 0; column < columns; ++column) c[i * n + j + column] = sums[column];
    }}
  return 0;
}}
{})",
      test::kInterface, product.m, product.n, product.k, choice.columns, kTables);
}

class Worker final : public provider::CompileWorker {
 public:
  Worker(std::string cc, std::string revision)
      : cc_(std::move(cc)), revision_(std::move(revision)) {}

  Status prepare(jobs::PrepareRequest dispatch) override {
    HONE_ASSIGN(product_, product_in(dispatch.source));
    flags_ = std::move(dispatch.flags);
    return {};
  }

  tl::expected<jobs::Compiled, Failure> compile(
      const std::optional<provider::Payload>& payload) override {
    const auto failed = [](const Error& error) {
      return Failure{FailureKind::kCompileError, error.message};
    };
    const Result<Choice> choice = payload ? choice_in(*payload) : Choice();
    if (!choice) return tl::unexpected(failed(choice.error()));
    Result<std::string> code = code_of(*choice);
    if (!code) return tl::unexpected(failed(code.error()));
    problem::Launch launch;
    launch.entry = "kernel";
    return jobs::Compiled{{"elf-of-c", *std::move(code), launch, payload_of(*choice).json.dump()}};
  }

  provider::Outcome once(provider::Message job) override {
    static const provider::ServedJob<Worker> kServed[] = {{jobs::kRevision, &Worker::revision}};
    return provider::answer_by<Worker>(kServed, *this, std::move(job), FailureKind::kCompileError);
  }

 private:
  Result<std::string> revision() { return revision_; }

  Result<std::string> code_of(const Choice& choice) const {
    HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-c-"));
    const std::string c = (folder.path() / "product.c").string();
    const std::string so = (folder.path() / "product.so").string();
    HONE_TRY(write_file_atomically(c, in_c(product_, choice)));
    Command command{{cc_, fmt::format("-O{}", choice.level), "-shared", "-fPIC", "-o", so, c}};
    command.arguments.insert(command.arguments.begin() + 1, flags_.begin(), flags_.end());
    HONE_ASSIGN(const ProcessResult result, run_process(command));
    if (!result.succeeded()) return failure("{}", result.standard_error.text());
    return read_file(so);
  }

  std::string cc_, revision_;
  Product product_;
  std::vector<std::string> flags_;
};

}  // namespace

Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(const std::string& cc) {
  HONE_ASSIGN(const ProcessResult version, run_process({{cc, "--version"}}));
  const std::string words = version.standard_output.text();
  return std::make_unique<Worker>(cc, words.substr(0, words.find('\n')));
}

}  // namespace hone::plain_c
