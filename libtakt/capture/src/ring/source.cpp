#include "source.hpp"

#include <algorithm>
#include <utility>

namespace takt::capture::ring {

Result<std::unique_ptr<Source>> Source::create(pid_t process, std::unique_ptr<Reader> reader,
                                               ctf::Storage& storage,
                                               const std::filesystem::path& directory,
                                               std::uint64_t events) {
  return ProcessTrace::create(storage, directory, "takt-ring", process,
                              events & reader->available(), reader->gid_size())
      .map([&](std::unique_ptr<ProcessTrace> trace) {
        return std::unique_ptr<Source>(
            new Source(process, std::move(reader), std::move(trace), events));
      });
}

Source::Source(pid_t process, std::unique_ptr<Reader> reader, std::unique_ptr<ProcessTrace> trace,
               std::uint64_t events)
    : life_(process),
      reader_(std::move(reader)),
      trace_(std::move(trace)),
      events_(events),
      start_(reader_->start()) {}

void Source::drain_objects() {
  while (const auto event = reader_->next_object()) {
    if ((events_ >> event->number & 1) != 0) {
      trace_->append_object(std::max(event->time, start_), event->thread, event->thread_name,
                            event->number, event->payload);
    }
  }
}

bool Source::pass_on() {
  const auto event = reader_->next();
  if (event && !trace_->append(event->time, event->thread, event->thread_name, event->number,
                               event->payload)) {
    ++without_stream_;
  }
  return event.has_value();
}

void Source::drain() {
  drain_objects();
  while (pass_on()) {
  }
}

void Source::drain_remains() {
  drain_objects();
  while (pass_on() || reader_->pass_incomplete()) {
  }
}

void Source::flush() {
  // A thread that lost all its events has no stream yet, and must not be forgotten.
  for (std::size_t entry = 0; entry <= thread_count; ++entry) {
    if (const auto dropped = reader_->dropped(entry); dropped != 0) {
      trace_->set_discarded(reader_->thread_id(entry), reader_->thread_name(entry), dropped);
    }
  }
  trace_->set_discarded_objects(reader_->dropped_objects() + malformed());
  trace_->flush();
}

Losses Source::losses() const {
  Losses losses;
  losses.malformed_events = malformed();
  losses.discarded_events =
      reader_->dropped_objects() + reader_->dropped_by_all() + trace_->unwritten();
  return losses;
}

}  // namespace takt::capture::ring
