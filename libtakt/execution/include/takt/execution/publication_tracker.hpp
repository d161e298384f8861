#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/execution/anomalies.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/message_index.hpp"
#include "takt/execution/object_tracker.hpp"

namespace takt::execution {

/// Joins the events of the layers that report one publication: rclcpp_publish → rcl_publish →
/// rmw_publish on one thread, with the same message (message-flow 3.3.3). The upper layers may be
/// absent (rclpy, /rosout).
class PublicationTracker {
 public:
  PublicationTracker(const ObjectTracker& objects, Anomalies& anomalies)
      : objects_(objects), anomalies_(anomalies) {}

  void rclcpp_publish(ThreadIndex thread, Instant time, std::uint64_t message);
  void rcl_publish(ThreadIndex thread, Instant time, ProcessIndex process, std::uint64_t publisher,
                   std::uint64_t message);
  /// The thread gives a message with this stamp to the middleware next.
  void stamp(ThreadIndex thread, std::uint64_t rmw_publisher, std::int64_t stamp);
  /// The publication, without the callback instance around it. Nothing for the middleware's own
  /// messages and for publishers that are not known.
  std::optional<Publication> rmw_publish(ThreadIndex thread, Instant time, ProcessIndex process,
                                         std::uint64_t rmw_publisher, std::uint64_t message,
                                         std::int64_t source_timestamp);
  std::optional<Publication> intra_publish(ThreadIndex thread, Instant time, ProcessIndex process,
                                           std::uint64_t publisher);
  /// Gives up a publication that began on the thread, because the callback that began it ended.
  void abandon(ThreadIndex thread);
  void finish();

 private:
  struct Open {
    bool active = false;
    std::uint64_t message = 0;
    Instant begin;
    bool in_rcl = false;
    std::optional<PublisherIndex> publisher;
  };
  struct Stamp {
    std::uint64_t rmw_publisher = 0;
    std::int64_t stamp = 0;
  };

  Open& open(ThreadIndex thread);

  const ObjectTracker& objects_;
  Anomalies& anomalies_;
  std::vector<Open> open_;     // by thread
  std::vector<Stamp> stamps_;  // by thread
};

}  // namespace takt::execution
