#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "fingerprint.hpp"
#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"

namespace takt::events {

/// Whether a file is not there; after any other failure that cannot be told.
[[nodiscard]] bool is_absent(const std::error_code& code);

/// Calls `look_into` with `root` and all directories below it, until it returns an error. Does not
/// follow symbolic links. `name` is what messages call the root. Error: what is there cannot be
/// told.
[[nodiscard]] Result<void> for_each_directory(
    const std::filesystem::path& root, const std::string& name,
    const std::function<Result<void>(const std::filesystem::path&)>& look_into);

/// The directories at or below `root` that hold a CTF trace (a file named "metadata"), sorted.
/// Those where it is empty only if there are no others.
[[nodiscard]] Result<std::vector<std::filesystem::path>> find_traces(
    const std::filesystem::path& root, const std::string& name);

/// The files of a trace directory that hold packets, sorted. Error: what is there cannot be told.
[[nodiscard]] Result<std::vector<std::filesystem::path>> stream_files(
    const std::filesystem::path& directory);

/// Counts as unreadable what lies at or below `root` in files that begin as CTF packets do and have
/// no metadata beside them, or empty ones, so that nobody knows what is in them.
[[nodiscard]] Result<StreamLosses> without_metadata(const std::filesystem::path& root);

/// The traces in `directories`, at or below `root`, under the name the user gave. Error: a file
/// cannot be read.
[[nodiscard]] Result<Input> describe(const std::string& name, const std::filesystem::path& root,
                                     const std::vector<std::filesystem::path>& directories);

/// Shows whether traces are the same (Input::fingerprint). It covers the metadata of the
/// directories and the stream files, which the caller adds in the order of the directories and of
/// stream_files().
class Fingerprint {
 public:
  /// Error: metadata cannot be read.
  [[nodiscard]] static Result<Fingerprint> of(
      const std::vector<std::filesystem::path>& directories);

  /// `content`: ContentHash::value() of the file's bytes.
  void add(const std::string& file, std::uint64_t content);
  [[nodiscard]] std::string hex() const { return hash_.hex(); }

 private:
  Fingerprint() = default;
  ContentHash hash_;
};

/// The fingerprint of the traces in `directories`. Error: one of their files cannot be read.
/// O(bytes of the traces).
[[nodiscard]] Result<std::string> fingerprint_of(
    const std::vector<std::filesystem::path>& directories);

/// The traces that a user gave by one path.
struct Given {
  Input input;
  std::vector<std::filesystem::path> directories;
  /// The stream files that are known to be shorter than they were, and for which it is counted.
  std::set<std::filesystem::path> shorter;
};

/// The text of the metadata of a trace's directory. Errors: cannot be read, damaged packets.
[[nodiscard]] Result<std::string> read_metadata(const std::filesystem::path& directory);

}  // namespace takt::events
