#include "takt/capture/recording.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "lttng/session.hpp"
#include "ring/recorder.hpp"

namespace takt::capture {

namespace fs = std::filesystem;

namespace {

std::uint64_t size_of(const fs::path& directory) {
  std::uint64_t bytes = 0;
  std::error_code gone;  // the tracer may replace a file while we count
  for (auto entry = fs::recursive_directory_iterator(directory, gone);
       entry != fs::recursive_directory_iterator(); entry.increment(gone)) {
    if (gone) {
      break;
    }
    if (entry->is_regular_file(gone)) {
      const auto size = entry->file_size(gone);
      bytes += gone ? 0 : size;
    }
  }
  return bytes;
}

bool holds_a_trace(const fs::path& directory) {
  std::error_code failed;
  for (const auto& entry : fs::recursive_directory_iterator(directory, failed)) {
    if (entry.path().filename() == "metadata") {
      return true;
    }
  }
  return false;
}

/// Makes the directory that the trace is written to, and checks that its final name is free.
Result<fs::path> make_partial(const fs::path& output) {
  if (!output.has_filename()) {
    return error("{}: not a name for a trace's directory", output.string());
  }
  std::error_code failed;
  if (fs::exists(fs::symlink_status(output, failed))) {
    return error("{}: exists already; name another directory with -o, or remove it",
                 output.string());
  }
  fs::path partial = output;
  partial += ".partial";
  if (!fs::create_directory(partial, failed)) {
    if (!failed) {
      return error("{}: left by an interrupted recording; move or remove it", partial.string());
    }
    return error("{}: cannot be created: {}", partial.string(), failed.message());
  }
  return fs::absolute(partial);
}

Result<std::unique_ptr<Backend>> start_backend(const fs::path& directory, const Options& options) {
  switch (options.tracer) {
    case Tracer::lttng:
      return lttng::Session::start(directory, options);
    case Tracer::ring:
      return ring::Recorder::start(directory, options);
  }
  return error("no such tracer");
}

}  // namespace

Recording::Recording(fs::path output, fs::path partial, std::unique_ptr<Backend> backend)
    : output_(std::move(output)), partial_(std::move(partial)), backend_(std::move(backend)) {}

Result<Recording> Recording::start(const Options& options) {
  auto partial = make_partial(options.output);
  if (!partial) {
    return tl::unexpected(partial.error());
  }
  auto backend = start_backend(*partial, options);
  if (!backend) {
    std::error_code kept;
    fs::remove_all(*partial, kept);
    return tl::unexpected(backend.error());
  }
  return Recording(options.output, std::move(*partial), std::move(*backend));
}

std::map<std::string, std::string> Recording::environment() const {
  return backend_ ? backend_->environment() : std::map<std::string, std::string>{};
}

Result<Status> Recording::status() {
  if (!backend_) {
    return error("the recording has ended");
  }
  return backend_->losses().map([&](const Losses& losses) {
    return Status{size_of(partial_), losses};
  });
}

Result<Status> Recording::stop() {
  if (!backend_) {
    return error("the recording has ended");
  }
  const auto losses = backend_->stop();
  backend_.reset();
  if (!losses) {
    return error("{}; what was recorded is in {}", losses.error().message, partial_.string());
  }
  if (!holds_a_trace(partial_)) {
    discard();
    return error(
        "nothing was recorded: no process with ROS 2's tracepoints ran; record a ROS 2 program, or "
        "start it with 'takt record -- COMMAND'");
  }
  if (renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, output_.c_str(), RENAME_NOREPLACE) != 0) {
    return error("{}: cannot be given its name: {}; the trace is in {}", output_.string(),
                 std::strerror(errno), partial_.string());
  }
  return Status{size_of(output_), *losses};
}

void Recording::discard() {
  backend_.reset();
  std::error_code kept;
  fs::remove_all(partial_, kept);
}

}  // namespace takt::capture
