#include <cstring>
#include <functional>
#include <span>
#include <system_error>
#include <utility>

#include "archive.hpp"
#include "babeltrace_source.hpp"
#include "ctf_index.hpp"
#include "ctf_source.hpp"
#include "layout.hpp"
#include "stream_list.hpp"
#include "takt/base/isolated.hpp"
#include "takt/base/try.hpp"
#include "takt/events/event_stream.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

/// Why a path is no trace: `reason`, unless it is a bag of rosbag2, which another command reads.
Error refused(const fs::path& path, const Error& reason) {
  std::error_code code;
  const bool is_bag = fs::is_directory(path, code)
                          ? fs::exists(path / "metadata.yaml", code)
                          : fs::is_regular_file(path, code) &&
                                (path.extension() == ".mcap" || path.extension() == ".db3");
  if (!is_bag) {
    return reason;
  }
  return {fmt::format("{}: a bag of messages, not a trace: 'takt latency' reads it, given alone",
                      path.string())};
}

/// The directory to read for a path that a user gave; archives are unpacked into `unpacked`.
Result<fs::path> trace_root(const fs::path& path, const OpenOptions& options,
                            std::vector<TemporaryDirectory>& unpacked) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  const std::string name = path.string();
  if (!fs::exists(status) && name.starts_with("net") && name.find("://") != std::string::npos) {
    return error(
        "{}: a live LTTng session, which Takt does not read; record to disk, by 'lttng create "
        "--output=DIR' or 'takt record'",
        name);
  }
  if (!fs::exists(status)) {
    return error("{}: {}", path.string(), code ? code.message() : "no such file or directory");
  }
  if (fs::is_directory(status)) {
    return path;
  }
  if (!fs::is_regular_file(status)) {
    return error("{}: not a trace: neither a directory nor a file", path.string());
  }
  if (fs::file_size(path, code) == 0) {
    return error("{}: not a trace: the file is empty", path.string());
  }
  auto directory = TAKT_TRY(unpack(path, options.unpack_limit, options.waiting));
  unpacked.push_back(std::move(directory));
  return unpacked.back().path();
}

/// Reads the traces to their end with libbabeltrace2, in a process of its own: there is metadata on
/// which the library aborts or never returns. Returns the corrections of their clocks.
Result<ClockCorrections> try_with_babeltrace(const std::vector<fs::path>& directories,
                                             const std::string& name,
                                             const std::function<void()>& waiting) {
  std::uint64_t memory = std::uint64_t{1} << 30;
  for (const fs::path& directory : directories) {
    const auto files = TAKT_TRY(stream_files(directory));
    memory += files.size() << 24;  // the library maps a part of each
  }
  const auto given = isolated(
      [&directories](const Output& output) {
        const ClockCorrections corrections = clock_corrections(directories);
        Batch batch;
        const auto source = open_with_babeltrace(directories, corrections, {}, {});
        while (source && (*source)->read(batch)) {
        }
        output(std::as_bytes(std::span(corrections)));
      },
      {.memory = memory}, waiting);
  ClockCorrections corrections(directories.size());
  if (!given || given->size() != std::as_bytes(std::span(corrections)).size()) {
    return error("{}: damaged in a way that libbabeltrace2 does not survive", name);
  }
  std::memcpy(corrections.data(), given->data(), given->size());
  return corrections;
}

/// Opens traces with libbabeltrace2, if it can read them to their end.
Result<std::unique_ptr<EventStream>> open_after_trial(const std::vector<Given>& given,
                                                      std::vector<TemporaryDirectory> unpacked,
                                                      const std::function<void()>& waiting) {
  std::vector<fs::path> directories;
  std::vector<Input> inputs;
  for (const Given& traces : given) {
    directories.insert(directories.end(), traces.directories.begin(), traces.directories.end());
    inputs.push_back(traces.input);
    inputs.back().fingerprint = TAKT_TRY(fingerprint_of(traces.directories));
  }
  const auto corrections = TAKT_TRY(try_with_babeltrace(directories, inputs.front().path, waiting));
  return open_with_babeltrace(directories, corrections, std::move(inputs), std::move(unpacked));
}

Result<std::unique_ptr<EventStream>> open_with_a_decoder(const std::vector<Given>& given,
                                                         std::vector<TemporaryDirectory> unpacked,
                                                         const OpenOptions& options) {
  if (options.decoder == Decoder::babeltrace) {
    return open_after_trial(given, std::move(unpacked), options.waiting);
  }
  // Our own decoder maps the files, so what was unpacked may go as soon as it has opened them.
  bool is_beyond = false;
  auto source = open_ctf(given, options.foreign, is_beyond);
  if (source || !is_beyond || options.decoder == Decoder::own) {
    return source;
  }
  auto fallback = open_after_trial(given, std::move(unpacked), options.waiting);
  return fallback ? std::move(fallback) : std::move(source);
}

}  // namespace

Result<std::unique_ptr<EventStream>> open(std::span<const fs::path> paths,
                                          const OpenOptions& options) {
  if (paths.empty()) {
    return error("no trace given");
  }
  std::vector<TemporaryDirectory> unpacked;
  std::vector<Given> given;
  StreamLosses lost;
  for (const fs::path& path : paths) {
    const auto root = trace_root(path, options, unpacked);
    if (!root) {
      return tl::unexpected(refused(path, root.error()));
    }
    auto traces = find_traces(*root, path.string());
    if (!traces) {
      return tl::unexpected(refused(path, traces.error()));
    }
    auto input = TAKT_TRY(describe(path.string(), *root, *traces));
    const auto unknown = TAKT_TRY(without_metadata(*root));
    lost += unknown;
    auto lacking = TAKT_TRY(listed_and_lacking(*root));
    lost += lacking.losses;
    for (const fs::path& directory : *traces) {
      const auto missing = TAKT_TRY(ctf::listed_beyond_end(directory));
      lost += missing;
    }
    given.push_back({std::move(input), std::move(*traces), std::move(lacking.shorter)});
  }
  auto source = open_with_a_decoder(given, std::move(unpacked), options);
  if (source) {
    (*source)->add(lost);
  }
  return source;
}

}  // namespace takt::events
