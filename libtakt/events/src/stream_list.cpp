#include "stream_list.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <system_error>

#include "layout.hpp"
#include "mapped_file.hpp"
#include "takt/base/stream_sizes.hpp"
#include "takt/base/try.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

/// Streams of a folder that is not there.
struct MissingFolder {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

void add_fault(Lacking& lacking, std::uint64_t bytes, std::string fault) {
  StreamLosses losses;
  losses.unreadable_bytes = bytes;
  losses.faults.push_back(std::move(fault));
  lacking.losses += losses;
}

/// How many bytes of a stream file are there; 0 if it is missing.
Result<std::uint64_t> present_size(const fs::path& file) {
  std::error_code code;
  const std::uint64_t size = fs::file_size(file, code);
  if (code && !is_absent(code)) {
    return error("{}: cannot be read: {}", file.string(), code.message());
  }
  return code ? 0 : size;
}

bool has_index(const fs::path& file) {
  std::error_code unknown;
  return fs::exists(file.parent_path() / "index" / (file.filename().native() + ".idx"), unknown);
}

Result<void> compare(const fs::path& recording, const StreamSizes& sizes, Lacking& lacking) {
  std::map<fs::path, MissingFolder> folders;
  for (const auto& [name, bytes] : sizes) {
    const fs::path file = recording / name;
    const std::uint64_t size = TAKT_TRY(present_size(file));
    if (size >= bytes || has_index(file)) continue;
    lacking.shorter.insert(file);
    std::error_code absent;
    if (!fs::exists(file.parent_path(), absent)) {
      MissingFolder& folder = folders[name.parent_path()];
      ++folder.files;
      folder.bytes += bytes;
      continue;
    }
    add_fault(
        lacking, bytes - size,
        fmt::format("{}: {} bytes that were recorded are not there: the file {}", name.string(),
                    bytes - size, fs::exists(file, absent) ? "ends before them" : "is missing"));
  }
  for (const auto& [name, folder] : folders) {
    add_fault(lacking, folder.bytes,
              fmt::format("{}: {} {} with {} bytes that were recorded are not there: the folder is "
                          "missing",
                          name.string(), folder.files, folder.files == 1 ? "file" : "files",
                          folder.bytes));
  }
  return {};
}

}  // namespace

Result<Lacking> listed_and_lacking(const fs::path& root) {
  Lacking lacking;
  const auto look_into = [&](const fs::path& directory) -> Result<void> {
    const fs::path list = directory / stream_sizes_file;
    std::error_code unknown;
    if (!fs::is_regular_file(fs::symlink_status(list, unknown))) return {};
    const auto file = TAKT_TRY(MappedFile::open(list));
    const auto sizes = parse_stream_sizes(
        {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
    if (sizes) return compare(directory, *sizes, lacking);
    add_fault(lacking, 0,
              fmt::format("{}: damaged: whether files are missing is not known",
                          list.lexically_relative(root).string()));
    return {};
  };
  TAKT_TRY(for_each_directory(root, root.string(), look_into));
  return lacking;
}

}  // namespace takt::events
