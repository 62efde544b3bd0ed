// A file that is part of the binary (cmake/EmbedFiles.cmake).
#pragma once

#include <span>
#include <string_view>

namespace hone {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view text;
};

}  // namespace hone
