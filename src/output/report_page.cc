#include "output/report_page.h"

#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "output/report_data.h"

namespace hone::output {
namespace {

void replace_all(std::string& text, std::string_view wanted, std::string_view by) {
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + by.size()))
    text.replace(at, wanted.size(), by);
}

// Escapes "<" in the data. A compiler's message may hold "</script>" and "<!--", which end or
// confuse a script element anywhere. "<" occurs in strings only, where "\u003c" means the same.
std::string data_text(const nlohmann::ordered_json& data) {
  std::string text =
      data.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

}  // namespace

std::string report_page(const nlohmann::ordered_json& data) {
  const std::string json = data_text(data);
  std::string page, style, scripts;
  for (const EmbeddedFile& file : report_files()) {
    if (file.name.ends_with(".html"))
      page = file.text;
    else if (file.name.ends_with(".css"))
      style = file.text;
    else
      scripts += std::string(file.text) + "\n";
  }
  // The nonce is a hash of the data, so that no text in the data can contain it.
  const std::string nonce = content_hash(json);
  // Insert the data last, so that no placeholder is searched in it.
  replace_all(page, "@NONCE@", nonce);
  page.replace(page.find("@STYLE@"), 7, style);
  page.replace(page.find("@SCRIPTS@"), 9, scripts);
  page.replace(page.find("@DATA@"), 6, json);
  return page;
}

Status write_report(store::Store& store, const std::string& name,
                    const std::filesystem::path& file) {
  HONE_ASSIGN(const nlohmann::ordered_json data, report_data(store, name));
  return write_file_atomically(file, report_page(data));
}

}  // namespace hone::output
