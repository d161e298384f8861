#include "process_trace.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "../process.hpp"

namespace takt::capture::ring {

namespace {

// A broken process could name ever new threads; each has a file.
constexpr std::size_t stream_limit = 4096;

}  // namespace

ProcessTrace::ProcessTrace(pid_t process, std::unique_ptr<Reader> reader,
                           std::filesystem::path directory, std::uint64_t events)
    : process_(process),
      life_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
      reader_(std::move(reader)),
      directory_(std::move(directory)),
      events_(events) {}

Result<void> ProcessTrace::drain() {
  // At most one ring's worth, so that a process that writes without end does not stop the others.
  for (std::uint64_t count = 0; count < slot_count; ++count) {
    const auto event = reader_->next();
    if (!event) {
      break;
    }
    auto writer = thread(event->thread, event->thread_entry);
    if (!writer) {
      return tl::unexpected(writer.error());
    }
    if (*writer == nullptr) {
      ++without_stream_;
      continue;
    }
    (*writer)->stream->append(event->time, event->number, (*writer)->contexts, event->payload);
  }
  return {};
}

Result<void> ProcessTrace::flush() {
  // A thread that lost all its events has no stream yet, and must not be forgotten.
  for (std::size_t entry = 0; entry <= thread_count; ++entry) {
    if (const auto dropped = reader_->dropped(entry); dropped != 0) {
      auto writer = thread(reader_->thread_id(entry), entry);
      if (!writer) {
        return tl::unexpected(writer.error());
      }
      if (*writer != nullptr) {
        (*writer)->stream->set_discarded(dropped);
      }
    }
  }
  for (auto& [id, writer] : threads_) {
    if (auto written = writer.stream->flush(); !written) {
      return written;
    }
  }
  return {};
}

Result<void> ProcessTrace::drain_remains() {
  Result<void> written;
  do {
    written = drain();
  } while (written && (reader_->complete() || reader_->pass_incomplete()));
  return written;
}

bool ProcessTrace::has_ended() const {
  pollfd life{life_.get(), POLLIN, 0};
  return !life_ || poll(&life, 1, 0) > 0;
}

Losses ProcessTrace::losses() const {
  Losses losses;
  losses.malformed_events = reader_->malformed() + without_stream_;
  for (std::size_t entry = 0; entry <= thread_count; ++entry) {
    losses.discarded_events += reader_->dropped(entry);
  }
  return losses;
}

Result<ProcessTrace::Thread*> ProcessTrace::thread(std::uint32_t id, std::size_t entry) {
  if (const auto known = threads_.find(id); known != threads_.end()) {
    return &known->second;
  }
  if (threads_.size() >= stream_limit) {
    return nullptr;
  }
  if (!trace_) {
    auto trace = ctf::Trace::create(
        directory_, ctf::describe_process(
                        "takt-ring", process_, program_of(process_),
                        ctf::event_classes(events_ & reader_->available(), reader_->gid_size())));
    if (!trace) {
      return tl::unexpected(trace.error());
    }
    trace_ = std::move(*trace);
  }
  Thread thread{trace_->open_stream(fmt::format("thread_{}", id)),
                ctf::contexts(process_, id, reader_->thread_name(entry)), entry};
  return &threads_.emplace(id, std::move(thread)).first->second;
}

}  // namespace takt::capture::ring
