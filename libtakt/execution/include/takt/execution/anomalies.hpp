#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace takt::execution {

/// Everything in a trace that did not fit together, counted (message-flow 3.3.5). Zero throughout
/// for a complete trace of a system that was recorded from its start to its end.
struct Anomalies {
  /// Instances of callbacks whose registration was not recorded.
  std::uint64_t unknown_callback_instances = 0;
  /// Publications and requests by objects whose creation was not recorded; their topic is unknown.
  std::uint64_t unknown_publications = 0;
  /// Messages taken by subscriptions whose creation was not recorded.
  std::uint64_t unknown_takes = 0;
  /// callback_end without callback_start on the thread.
  std::uint64_t orphan_ends = 0;
  /// callback_start without callback_end: cut off by a later end on the thread or by a lost event.
  std::uint64_t orphan_starts = 0;
  /// Callbacks of one thread that overlap without one being within the other: the events of several
  /// processes with the same number.
  std::uint64_t overlapping_callbacks = 0;
  /// Instances still running when the trace ends.
  std::uint64_t open_instances = 0;
  /// Calls of publish that never reached the middleware (a context that was shut down).
  std::uint64_t unfinished_publications = 0;
  /// Messages taken whose publication is not in the trace, or too long ago.
  std::uint64_t takes_without_publication = 0;
  /// The same by topic, or name of the service. Topics beyond the end have none.
  std::vector<std::uint64_t> unmatched_of_topic;
  /// Messages taken that several publications match: not linked to any.
  std::uint64_t ambiguous_takes = 0;
  /// Messages matched with a source timestamp that differs by 1 ns (RTPS counts in 2^-32 s).
  std::uint64_t takes_matched_within_1ns = 0;
  /// Messages matched by time, because their publication has no source timestamp (ROS 2 before
  /// Jazzy).
  std::uint64_t takes_matched_by_time = 0;
  /// Messages taken that no callback followed on the thread and that no executor kept (wait sets,
  /// rclpy).
  std::uint64_t takes_without_callback = 0;
  /// The same by subscription. Subscriptions beyond the end have none.
  std::vector<std::uint64_t> unhandled_of_subscription;
  /// Runs of callbacks that no event names whose end nothing shows; they count nowhere.
  std::uint64_t runs_without_end = 0;
  /// Messages that an executor kept and never chose before it kept another at the same address, and
  /// those forgotten because too many were kept at once.
  std::uint64_t kept_messages_overwritten = 0;
  std::uint64_t kept_messages_forgotten = 0;
  /// Messages that entered a ring buffer that no event had announced, or for which too many slots
  /// of ring buffers were followed already.
  std::uint64_t buffered_messages_not_followed = 0;
  /// Triggers of waitables that were forgotten because too many waited for an instance.
  std::uint64_t triggers_forgotten = 0;
  /// Declared message links that name an object whose creation was not recorded.
  std::uint64_t unknown_link_ends = 0;

  /// Name and count of each, for documents.
  [[nodiscard]] auto list() const {
    return std::array<std::pair<std::string_view, std::uint64_t>, 19>{
        {{"unknown_callback_instances", unknown_callback_instances},
         {"unknown_publications", unknown_publications},
         {"unknown_takes", unknown_takes},
         {"orphan_ends", orphan_ends},
         {"orphan_starts", orphan_starts},
         {"overlapping_callbacks", overlapping_callbacks},
         {"open_instances", open_instances},
         {"unfinished_publications", unfinished_publications},
         {"takes_without_publication", takes_without_publication},
         {"ambiguous_takes", ambiguous_takes},
         {"takes_matched_within_1ns", takes_matched_within_1ns},
         {"takes_matched_by_time", takes_matched_by_time},
         {"takes_without_callback", takes_without_callback},
         {"runs_without_end", runs_without_end},
         {"kept_messages_overwritten", kept_messages_overwritten},
         {"kept_messages_forgotten", kept_messages_forgotten},
         {"buffered_messages_not_followed", buffered_messages_not_followed},
         {"triggers_forgotten", triggers_forgotten},
         {"unknown_link_ends", unknown_link_ends}}};
  }

  /// Whether run-time events refer to objects that no initialisation event described: the trace was
  /// begun after the programs, or lost their beginning (message-flow 1.3).
  [[nodiscard]] bool missing_initialisation() const {
    return unknown_callback_instances + unknown_publications + unknown_takes != 0;
  }
};

}  // namespace takt::execution
