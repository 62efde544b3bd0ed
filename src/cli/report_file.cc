#include "cli/report_file.h"

#include "base/file.h"
#include "output/report_data.h"
#include "output/report_page.h"

namespace hone::cli {

Status write_report(store::Store& store, const std::string& name,
                    const std::filesystem::path& file) {
  HONE_ASSIGN(const nlohmann::ordered_json data, output::report_data(store, name));
  return write_file_atomically(file, output::report_page(data));
}

}  // namespace hone::cli
