#include "takt/capture/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#ifdef TAKT_WITH_EBPF
#include "ebpf/recorder.hpp"
#endif
#include "census.hpp"
#include "descriptors.hpp"
#include "lttng/session.hpp"
#include "ring/recorder.hpp"
#include "selection_trace.hpp"
#include "takt/base/stream_sizes.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/ring/selection_text.hpp"
#include "takt/ctf/storage.hpp"
#include "without_probes.hpp"

namespace takt::capture {

namespace fs = std::filesystem;

namespace {

/// Calls `use` with all that is below a directory now; the tracer may replace files meanwhile.
template <typename Use>
void for_each_entry(const fs::path& directory, const Use& use) {
  std::error_code gone;
  for (auto entry = fs::recursive_directory_iterator(directory, gone);
       !gone && entry != fs::recursive_directory_iterator(); entry.increment(gone)) {
    use(*entry);
  }
}

std::uint64_t size_of(const fs::path& directory) {
  std::uint64_t bytes = 0;
  for_each_entry(directory, [&](const fs::directory_entry& entry) {
    std::error_code gone;
    if (entry.is_regular_file(gone)) {
      const auto size = entry.file_size(gone);
      bytes += gone ? 0 : size;
    }
  });
  return bytes;
}

bool holds_a_trace(const fs::path& directory) {
  bool found = false;
  for_each_entry(directory, [&](const fs::directory_entry& entry) {
    found = found || entry.path().filename() == "metadata";
  });
  return found;
}

Result<void> check_that_it_holds_a_trace(const fs::path& directory) {
  if (!holds_a_trace(directory)) {
    return error(
        "nothing was recorded: no process with ROS 2's tracepoints ran; record a ROS 2 program, or "
        "start it with 'takt record -- COMMAND'");
  }
  return {};
}

/// Gives a directory a name that is free; false if it is not, or for another reason, see errno.
bool rename_to_free_name(const fs::path& directory, const fs::path& name) {
  if (renameat2(AT_FDCWD, directory.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  if (errno != EINVAL) {
    return false;
  }
  // The file system, such as NFS, cannot check the name itself.
  std::error_code unknown;
  if (fs::exists(fs::symlink_status(name, unknown))) {
    errno = EEXIST;
    return false;
  }
  return std::rename(directory.c_str(), name.c_str()) == 0;
}

/// Gives a complete trace its name.
Result<void> complete(const fs::path& partial, const fs::path& output) {
  if (!rename_to_free_name(partial, output)) {
    return error("{}: cannot be given its name: {}; the trace is in {}", output.string(),
                 std::strerror(errno), partial.string());
  }
  return {};
}

/// Lists the stream files of a recording that has ended, whose copies may lack some.
Result<void> list_streams(const fs::path& directory) {
  StreamSizes sizes;
  for_each_entry(directory, [&](const fs::directory_entry& entry) {
    const fs::path& file = entry.path();
    std::error_code gone;
    const auto size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
    if (!gone && size != 0 && file.filename() != "metadata" &&
        fs::exists(file.parent_path() / "metadata", gone)) {
      sizes.emplace(file.lexically_relative(directory), size);
    }
  });
  const fs::path unfinished = fmt::format(".{}", stream_sizes_file);
  const std::string text = stream_sizes_text(sizes);
  ctf::Files files(directory);
  if (!files.append(unfinished, std::as_bytes(std::span(text)), ctf::Kept::with_their_trace)) {
    return files.written();
  }
  std::error_code failed;
  const fs::path list = directory / stream_sizes_file;
  fs::rename(directory / unfinished, list, failed);
  if (failed) {
    return error("{}: cannot be written: {}", list.string(), failed.message());
  }
  return {};
}

/// Where a trace is written to, and its final place, wherever this process goes meanwhile.
struct Partial {
  fs::path path;
  fs::path output;
  Descriptor lock;  // held while the recording goes on
};

/// Makes the directory that the trace is written to, and checks that its final name is free.
Result<Partial> make_partial(const fs::path& output) {
  if (!output.has_filename()) {
    return error("{}: not a name for a trace's directory", output.string());
  }
  std::error_code failed;
  if (fs::exists(fs::symlink_status(output, failed))) {
    return error("{}: exists already; name another directory with -o, or remove it",
                 output.string());
  }
  // LTTng takes no path with "..", and the parent may be a link.
  fs::path place = fs::absolute(output, failed);
  if (!failed) place = fs::weakly_canonical(place.parent_path(), failed) / place.filename();
  if (failed) {
    return error("{}: cannot be found: {}", output.string(), failed.message());
  }
  fs::path partial = output;
  partial += ".partial";
  const bool made = fs::create_directory(partial, failed);
  if (!made && failed) {
    return error("{}: cannot be created: {}", partial.string(), failed.message());
  }
  Descriptor directory(open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const bool locked = directory && flock(directory.get(), LOCK_EX | LOCK_NB) == 0;
  if (!made && directory && !locked && errno == EWOULDBLOCK) {
    return error("{}: another recorder writes to it; name another directory with -o",
                 partial.string());
  }
  if (!made) {
    return error("{}: left by an interrupted recording; move or remove it", partial.string());
  }
  return Partial{fs::path(place) += ".partial", place, std::move(directory)};
}

/// Bytes that a user may still write to the disk that a directory is on.
std::uint64_t free_space(const fs::path& directory) {
  std::error_code unknown;
  const auto space = fs::space(directory, unknown);
  return unknown ? UINT64_MAX : space.available;
}

/// Records with probes in the kernel: the calls of tracing functions, if asked to, and the
/// scheduler's events, if the options say so.
Result<std::unique_ptr<Backend>> start_probes(ctf::Storage& storage, const Options& options,
                                              bool calls) {
#ifdef TAKT_WITH_EBPF
  auto traces = TAKT_TRY(ebpf::traces_in(storage, options.kernel));
  return ebpf::Recorder::start(std::move(traces), options, calls);
#else
  static_cast<void>(storage), static_cast<void>(options), static_cast<void>(calls);
  return error("{}", without_probes);
#endif
}

Result<void> check_selection(const Options& options) {
  if (options.selection.is_everything()) {
    return {};
  }
  if (options.tracer == Tracer::ebpf) {
    return error(
        "--include, --exclude: not with --backend ebpf, whose probes see no names; record with "
        "--backend ring or lttng");
  }
  if (options.tracer == Tracer::lttng && !options.only_started) {
    return error(
        "--include, --exclude: with --backend lttng only for a command ('takt record -- COMMAND'); "
        "for what runs, record with --backend ring");
  }
  if (ring::selection_text(options.selection).size() > ring::patterns_limit) {
    return error("--include, --exclude: the patterns are longer than {} bytes together",
                 ring::patterns_limit);
  }
  return {};
}

Result<std::unique_ptr<Backend>> start_tracer(const fs::path& directory, ctf::Storage& storage,
                                              const Options& options) {
  switch (options.tracer) {
    case Tracer::lttng:
      return lttng::Session::start(directory, storage, options);
    case Tracer::ring:
      return ring::Recorder::start(storage, options);
    case Tracer::ebpf:
      return start_probes(storage, options, true);
  }
  return error("no such tracer");
}

Result<std::vector<std::unique_ptr<Backend>>> start_backends(const fs::path& directory,
                                                             ctf::Storage& storage,
                                                             const Options& options) {
  std::vector<std::unique_ptr<Backend>> backends;
  if (options.kernel && options.tracer != Tracer::ebpf) {
    auto probes = TAKT_TRY(start_probes(storage, options, false));
    backends.push_back(std::move(probes));
  }
  auto tracer = TAKT_TRY(start_tracer(directory, storage, options));
  backends.push_back(std::move(tracer));
  return backends;
}

}  // namespace

std::string_view to_string(Tracer tracer) {
  switch (tracer) {
    case Tracer::lttng:
      return "lttng";
    case Tracer::ring:
      return "ring";
    case Tracer::ebpf:
      return "ebpf";
  }
  return "";
}

Result<Tracer> tracer_named(std::string_view name) {
  for (const Tracer tracer : {Tracer::lttng, Tracer::ring, Tracer::ebpf}) {
    if (name == to_string(tracer)) return tracer;
  }
  return error("'{}' is not a tracer; expected lttng, ring or ebpf", name);
}

Losses operator+(Losses a, const Losses& b) {
  a.discarded_events += b.discarded_events;
  a.lost_packets += b.lost_packets;
  a.malformed_events += b.malformed_events;
  a.unrecorded_processes += b.unrecorded_processes;
  a.late_processes += b.late_processes;
  return a;
}

Recording::Recording() = default;
Recording::Recording(Recording&&) noexcept = default;
Recording::~Recording() = default;

Result<Recording> Recording::start(const Options& options) {
  TAKT_TRY(check_selection(options));
  Recording recording;
  if (!options.only_started) {  // otherwise the command would have this limit, too
    raise_descriptor_limit();
  }
  if (options.snapshot) {
    auto newest = std::make_unique<ctf::Newest>(options.snapshot_size);
    recording.newest_ = newest.get();
    recording.storage_ = std::move(newest);
  } else {
    auto partial = TAKT_TRY(make_partial(options.output));
    recording.output_ = std::move(partial.output);
    recording.partial_ = std::move(partial.path);
    recording.lock_ = std::move(partial.lock);
    auto files = std::make_unique<ctf::Files>(recording.partial_);
    recording.files_ = files.get();
    recording.storage_ = std::move(files);
  }
  auto backends = start_backends(recording.partial_, *recording.storage_, options);
  if (!backends) {
    recording.discard();
    return tl::unexpected(backends.error());
  }
  recording.backends_ = std::move(*backends);
  recording.census_ =
      std::make_unique<Census>(options.tracer, options.only_started,
                               [tracer = recording.backends_.back().get()](pid_t process) {
                                 return tracer->records(process);
                               });
  recording.selection_ = std::make_unique<SelectionTrace>(options.selection);
  if (auto failure = recording.failure(); !failure.empty()) {
    recording.discard();
    return error("{}", failure);
  }
  return recording;
}

std::map<std::string, std::string> Recording::environment() const {
  std::map<std::string, std::string> all;
  for (const auto& backend : backends_) {
    all.merge(backend->environment());
  }
  return all;
}

Result<Losses> Recording::losses() {
  if (backends_.empty()) {
    return error("the recording has ended");
  }
  Result<Losses> all;
  for (const auto& backend : backends_) {
    all = all.and_then([&](const Losses& sum) {
      return backend->losses().map([&](const Losses& losses) { return sum + losses; });
    });
  }
  if (all && newest_ != nullptr) all->lost_packets += newest_->lost_packets();
  if (all) all->unrecorded_processes += census_->found().size();
  return all;
}

std::string Recording::failure() {
  if (files_ == nullptr) {
    return {};
  }
  std::uint64_t needed = 0;
  for (const auto& backend : backends_) {
    needed = std::max(needed, backend->needed_space());
  }
  if (const auto left = free_space(partial_); left < needed) {
    files_->fail(Error{fmt::format(
        "{}: the disk is full: {} MiB are free, and LTTng needs {} MiB to lose nothing unseen",
        partial_.string(), left >> 20, needed >> 20)});
  }
  const auto written = files_->written();
  return written ? "" : written.error().message;
}

Result<void> Recording::write_remarks() {
  return census_->write(*storage_).and_then([&] { return selection_->write(*storage_); });
}

Result<Status> Recording::status() {
  // At once, as a recording whose recorder is killed is to say it, too.
  if (files_ != nullptr && holds_a_trace(partial_)) {
    if (auto written = selection_->write(*storage_); !written) files_->fail(written.error());
  }
  return losses().map([&](const Losses& losses) {
    return Status{partial_.empty() ? 0 : size_of(partial_), losses, failure(), {}};
  });
}

Result<Status> Recording::snapshot(const fs::path& output) {
  if (newest_ == nullptr) {
    return error("not a snapshot recording");
  }
  auto partial = TAKT_TRY(make_partial(output));
  Result<void> written;
  for (const auto& backend : backends_) {
    written = written.and_then([&] { return backend->hand_over(partial.path); });
  }
  Result<Losses> lost;
  written = written.and_then([&] { return write_remarks(); })
                .and_then([&] { return newest_->write(partial.path); })
                .and_then([&] {
                  lost = losses();  // with those that the hand-over found
                  return lost.map([](const Losses&) {});
                })
                .and_then([&] { return check_that_it_holds_a_trace(partial.path); })
                .and_then([&] { return list_streams(partial.path); });
  if (!written) {
    std::error_code kept;
    fs::remove_all(partial.path, kept);
    return tl::unexpected(written.error());
  }
  return complete(partial.path, partial.output).map([&] {
    return Status{size_of(partial.output), *lost, {}, {}};
  });
}

Result<Status> Recording::stop() {
  if (backends_.empty()) {
    return error("the recording has ended");
  }
  Result<Losses> all;
  for (const auto& backend : backends_) {
    const auto losses = backend->stop();  // each is to end, whatever happened to the others
    all = all.and_then([&](const Losses& sum) {
      return losses.map([&](const Losses& more) { return sum + more; });
    });
  }
  census_->close();
  const auto unrecorded = census_->found();
  if (all) all->unrecorded_processes += unrecorded.size();
  if (files_ != nullptr && holds_a_trace(partial_)) {
    const auto written = write_remarks().and_then([&] { return list_streams(partial_); });
    if (!written) files_->fail(written.error());
  }
  const auto failed = failure();
  backends_.clear();
  if (!all) {
    return error("{}; what was recorded is in {}", all.error().message, partial_.string());
  }
  if (partial_.empty()) {
    return Status{0, *all, {}, unrecorded};
  }
  if (!holds_a_trace(partial_)) {
    discard();
    return Status{0, *all, failed, unrecorded};
  }
  if (!failed.empty()) {
    return Status{size_of(partial_), *all, failed, unrecorded};
  }
  return complete(partial_, output_).map([&] {
    return Status{size_of(output_), *all, {}, unrecorded};
  });
}

void Recording::discard() {
  if (census_) census_->close();
  backends_.clear();
  std::error_code kept;
  if (!partial_.empty()) {
    fs::remove_all(partial_, kept);
  }
}

}  // namespace takt::capture
