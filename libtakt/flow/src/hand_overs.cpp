#include "takt/flow/hand_overs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "takt/execution/names.hpp"
#include "takt/links/infer.hpp"

namespace takt::flow {
namespace {

using execution::NodeIndex;
using execution::ObservedCallbackIndex;
using execution::PublisherIndex;
using links::Link;

/// Fewer messages than these prove nothing.
constexpr std::size_t fewest_messages = 20;
/// At most one publication in so many may come after the next message.
constexpr std::size_t messages_per_delay = 10;
/// Standard deviations by which the thread follows the messages more often than half of the times.
constexpr double least_deviations = 3;
/// The choices among a node's callbacks grow with their number.
constexpr std::size_t most_callbacks = 16;

/// How many of a thread's publications came before the next message. None if one of them came
/// before its own.
std::optional<std::size_t> in_step(const std::vector<Instant>& handed,
                                   const std::vector<Instant>& sent) {
  if (sent.size() > handed.size()) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] < handed[i]) return std::nullopt;
    count += i + 1 == handed.size() || sent[i] < handed[i + 1] ? 1u : 0u;
  }
  return count;
}

/// Whether the publications are early and late together with the messages. Distances do not share a
/// publication, so they are independent of each other.
bool follows(const std::vector<Instant>& handed, const std::vector<Instant>& sent) {
  std::vector<Duration> distances;
  for (std::size_t i = 1; i < sent.size(); ++i) distances.push_back(sent[i] - sent[i - 1]);
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  const Duration usual = *middle;
  double closer = 0;
  double pairs = 0;
  for (std::size_t i = 1; i < sent.size(); i += 2) {
    const Duration distance = sent[i] - sent[i - 1];
    const Duration along = std::chrono::abs(distance - (handed[i] - handed[i - 1]));
    const Duration alone = std::chrono::abs(distance - usual);
    if (along == alone) continue;
    pairs += 1;
    closer += along < alone ? 1 : 0;
  }
  const double beyond_half = 2 * closer - pairs;
  return beyond_half > 0 &&
         beyond_half * beyond_half >= least_deviations * least_deviations * pairs;
}

/// Finds the hand-overs to the threads of one node.
class Node {
 public:
  Node(const History& history, const execution::Objects& objects, const links::Evidence& evidence)
      : history_(history), objects_(objects), evidence_(evidence) {}

  /// The callbacks that may hand over their messages. One of them may publish itself what the
  /// thread does else, as a done callback does if the future was done already.
  [[nodiscard]] std::vector<ObservedCallbackIndex> candidates(
      PublisherIndex publisher, const std::set<ObservedCallbackIndex>& linked) const {
    std::vector<ObservedCallbackIndex> found;
    const NodeIndex node = *objects_[publisher].node;
    for (const auto& [subscription, activity] : evidence_.inputs(node).subscriptions()) {
      const auto topic = objects_.topic_of(objects_[subscription]);
      const bool sends_others = std::ranges::any_of(
          activity.outputs,
          [&](execution::TopicIndex output) { return output != objects_[publisher].topic; });
      if (!sends_others && !linked.contains(subscription) &&
          !links::is_filter(objects_[subscription]) && !execution::is_transform(objects_[*topic])) {
        found.push_back(subscription);
      }
    }
    return found;
  }

  /// The link from the one choice of callbacks that agrees with what was sent.
  [[nodiscard]] std::optional<Link> link(
      PublisherIndex publisher, const std::vector<ObservedCallbackIndex>& callbacks) const {
    const auto sent = times_sent(publisher);
    if (sent.size() < fewest_messages || callbacks.empty()) return std::nullopt;
    std::vector<std::vector<ObservedCallbackIndex>> choices;
    for (const ObservedCallbackIndex callback : callbacks) choices.push_back({callback});
    if (callbacks.size() > 1) choices.push_back(callbacks);
    std::optional<Link> found;
    for (auto& choice : choices) {
      const auto handed = times_handed(choice, publisher);
      const auto kept = in_step(handed, sent);
      const std::size_t late = sent.size() - kept.value_or(0);
      if (!kept || late * messages_per_delay > sent.size() || !follows(handed, sent)) continue;
      if (found) return std::nullopt;
      found.emplace();
      found->kind = Link::Kind::joined;
      found->grounds = links::Grounds::inferred;
      found->process = objects_[publisher].process;
      found->confidence.assign(choice.size(), links::confidence_after(*kept));
      found->inputs = std::move(choice);
      found->outputs = {publisher};
      found->is_handed = true;
      found->runs = sent.size();
      found->exceptions = late;
    }
    return found;
  }

 private:
  /// Empty unless a single thread sent them all, that does nothing else.
  [[nodiscard]] std::vector<Instant> times_sent(PublisherIndex publisher) const {
    const Store& store = history_.store();
    std::vector<Instant> times;
    std::optional<execution::ThreadIndex> thread;
    for (const PublicationId id : sent_by_threads(history_, {&publisher, 1})) {
      const Message& message = *store.find(id);
      if (thread.value_or(message.thread) != message.thread) return {};
      thread = message.thread;
      times.push_back(message.begin);
    }
    const bool serves =
        thread && !history_.overlapping(*thread, Instant::min(), Instant::max()).empty();
    return serves ? std::vector<Instant>() : times;
  }

  [[nodiscard]] std::vector<Instant> times_handed(
      const std::vector<ObservedCallbackIndex>& callbacks, PublisherIndex publisher) const {
    std::vector<Instant> times;
    for (const ObservedCallbackIndex callback : callbacks) {
      for (const InstanceId run : history_.runs_of(callback)) {
        if (sends_by(history_, run, {&publisher, 1})) continue;
        times.push_back(history_.store().find(run)->start);
      }
    }
    std::ranges::sort(times);
    return times;
  }

  const History& history_;
  const execution::Objects& objects_;
  const links::Evidence& evidence_;
};

}  // namespace

std::vector<PublicationId> sent_by_threads(const History& history,
                                           std::span<const PublisherIndex> publishers) {
  std::vector<PublicationId> sent;
  for (const PublisherIndex publisher : publishers) {
    for (const PublicationId message : history.messages_of(publisher)) {
      if (history.store().find(message)->run == InstanceId::none) sent.push_back(message);
    }
  }
  std::ranges::sort(sent);
  return sent;
}

bool sends_by(const History& history, InstanceId run, std::span<const PublisherIndex> publishers) {
  return std::ranges::any_of(history.sent_by(run), [&](PublicationId sent) {
    const auto& publisher = history.store().find(sent)->publisher;
    return publisher && std::ranges::find(publishers, *publisher) != publishers.end();
  });
}

std::vector<Link> find_hand_overs(const History& history, const execution::Objects& objects,
                                  const links::Evidence& evidence, std::span<const Link> known) {
  if (history.store().first_run() != 1 || !objects.recoveries.empty()) return {};
  std::set<ObservedCallbackIndex> linked;
  for (const Link& link : known) {
    linked.insert(link.inputs.begin(), link.inputs.end());
    if (link.reader) linked.insert(*link.reader);
  }
  std::set<NodeIndex> with_rates;
  for (const execution::EventSource& source : objects.event_sources) {
    if (source.node && source.period > Duration{0}) with_rates.insert(*source.node);
  }
  std::vector<Link> found;
  const Node nodes(history, objects, evidence);
  for (std::size_t i = 0; i < objects.publishers.size(); ++i) {
    const auto& publisher = objects.publishers[i];
    const bool is_output =
        execution::housekeeping_of(objects[publisher.topic]) == execution::Housekeeping::none &&
        !execution::is_transform(objects[publisher.topic]);
    if (!publisher.node || !is_output || with_rates.contains(*publisher.node) ||
        objects.has_all_links(publisher.process)) {
      continue;
    }
    auto callbacks = nodes.candidates(PublisherIndex(i), linked);
    if (callbacks.size() > most_callbacks) continue;
    if (auto link = nodes.link(PublisherIndex(i), callbacks)) found.push_back(std::move(*link));
  }
  return found;
}

}  // namespace takt::flow
