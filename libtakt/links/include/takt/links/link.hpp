#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"

namespace takt::links {

/// How a link within a node is known. That a callback published while it handled a message is
/// observed, and needs no link; what a callback took itself is observed, too. Documents name
/// ambiguous links, but nothing follows them.
enum class Grounds : std::uint8_t { declared, model, observed, inferred, ambiguous };

/// "declared" …, as documents name it.
[[nodiscard]] std::string_view to_string(Grounds grounds);

/// Subscriptions of a node whose messages go together into what the node publishes.
struct Link {
  enum class Kind : std::uint8_t {
    sampled,  ///< a timer uses the newest message that each input has stored; where the link is
              ///< `is_taken`, the newest that the reader has taken for the same run
    joined,   ///< the input that completes a set of messages uses those stored before
  };
  Kind kind = Kind::sampled;
  Grounds grounds = Grounds::declared;
  execution::ProcessIndex process;
  std::vector<execution::ObservedCallbackIndex> inputs;
  /// The publishers whose messages come of the link. Empty where only the callbacks are declared:
  /// then all by which `reader`, or else the inputs, send.
  std::vector<execution::PublisherIndex> outputs;
  /// For `sampled`: the timer, if it is known; else each of the process that publishes by one of
  /// `outputs`.
  std::optional<execution::ObservedCallbackIndex> reader{};
  /// For `joined`: what a set is made of.
  model::JoinKind join = model::JoinKind::newest;
  /// For `joined`: a filter of message_filters matches stamps. Any message that is stored may be of
  /// the set, unless the recorded stamps tell which it is (takt/links/stamped_sets.hpp).
  bool matches_stamps = false;
  bool has_known_sets = false;
  /// Where stamps are matched: whether the message that completes a set is of it. `ApproximateTime`
  /// in C++ makes a set when a later message shows that no other fits better, and nothing in a
  /// recording tells it from the other filters of C++.
  bool last_is_of_set = true;
  /// For `sampled`: the reader takes the messages itself.
  bool is_taken = false;

  /// For `joined`: a thread that serves no executor publishes what the inputs have handed to it.
  bool is_handed = false;

  /// For `joined`: the input waits in a tf2_ros::MessageFilter, and the callback that receives /tf
  /// publishes when it completes the transform. The outputs are those of both callbacks.
  bool waits_for_transform = false;

  /// For inferred links: how sure it is of each input, in percent; the runs that were compared with
  /// it, and how many of them contradict it.
  std::vector<std::int64_t> confidence{};
  std::uint64_t runs = 0;
  std::uint64_t exceptions = 0;
};

/// The links that programs declared: message_link_* in the order of Objects::message_links, then
/// inputs_linked in that of Objects::input_links.
[[nodiscard]] std::vector<Link> declared_links(const execution::Objects& objects);

/// One line for each link that says less than flows and chains over it seem to. `knows_stamps`:
/// whether the recorded stamps were looked at (has_known_sets); models and chains are made of what
/// is told as it happens, and go without.
[[nodiscard]] std::vector<std::string> warnings(std::span<const Link> links,
                                                const execution::Objects& objects,
                                                bool knows_stamps);

}  // namespace takt::links
