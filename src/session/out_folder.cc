#include "session/out_folder.h"

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "provider/iree/compiler/flags_file.h"
#include "provider/iree/compiler/transform_specs.h"
#include "provider/iree/iree_spec_writer.h"

namespace hone::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kObjectsFlag = "--iree-hal-executable-object-search-path=";

// Removes the flag from `flags`. Returns its value: the last one, as the compiler takes it.
std::optional<std::string> take(std::vector<std::string>& flags, std::string_view name) {
  std::optional<std::string> value;
  std::erase_if(flags, [&](const std::string& flag) {
    if (!flag.starts_with(name)) return false;
    value = flag.substr(name.size());
    return true;
  });
  return value;
}

// Removes the pass that reads the spec early from the user's own pipeline
// (IreeSpecWriter::with_spec).
void drop_early_reading(std::vector<std::string>& flags) {
  constexpr std::string_view kPass = ",iree-codegen-materialize-tuning-specs{", kEnd = "}}";
  for (std::string& flag : flags)
    for (std::size_t at = flag.find(kPass); at != std::string::npos; at = flag.find(kPass)) {
      const std::size_t end = flag.find(kEnd, at);
      if (end == std::string::npos) break;
      flag.erase(at, end + kEnd.size() - at);
    }
}

// Where a file or folder that the flags name lies now.
fs::path found(const fs::path& folder, const std::string& named) {
  std::error_code code;
  const fs::path here = folder / fs::path(named).filename();
  return fs::exists(here, code) ? here : fs::path(named);
}

Result<NamedFiles> files_in(const fs::path& folder, const auto& wanted) {
  NamedFiles files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code))
    if (entry.is_regular_file(code) && wanted(entry.path())) {
      HONE_ASSIGN(files[entry.path().filename().string()], read_file(entry.path()));
    }
  if (code) return input_error("'{}': {}", folder.string(), code.message());
  return files;
}

std::string name_of(const std::string& flag) {
  return flag.substr(0, flag.find('='));
}

std::vector<std::string> values_of(const OutFolder& folder, const std::string& name) {
  std::vector<std::string> values;
  for (const std::string& flag : folder.flags)
    if (name_of(flag) == name) values.push_back(flag);
  return values;
}

Status join_flags(OutFolder& joined, const OutFolder& from, const OutFolder& folder) {
  for (const std::string& flag : from.flags) {
    const auto other = values_of(folder, name_of(flag)), own = values_of(from, name_of(flag));
    if (!other.empty() && other != own)
      return input_error(
          "'{}' has {}, and '{}' has {}: their entries were tuned under different flags; tune one "
          "of them again with the flags of the other (--compile-flags-file), or merge the specs "
          "alone",
          from.name, fmt::join(own, " "), folder.name, fmt::join(other, " "));
  }
  for (const std::string& flag : folder.flags)
    if (std::ranges::count(joined.flags, flag) == 0) joined.flags.push_back(flag);
  return {};
}

Status join_files(NamedFiles& joined, const NamedFiles& files, std::string_view what,
                  const std::string& folder) {
  for (const auto& [name, bytes] : files) {
    const auto [at, is_new] = joined.emplace(name, bytes);
    if (!is_new && at->second != bytes)
      return input_error(
          "'{}' has another {} '{}' than a folder before it; give a copy of the folder without it",
          folder, what, name);
  }
  return {};
}

Status write_all(const NamedFiles& files, const fs::path& folder) {
  for (const auto& [name, bytes] : files) HONE_TRY(write_file_atomically(folder / name, bytes));
  return {};
}

}  // namespace

Result<OutFolder> read_out_folder(const fs::path& folder) {
  std::error_code code;
  const fs::path file = folder / kFlagsName;
  if (!fs::exists(file, code))
    return input_error("'{}' has no {}: it is no folder of hone tune --out; give the spec itself",
                       folder.string(), kFlagsName);
  HONE_ASSIGN(const std::string text, read_file(file));
  HONE_ASSIGN(iree::FileFlags read, iree::read_flags_file(file.string(), text));
  OutFolder out;
  out.name = folder.string();
  out.target = read.target;
  out.flags = std::move(read.flags);
  const iree::IreeSpecWriter specs("", "", iree::kSpecFlag);
  if (const auto spec = specs.take_spec(out.flags)) {
    out.spec_path = found(folder, spec->string()).string();
    HONE_ASSIGN(out.spec, read_file(out.spec_path));
  }
  drop_early_reading(out.flags);
  if (!read.kernels.empty()) {
    HONE_ASSIGN(out.kernels, files_in(found(folder, read.kernels), [](const fs::path& each) {
                  return each.extension() == ".mlir";
                }));
  }
  const auto objects = take(out.flags, kObjectsFlag);
  if (const auto transform = take(out.flags, iree::kTransformSpecFlag)) {
    const fs::path path = found(folder, *transform);
    HONE_ASSIGN(const std::string bytes, read_file(path));
    out.transform_spec[path.filename().string()] = bytes;
    if (objects) {
      HONE_ASSIGN(out.objects, files_in(path.parent_path(), [&](const fs::path& each) {
                    return bytes.find('"' + each.filename().string() + '"') != std::string::npos;
                  }));
    }
  }
  return out;
}

Result<OutFolder> joined_folders(const std::vector<OutFolder>& folders) {
  OutFolder joined;
  const OutFolder* with_transform = nullptr;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const OutFolder& folder = folders[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (folders[j].target != folder.target)
        return input_error("'{}' is for {}, and '{}' is for {}: one spec is for one target",
                           folders[j].name, folders[j].target, folder.name, folder.target);
      HONE_TRY(join_flags(joined, folders[j], folder));
    }
    if (i == 0) joined.flags = folder.flags;
    joined.target = folder.target;
    HONE_TRY(join_files(joined.kernels, folder.kernels, "kernel", folder.name));
    if (with_transform != nullptr && !folder.transform_spec.empty() &&
        with_transform->transform_spec != folder.transform_spec)
      return input_error(
          "'{}' and '{}' each have a transform spec ({}, {}), and iree-compile takes one; tune "
          "with both in one run",
          with_transform->name, folder.name, with_transform->transform_spec.begin()->first,
          folder.transform_spec.begin()->first);
    if (!folder.transform_spec.empty()) with_transform = &folder;
    HONE_TRY(join_files(joined.objects, folder.objects, "object", folder.name));
  }
  if (with_transform != nullptr) joined.transform_spec = with_transform->transform_spec;
  return joined;
}

std::vector<std::string> flags_of_some(const std::vector<OutFolder>& folders) {
  std::vector<std::string> some;
  for (const OutFolder& folder : folders)
    for (const std::string& flag : folder.flags)
      if (std::ranges::any_of(folders, [&](const OutFolder& other) {
            return std::ranges::count(other.flags, flag) == 0;
          }))
        some.push_back(fmt::format("{} ({})", flag, folder.name));
  return some;
}

Status write_files(const OutFolder& joined, const std::string& spec, const fs::path& folder) {
  HONE_TRY(write_file_atomically(folder / kSpecName, spec));
  HONE_TRY(write_all(joined.kernels, folder / kKernelsName));
  HONE_TRY(write_all(joined.transform_spec, folder));
  return write_all(joined.objects, folder);
}

std::vector<std::string> transform_flags(const OutFolder& joined, const fs::path& folder) {
  std::vector<std::string> flags;
  if (!joined.transform_spec.empty())
    flags.push_back(std::string(iree::kTransformSpecFlag) +
                    (folder / joined.transform_spec.begin()->first).string());
  if (!joined.objects.empty()) flags.push_back(std::string(kObjectsFlag) + folder.string());
  return flags;
}

}  // namespace hone::session
