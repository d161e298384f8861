#include "layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "ctf_metadata.hpp"
#include "ctf_stream.hpp"
#include "mapped_file.hpp"
#include "takt/base/try.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

constexpr int max_depth = 16;  // LTTng's deepest layout has 8

bool begins_with_a_packet(std::span<const std::uint8_t> bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() < sizeof magic) {
    return false;
  }
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == ctf::packet_magic || __builtin_bswap32(magic) == ctf::packet_magic;
}

/// What there is of a trace's metadata in a directory.
enum class Metadata { none, empty, some };
/// `code`: it cannot be told.
Metadata metadata_in(const fs::path& directory, std::error_code& code) {
  const fs::path file = directory / "metadata";
  const bool is_there = fs::is_regular_file(file, code);
  const bool is_empty = is_there && fs::file_size(file, code) == 0;
  if (is_absent(code)) {
    code.clear();
  }
  return !is_there ? Metadata::none : is_empty ? Metadata::empty : Metadata::some;
}

}  // namespace

bool is_absent(const std::error_code& code) {
  return code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory;
}

Result<void> for_each_directory(const fs::path& root, const std::string& name,
                                const std::function<Result<void>(const fs::path&)>& look_into) {
  TAKT_TRY(look_into(root));
  std::error_code code;
  fs::recursive_directory_iterator entry(root, fs::directory_options::none, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    if (entry.depth() >= max_depth) {
      entry.disable_recursion_pending();
    }
    std::error_code unreadable;
    if (fs::is_directory(entry->symlink_status(unreadable))) {
      TAKT_TRY(look_into(entry->path()));
    }
    if (unreadable && !is_absent(unreadable)) {
      code = unreadable;
      break;
    }
  }
  if (code) {
    return error("{}: cannot be read: {}", name, code.message());
  }
  return {};
}

Result<std::vector<fs::path>> find_traces(const fs::path& root, const std::string& name) {
  std::vector<fs::path> found;
  std::vector<fs::path> empty;  // a recorder or a copy ended as it began to write them
  const auto look_into = [&](const fs::path& directory) -> Result<void> {
    std::error_code unreadable;
    const Metadata there = metadata_in(directory, unreadable);
    if (unreadable) {
      return error("{}: cannot be read: {}", name, unreadable.message());
    }
    if (there != Metadata::none) (there == Metadata::some ? found : empty).push_back(directory);
    return {};
  };
  TAKT_TRY(for_each_directory(root, name, look_into));
  if (found.empty()) found = std::move(empty);
  if (found.empty()) {
    return error(
        "{}: not a trace: no file named 'metadata' in it or below; give the directory that was "
        "recorded (an empty recording has none)",
        name);
  }
  std::ranges::sort(found);
  return found;
}

Result<StreamLosses> without_metadata(const fs::path& root) {
  StreamLosses losses;
  const auto look_into = [&](const fs::path& directory) -> Result<void> {
    std::error_code unreadable;
    if (metadata_in(directory, unreadable) == Metadata::some) return {};
    if (unreadable) {
      return error("{}: cannot be read: {}", directory.string(), unreadable.message());
    }
    const auto files = TAKT_TRY(stream_files(directory));
    for (const fs::path& file : files) {
      const auto content = TAKT_TRY(MappedFile::open(file));
      if (!begins_with_a_packet(content.bytes())) {
        continue;
      }
      const std::uint64_t size = content.bytes().size();
      losses.unreadable_bytes += size;
      if (losses.faults.size() < StreamLosses::max_faults) {
        losses.faults.push_back(fmt::format("{}: {} bytes of events without metadata",
                                            file.lexically_relative(root).string(), size));
      }
    }
    return {};
  };
  TAKT_TRY(for_each_directory(root, root.string(), look_into));
  return losses;
}

Result<std::vector<fs::path>> stream_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator entry(directory, code); !code && entry != fs::directory_iterator();
       entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (name == "metadata" || name.starts_with('.')) {
      continue;
    }
    std::error_code unreadable;
    if (entry->is_regular_file(unreadable)) {
      files.push_back(entry->path());
    } else if (unreadable && !is_absent(unreadable)) {
      return error("{}: cannot be read: {}", entry->path().string(), unreadable.message());
    }
  }
  if (code) {
    return error("{}: cannot be read: {}", directory.string(), code.message());
  }
  std::ranges::sort(files);
  return files;
}

Result<Input> describe(const std::string& name, const fs::path& root,
                       const std::vector<fs::path>& directories) {
  const auto is_partial = [](const fs::path& part) { return part.extension() == ".partial"; };
  Input input{.path = name, .is_partial = is_partial((fs::path(name) / "").parent_path())};
  for (const fs::path& directory : directories) {
    input.is_partial |= std::ranges::any_of(directory.lexically_relative(root), is_partial);
    const auto files = TAKT_TRY(stream_files(directory));
    for (const fs::path& file : files) {
      std::error_code code;
      const std::uint64_t size = fs::file_size(file, code);
      if (code) {
        return error("{}: cannot be read: {}", file.string(), code.message());
      }
      input.bytes += size;
    }
  }
  return input;
}

Result<Fingerprint> Fingerprint::of(const std::vector<fs::path>& directories) {
  Fingerprint fingerprint;
  for (const fs::path& directory : directories) {
    const auto metadata = TAKT_TRY(MappedFile::open(directory / "metadata"));
    fingerprint.hash_.add(metadata.bytes());
  }
  return fingerprint;
}

void Fingerprint::add(const std::string& file, std::uint64_t content) {
  events::add(hash_, fmt::format("{}:{:016x};", file, content));
}

Result<std::string> fingerprint_of(const std::vector<fs::path>& directories) {
  auto fingerprint = TAKT_TRY(Fingerprint::of(directories));
  for (const fs::path& directory : directories) {
    const auto files = TAKT_TRY(stream_files(directory));
    for (const fs::path& path : files) {
      const auto file = TAKT_TRY(MappedFile::open(path));
      ContentHash content;
      constexpr std::size_t piece = std::size_t{4} << 20;
      for (std::size_t begin = 0; begin < file.bytes().size(); begin += piece) {
        const auto bytes = file.bytes().subspan(begin);
        content.add(bytes.first(std::min(piece, bytes.size())));
        file.forget(begin, begin + piece);
      }
      fingerprint.add(path.filename().string(), content.value());
    }
  }
  return fingerprint.hex();
}

Result<std::string> read_metadata(const fs::path& directory) {
  const auto file = TAKT_TRY(MappedFile::open(directory / "metadata"));
  const auto bytes = file.bytes();
  auto text = ctf::metadata_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!text) {
    return error("{}: {}", directory.string(), text.error().message);
  }
  return text;
}

}  // namespace takt::events
