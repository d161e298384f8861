#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "takt/flow/parts.hpp"
#include "takt/flow/selection.hpp"
#include "takt/statistics/distribution.hpp"

namespace takt::flow {

using statistics::Distribution;

/// An element of a path: a callback or, where a flow begins or ends with a message that no callback
/// sent or received, its publisher.
struct Step {
  std::optional<execution::ObservedCallbackIndex> callback;
  std::optional<execution::PublisherIndex> publisher;
  /// Whether this is the timer that used what the element before it had stored.
  bool is_user = false;
  bool operator==(const Step&) const = default;
};

/// A part of an instance, with the callback that ran or was waited for.
struct NamedPart {
  Part part;
  std::optional<execution::ObservedCallbackIndex> callback;
};

/// One measured instance of a path.
struct PathInstance {
  /// The number of the sink's run; runs are numbered through the whole recording.
  std::uint64_t number = 0;
  /// When the source called publish, later by `before_readers`.
  Instant begin;
  Duration latency{};
  /// How far the latency can be from the truth because source and sink have different clocks;
  /// nothing if that is not known.
  std::optional<Duration> uncertainty = Duration{0};
  /// The time of its messages before subscriptions were there that could read them.
  Duration before_readers{};
  /// Whether no other message can have led to the sink's run.
  bool is_certain = true;
  /// The parts of its latency, for the worst instances and the one that was asked for.
  std::vector<NamedPart> parts;
  /// The start and end of the run at each step of the path, for instances that are listed.
  std::vector<std::pair<Instant, Instant>> times;
};

/// A way that messages took, with the times that it took them.
struct Path {
  std::vector<Step> steps;
  /// The topics of the messages with which it begins and ends, if it does so with messages.
  std::optional<execution::TopicIndex> topic;
  std::optional<execution::TopicIndex> last_topic;
  /// From the call of publish in the source to the start of the sink's run, once for each run of
  /// the sink.
  Distribution latency;
  /// Instances of which it is not known which message they go back to: their latency is that of the
  /// newest message that it can be. `at_most` has those of the oldest, unless that is not known
  /// either, and the latencies of all other instances.
  std::uint64_t uncertain = 0;
  Distribution at_most;
  /// From the start of the source's run to the end of the sink's.
  Distribution span;
  /// From a message of the source to the first and to the last sink's run that it led to.
  Distribution first;
  Distribution last;
  /// From every message of the source, also one that led nowhere, to the first run of the sink to
  /// which it or a later message led.
  Distribution reaction;
  std::array<double, stages> sums{};
  /// The largest uncertainty of an instance; nothing if that of one is not known.
  std::optional<Duration> uncertainty = Duration{0};
  /// The instances with the largest latencies, the largest first.
  std::vector<PathInstance> worst;
  /// The instance that was asked for.
  std::optional<PathInstance> asked;
  /// All instances, if they are to be listed.
  std::vector<PathInstance> instances;
};

/// What could not be linked or was not followed.
struct Unlinked {
  /// Runs at which a way ended because their message is not in the trace.
  std::uint64_t sources_not_in_trace = 0;
  /// Ways that lead back to runs and messages that are no longer kept.
  std::uint64_t beyond_window = 0;
  /// Ways that were not followed because a run had too many, or because there were too many paths.
  std::uint64_t ways_not_followed = 0;
  /// Instances that were counted but are not listed.
  std::uint64_t instances_not_listed = 0;
};

/// Where flows begin and end; none: at every source, at every sink.
struct Ends {
  std::optional<Selection> from;
  std::optional<Selection> to;
};

/// The recording in which paths are found.
struct LinkedHistory {
  const History& history;
  const execution::Database& database;
  const Causality& causality;
  const Splitter& splitter;
  /// By host.
  const std::vector<HostClock>& clocks;
};

/// Collects the paths that flows take, over one history after another of the same recording.
class PathCollector {
 public:
  static constexpr std::size_t most_paths = 20'000;
  static constexpr std::size_t most_ways = 4096;
  /// Steps back from one sink. Joins in a row double the ways at each, also those that lead to no
  /// source and so are no path's.
  static constexpr std::size_t most_steps = 4 * most_ways;
  static constexpr std::size_t most_nodes = 1'000'000;
  static constexpr std::size_t worst_kept = 10;
  static constexpr std::size_t most_listed = 2'000'000;

  struct Options {
    /// Whether to list every instance.
    bool list = false;
    /// The number of an instance whose parts are kept.
    std::optional<std::uint64_t> asked;
  };
  explicit PathCollector(Options options) : options_(options) {}

  /// Follows the flows that end with the runs from `begin` to one before `end`.
  void collect(const LinkedHistory& recorded, const Ends& ends, std::uint64_t begin,
               std::uint64_t end);
  /// To be called after the last collect().
  void finish();

  /// In the order in which they were found.
  [[nodiscard]] const std::vector<Path>& paths() const { return paths_; }
  [[nodiscard]] const Unlinked& unlinked() const { return unlinked_; }

 private:
  class Walk;
  /// The source of a path's newest instance, to tell the first sink's run from the last.
  struct Newest {
    std::uint64_t source = 0;
    Duration latency{};
  };

  /// Stands for a node that the tree of paths has no room for.
  static constexpr std::uint32_t no_node = 0xffffffff;

  std::uint32_t child(std::uint32_t parent, std::uint32_t key);
  std::optional<std::size_t> path(std::uint32_t leaf);
  void add(std::size_t path, const LinkedHistory& recorded, const Trail& trail, std::uint64_t sink);
  void keep(Path& path, const History& history, const Breakdown& breakdown, const Trail& trail,
            PathInstance instance);
  void add_reaction(Path& path, const History& history, const Trail& trail, std::uint64_t before,
                    Instant end);

  Options options_;
  std::vector<Path> paths_;
  std::vector<Newest> newest_;  // by path
  std::size_t listed_ = 0;
  Unlinked unlinked_;
  /// The paths as a tree from their sinks to their sources: (node, key of a step) → node.
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t key = 0;
    std::optional<std::size_t> path;
  };
  std::vector<Node> nodes_{1};
};

/// Whether more ways lead to callbacks than there can be paths.
[[nodiscard]] bool has_too_many_ways(const History& history, const execution::Objects& objects,
                                     const Causality& causality);

/// Where flows end by themselves.
struct Sinks {
  /// Callbacks that receive messages, send none and store none.
  std::vector<bool> callbacks;
  /// Callbacks whose messages nobody handles: flows end with those.
  std::vector<bool> senders;
};
/// Parameters, logging and the like do not count.
[[nodiscard]] Sinks find_sinks(const History& history, const execution::Objects& objects,
                               const Causality& causality);

}  // namespace takt::flow
