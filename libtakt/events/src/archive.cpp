#include "archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include "takt/base/isolated.hpp"
#include "takt/base/try.hpp"
#include "takt/events/archived_files.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_size = std::size_t{256} << 10;
constexpr std::size_t max_entries = 1'000'000;

// Packing makes traces about ten times smaller, half-empty ones fifty times.
constexpr std::uint64_t largest_ratio = 256;
constexpr std::uint64_t least_limit = std::uint64_t{1} << 30;
// Enough for what the usual tools pack at their highest levels.
constexpr std::uint64_t unpacking_memory = std::uint64_t{512} << 20;

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

/// Why an archive could not be opened.
tl::unexpected<Error> refusal(const fs::path& path, archive* archive) {
  // libarchive's number for an unrecognised format; the name for it is not in its public header.
  constexpr int unrecognised_format = EILSEQ;
  const int code = archive_errno(archive);
  if (code == unrecognised_format) {
    return error("{}: not a trace: neither a CTF directory nor a tar archive of one",
                 path.string());
  }
  // A positive code is an error number of the system: the system refused.
  return error("{}: {}: {}", path.string(), code > 0 ? "cannot be read" : "damaged archive",
               archive_error_string(archive));
}

Result<Archive> open_archive(const fs::path& path) {
  Archive archive(archive_read_new(), &archive_read_free);
  archive_read_support_format_tar(archive.get());
  archive_read_support_format_zip(archive.get());
  archive_read_support_filter_gzip(archive.get());
  archive_read_support_filter_xz(archive.get());
  archive_read_support_filter_zstd(archive.get());
  archive_read_support_filter_bzip2(archive.get());
  if (archive_read_open_filename(archive.get(), path.c_str(), block_size) != ARCHIVE_OK) {
    return refusal(path, archive.get());
  }
  return archive;
}

/// Whether the entry lies below the target, whatever the archive says.
bool is_safe(const fs::path& name) {
  return !name.empty() && name.is_relative() &&
         std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
}

Result<void> copy_data(archive* archive, const fs::path& source, const fs::path& target,
                       std::uint64_t& budget) {
  std::ofstream file(target, std::ios::binary);
  const void* data = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  std::uint64_t reached = 0;
  int status = ARCHIVE_OK;
  while ((status = archive_read_data_block(archive, &data, &size, &offset)) == ARCHIVE_OK) {
    // Blocks may leave gaps, which become part of the file, and may overwrite others.
    const std::uint64_t end = static_cast<std::uint64_t>(std::max<la_int64_t>(offset, 0)) + size;
    const std::uint64_t taken = std::max<std::uint64_t>(size, end - std::min(end, reached));
    if (taken > budget) {
      return error("{}: unpacks to more than allowed; unpack it yourself and give the directory",
                   source.string());
    }
    budget -= taken;
    reached = std::max(reached, end);
    file.seekp(offset);
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    if (!file) {
      return error("{}: cannot be unpacked into {}: disk full? Set TMPDIR to a larger disk",
                   source.string(), target.parent_path().string());
    }
  }
  if (status != ARCHIVE_EOF) {
    return error("{}: damaged archive: {}", source.string(), archive_error_string(archive));
  }
  return {};
}

Result<void> unpack_entry(archive* archive, archive_entry* entry, const fs::path& source,
                          const fs::path& target, std::uint64_t& budget) {
  const char* const name = archive_entry_pathname(entry);
  const fs::path relative = name == nullptr ? fs::path() : fs::path(name);
  if (!is_safe(relative)) {
    return error("{}: refused: its entry '{}' lies outside of the archive", source.string(),
                 relative.string());
  }
  const auto type = archive_entry_filetype(entry);
  if (archive_entry_hardlink(entry) != nullptr || (type != AE_IFREG && type != AE_IFDIR)) {
    return error("{}: refused: its entry '{}' is neither a file nor a directory", source.string(),
                 relative.string());
  }
  const fs::path path = target / relative;
  std::error_code code;
  fs::create_directories(type == AE_IFDIR ? path : path.parent_path(), code);
  if (code) {
    return error("{}: cannot be unpacked into {}: {}", source.string(), target.string(),
                 code.message());
  }
  return type == AE_IFDIR ? Result<void>() : copy_data(archive, source, path, budget);
}

}  // namespace

Result<void> unpack_into(const fs::path& path, const fs::path& target, std::uint64_t budget) {
  auto archive = TAKT_TRY(open_archive(path));
  for (std::size_t count = 0;; ++count) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(archive.get(), &entry);
    if (status == ARCHIVE_EOF) {
      return {};
    }
    // No format was recognised, and no compression either, which only an archive would have.
    if (status != ARCHIVE_OK && archive_format(archive.get()) == 0 &&
        archive_filter_count(archive.get()) <= 1) {
      return error("{}: not a trace: neither a CTF directory nor a tar archive of one",
                   path.string());
    }
    if (status != ARCHIVE_OK || count == max_entries) {
      return error("{}: damaged archive: {}", path.string(),
                   status == ARCHIVE_OK ? "too many entries" : archive_error_string(archive.get()));
    }
    TAKT_TRY(unpack_entry(archive.get(), entry, path, target, budget));
  }
}

Result<TemporaryDirectory> unpack(const fs::path& path, std::uint64_t limit,
                                  const std::function<void()>& waiting) {
  auto directory = TAKT_TRY(TemporaryDirectory::create());
  TAKT_TRY(unpack_archive(path, directory.path(), limit, waiting));
  return directory;
}

Result<void> unpack_archive(const fs::path& path, const fs::path& directory, std::uint64_t limit,
                            const std::function<void()>& waiting) {
  std::error_code unknown;
  const std::uint64_t packed = fs::file_size(path, unknown);
  const std::uint64_t largest = std::max(least_limit, unknown ? 0 : packed * largest_ratio);
  const auto complaint = isolated(
      [&](const Output& output) {
        const auto done = unpack_into(path, directory, std::min(limit, largest));
        if (!done) {
          output(std::as_bytes(std::span(done.error().message)));
        }
      },
      {.memory = unpacking_memory, .output = std::size_t{64} << 10}, waiting);
  if (!complaint) {
    return error("{}: damaged archive: unpacking it takes more than {} MiB of memory",
                 path.string(), unpacking_memory >> 20);
  }
  if (!complaint->empty()) {
    return tl::unexpected(Error{*complaint});
  }
  return {};
}

std::vector<std::string> archived_files(const fs::path& path, const std::string& name,
                                        std::size_t depth, std::size_t most, std::size_t size,
                                        const std::function<void()>& waiting) {
  // Each content stands behind its length.
  const auto given = isolated(
      [&](const Output& output) {
        const auto archive = open_archive(path);
        archive_entry* entry = nullptr;
        std::size_t found = 0;
        for (std::size_t count = 0; archive && found < most && count < max_entries &&
                                    archive_read_next_header(archive->get(), &entry) == ARCHIVE_OK;
             ++count) {
          const char* const text = archive_entry_pathname(entry);
          const fs::path place = fs::path(text == nullptr ? "" : text).lexically_normal();
          const auto folders = static_cast<std::size_t>(std::distance(place.begin(), place.end()));
          if (archive_entry_filetype(entry) != AE_IFREG || place.filename() != name ||
              folders > depth + 1) {
            continue;
          }
          std::string content(size, '\0');
          const la_ssize_t length = archive_read_data(archive->get(), content.data(), size);
          if (length < 0) continue;
          content.resize(static_cast<std::size_t>(length));
          const std::uint64_t bytes = content.size();
          output(std::as_bytes(std::span(&bytes, 1)));
          output(std::as_bytes(std::span(content)));
          ++found;
        }
      },
      {.memory = unpacking_memory, .output = most * (size + sizeof(std::uint64_t))}, waiting);
  std::vector<std::string> contents;
  std::string_view rest = given ? std::string_view(*given) : std::string_view();
  std::uint64_t bytes = 0;
  while (rest.size() >= sizeof bytes) {
    std::memcpy(&bytes, rest.data(), sizeof bytes);
    rest.remove_prefix(sizeof bytes);
    contents.emplace_back(rest.substr(0, bytes));
    rest.remove_prefix(std::min<std::size_t>(bytes, rest.size()));
  }
  return contents;
}

}  // namespace takt::events
