// Files as whole contents, on disk or in the binary.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// The file's bytes; an input error that names the file and the system's reason otherwise.
Result<std::string> read_file(const std::filesystem::path& path);

// Writes `bytes` to a temporary file beside `path`, flushes it to disk and renames it over `path`:
// a reader, and a machine that loses power, sees the old content or the new, never a part.
// Missing parent folders are made.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// A folder of its own that is removed with everything in it when the object goes.
class TemporaryFolder {
 public:
  // Makes `<parent>/<prefix>XXXXXX`; an empty parent means the system's temporary folder.
  static Result<TemporaryFolder> create(std::string_view prefix,
                                        const std::filesystem::path& parent = {});
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;  // empty once moved from
};

// A file that is part of the binary (cmake/EmbedFiles.cmake).
struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view text;
};

}  // namespace hone
