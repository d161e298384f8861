#include "process_trace.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "../process.hpp"

namespace takt::capture::ring {

namespace {

// A broken process could name ever new threads; each has a file.
constexpr std::size_t stream_limit = 4096;

}  // namespace

Result<std::unique_ptr<ProcessTrace>> ProcessTrace::create(pid_t process,
                                                           std::unique_ptr<Reader> reader,
                                                           const std::filesystem::path& directory,
                                                           std::uint64_t events) {
  return ctf::Trace::create(
             directory, ctf::describe_process(
                            "takt-ring", process, program_of(process),
                            ctf::event_classes(events & reader->available(), reader->gid_size())))
      .map([&](std::unique_ptr<ctf::Trace> trace) {
        return std::unique_ptr<ProcessTrace>(
            new ProcessTrace(process, std::move(reader), std::move(trace)));
      });
}

ProcessTrace::ProcessTrace(pid_t process, std::unique_ptr<Reader> reader,
                           std::unique_ptr<ctf::Trace> trace)
    : process_(process),
      life_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
      reader_(std::move(reader)),
      trace_(std::move(trace)) {}

void ProcessTrace::drain() {
  // At most one ring's worth, so that a process that writes without end does not stop the others.
  for (std::uint64_t count = 0; count < slot_count; ++count) {
    const auto event = reader_->next();
    if (!event) {
      return;
    }
    if (Thread* writer = thread(event->thread, event->thread_entry)) {
      writer->stream->append(event->time, event->number, writer->contexts, event->payload);
    } else {
      ++without_stream_;
    }
  }
}

Result<void> ProcessTrace::flush() {
  // A thread that lost all its events has no stream yet, and must not be forgotten.
  for (std::size_t entry = 0; entry <= thread_count; ++entry) {
    if (const auto dropped = reader_->dropped(entry); dropped != 0) {
      if (Thread* writer = thread(reader_->thread_id(entry), entry)) {
        writer->stream->set_discarded(dropped);
      }
    }
  }
  Result<void> written;
  for (auto& [id, writer] : threads_) {
    written = written.and_then([&] { return writer.stream->flush(); });
  }
  return written;
}

void ProcessTrace::drain_remains() {
  do {
    drain();
  } while (reader_->complete() || reader_->pass_incomplete());
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

ProcessTrace::Thread* ProcessTrace::thread(std::uint32_t id, std::size_t entry) {
  if (const auto known = threads_.find(id); known != threads_.end()) {
    return &known->second;
  }
  if (threads_.size() >= stream_limit) {
    return nullptr;
  }
  Thread thread{trace_->open_stream(fmt::format("thread_{}", id)),
                ctf::contexts(process_, id, reader_->thread_name(entry))};
  return &threads_.emplace(id, std::move(thread)).first->second;
}

}  // namespace takt::capture::ring
