#include <system_error>
#include <utility>

#include "archive.hpp"
#include "babeltrace_source.hpp"
#include "ctf_source.hpp"
#include "layout.hpp"
#include "takt/events/event_stream.hpp"
#include "trial.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

/// The directory to read for a path that a user gave; archives are unpacked into `unpacked`.
Result<fs::path> trace_root(const fs::path& path, const OpenOptions& options,
                            std::vector<TemporaryDirectory>& unpacked) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
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
  auto directory = unpack(path, options.unpack_limit, options.waiting);
  if (!directory) {
    return tl::unexpected(directory.error());
  }
  unpacked.push_back(std::move(*directory));
  return unpacked.back().path();
}

/// Opens traces with libbabeltrace2 after it has read them to the end once in a child process:
/// there is metadata on which it aborts, which must not end this process.
Result<std::unique_ptr<EventStream>> open_what_babeltrace_survives(
    const std::vector<Given>& given, std::vector<TemporaryDirectory> unpacked) {
  std::vector<fs::path> directories;
  std::vector<Input> inputs;
  for (const Given& traces : given) {
    directories.insert(directories.end(), traces.directories.begin(), traces.directories.end());
    inputs.push_back(traces.input);
    auto fingerprint = fingerprint_of(traces.directories);
    if (!fingerprint) {
      return tl::unexpected(fingerprint.error());
    }
    inputs.back().fingerprint = std::move(*fingerprint);
  }
  const bool survives = ends_well([&directories] {
    Batch batch;
    const auto source = open_with_babeltrace(directories, {}, {});
    while (source && (*source)->read(batch)) {
    }
  });
  if (!survives) {
    return error("{}: damaged in a way that libbabeltrace2 does not survive", inputs.front().path);
  }
  return open_with_babeltrace(directories, std::move(inputs), std::move(unpacked));
}

}  // namespace

Result<std::unique_ptr<EventStream>> open(std::span<const fs::path> paths,
                                          const OpenOptions& options) {
  if (paths.empty()) {
    return error("no trace given");
  }
  std::vector<TemporaryDirectory> unpacked;
  std::vector<Given> given;
  for (const fs::path& path : paths) {
    const auto root = trace_root(path, options, unpacked);
    if (!root) {
      return tl::unexpected(root.error());
    }
    auto traces = find_traces(*root, path.string());
    if (!traces) {
      return tl::unexpected(traces.error());
    }
    auto input = describe(path.string(), *traces);
    if (!input) {
      return tl::unexpected(input.error());
    }
    given.push_back({std::move(*input), std::move(*traces)});
  }
  if (options.decoder == Decoder::babeltrace) {
    return open_what_babeltrace_survives(given, std::move(unpacked));
  }
  // Our own decoder maps the files, so what was unpacked may go as soon as it has opened them.
  auto source = open_ctf(given);
  if (source || options.decoder == Decoder::own) {
    return source;
  }
  auto fallback = open_what_babeltrace_survives(given, std::move(unpacked));
  return fallback ? std::move(fallback) : std::move(source);
}

}  // namespace takt::events
