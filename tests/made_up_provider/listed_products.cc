#include "tests/made_up_provider/listed_products.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/made_up_provider/choice.h"
#include "tests/made_up_provider/provider.h"

namespace hone::plain_c {
namespace {

class ListedProducts final : public provider::ListProvider {
 public:
  ListedProducts(std::string path, std::vector<problem::Dispatch> dispatches)
      : path_(std::move(path)), dispatches_(std::move(dispatches)) {}

  const std::string& path() const override { return path_; }
  const std::vector<problem::Dispatch>& dispatches() const override { return dispatches_; }
  Result<std::unique_ptr<provider::Provider>> provider_for(const device::Facts&) const override {
    return std::make_unique<Provider>();
  }
  Result<std::vector<std::string>> flags(const device::Facts&) const override {
    return std::vector<std::string>{"-w"};
  }
  Result<provider::FoundCompiler> find_compiler() override {
    return provider::FoundCompiler{"plain C", "cc"};
  }
  std::string result_file() const override { return "products.jsonl"; }
  std::string result_line(const problem::Dispatch& dispatch, const std::string& configured,
                          std::optional<double> seconds) const override {
    nlohmann::json line{{"product", dispatch.name}, {"configured", configured}};
    if (seconds) line["seconds"] = *seconds;
    return line.dump() + '\n';
  }

 private:
  std::string path_;
  std::vector<problem::Dispatch> dispatches_;
};

}  // namespace

Result<std::unique_ptr<provider::ListProvider>> open_list(const std::string& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return input_error("{}: no list of products", path);
  std::vector<problem::Dispatch> dispatches;
  for (const nlohmann::json& each : list) {
    const Result<Product> product = product_in(each.dump());
    if (!product) return input_error("{}: {}", path, product.error().message);
    dispatches.push_back(dispatch_of(*product));
  }
  return std::make_unique<ListedProducts>(path, std::move(dispatches));
}

}  // namespace hone::plain_c
