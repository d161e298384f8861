#include "takt/execution/publication_tracker.hpp"

#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {

PublicationTracker::Open& PublicationTracker::open(ThreadIndex thread) {
  return grow_to(open_, thread);
}

void PublicationTracker::abandon(ThreadIndex thread) {
  Open& current = open(thread);
  if (current.active) {
    ++anomalies_.unfinished_publications;
    current.active = false;
  }
}

void PublicationTracker::rclcpp_publish(ThreadIndex thread, Instant time, std::uint64_t message) {
  abandon(thread);
  open(thread) = {true, message, time, false, std::nullopt};
}

void PublicationTracker::rcl_publish(ThreadIndex thread, Instant time, ProcessIndex process,
                                     std::uint64_t publisher, std::uint64_t message) {
  Open& current = open(thread);
  if (!current.active || current.in_rcl || current.message != message) {
    abandon(thread);
    current = {true, message, time, true, std::nullopt};
  }
  current.in_rcl = true;
  current.publisher = objects_.publisher(process, publisher);
}

void PublicationTracker::stamp(ThreadIndex thread, std::uint64_t rmw_publisher,
                               std::int64_t stamp) {
  grow_to(stamps_, thread) = {rmw_publisher, stamp};
}

std::optional<Publication> PublicationTracker::rmw_publish(ThreadIndex thread, Instant time,
                                                           ProcessIndex process,
                                                           std::uint64_t rmw_publisher,
                                                           std::uint64_t message,
                                                           std::int64_t source_timestamp) {
  Open& current = open(thread);
  const Stamp stamp = std::exchange(grow_to(stamps_, thread), {});
  const bool continues = current.active && current.in_rcl && current.message == message;
  std::optional<PublisherIndex> publisher = objects_.rmw_publisher(process, rmw_publisher);
  if (!publisher && continues) {
    publisher = current.publisher;
  }
  if (!publisher) {
    // Before Jazzy the event does not name the publisher. Then a message that rcl did not announce
    // is the middleware's own.
    const bool is_own =
        rmw_publisher == 0 || objects_.is_internal_publisher(process, rmw_publisher);
    if (continues || !is_own) {
      ++anomalies_.unknown_publications;
      current.active = current.active && !continues;
    }
    return std::nullopt;
  }
  Publication publication;
  publication.topic = objects_.objects()[*publisher].topic;
  publication.publisher = publisher;
  publication.thread = thread;
  publication.begin = continues ? current.begin : time;
  publication.sent = time;
  publication.source_timestamp = source_timestamp;
  if (stamp.rmw_publisher == rmw_publisher) publication.stamp = stamp.stamp;
  current.active = current.active && !continues;
  return publication;
}

std::optional<Publication> PublicationTracker::intra_publish(ThreadIndex thread, Instant time,
                                                             ProcessIndex process,
                                                             std::uint64_t publisher) {
  const auto index = objects_.publisher(process, publisher);
  if (!index) {
    ++anomalies_.unknown_publications;
    return std::nullopt;
  }
  Publication publication;
  publication.topic = objects_.objects()[*index].topic;
  publication.publisher = index;
  publication.thread = thread;
  publication.begin = time;
  publication.sent = time;
  publication.intra_process = true;
  return publication;
}

void PublicationTracker::finish() {
  for (std::size_t i = 0; i < open_.size(); ++i) {
    abandon(ThreadIndex(i));
  }
}

}  // namespace takt::execution
