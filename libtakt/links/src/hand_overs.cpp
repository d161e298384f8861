#include "takt/links/hand_overs.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "takt/execution/names.hpp"
#include "takt/links/infer.hpp"

namespace takt::links {
namespace {

using execution::NodeIndex;
using execution::Objects;
using execution::PublisherIndex;

/// Fewer messages than these prove nothing.
constexpr std::size_t fewest_messages = 20;
/// At most one publication in so many may come after the next message.
constexpr std::size_t messages_per_delay = 10;
/// Standard deviations by which the thread follows the messages more often than half of the times.
constexpr double least_deviations = 3;
/// The choices among a node's callbacks grow with their number.
constexpr std::size_t most_callbacks = 16;

using Times = std::vector<Instant>;

/// How many of a thread's publications came before the next message. None if one of them came
/// before its own.
std::optional<std::size_t> in_step(const Times& handed, const Times& sent) {
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
bool follows(const Times& handed, const Times& sent) {
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

/// Finds the hand-overs to a thread that sends by one publisher.
class Search {
 public:
  Search(const Evidence& evidence, const Objects& objects, PublisherIndex publisher)
      : evidence_(evidence),
        objects_(objects),
        publisher_(publisher),
        sent_(evidence.sent_outside(publisher)) {}

  [[nodiscard]] std::optional<Link> link(const std::set<ObservedCallbackIndex>& linked) const {
    if (!sent_.thread || evidence_.serves(*sent_.thread)) return std::nullopt;
    const auto callbacks = candidates(linked);
    if (callbacks.empty() || callbacks.size() > most_callbacks) return std::nullopt;
    std::vector<std::vector<ObservedCallbackIndex>> choices;
    for (const ObservedCallbackIndex callback : callbacks) choices.push_back({callback});
    if (callbacks.size() > 1) choices.push_back(callbacks);
    std::optional<Link> found;
    for (const auto& choice : choices) {
      auto link = link_of(choice);
      if (link && found) return std::nullopt;
      if (link) found = std::move(link);
    }
    return found;
  }

 private:
  /// The callbacks that may hand over their messages. One that always publishes hands over nothing.
  [[nodiscard]] std::vector<ObservedCallbackIndex> candidates(
      const std::set<ObservedCallbackIndex>& linked) const {
    std::vector<ObservedCallbackIndex> found;
    const NodeIndex node = *objects_[publisher_].node;
    for (const auto& [subscription, activity] : evidence_.inputs(node).subscriptions()) {
      const auto topic = objects_.topic_of(objects_[subscription]);
      const bool sends_others = std::ranges::any_of(activity.outputs, [this](TopicIndex output) {
        return output != objects_[publisher_].topic;
      });
      const bool seldom_sends = 2 * activity.sending_runs <= activity.runs;
      if (seldom_sends && !sends_others && !linked.contains(subscription) &&
          !is_filter(objects_[subscription]) && !execution::is_transform(objects_[*topic])) {
        found.push_back(subscription);
      }
    }
    return found;
  }

  /// The link from these callbacks, if they agree with what was sent. Only the first times of each
  /// are known; later ones of the others tell nothing. Of all that comes after them, no more may be
  /// sent than was received.
  [[nodiscard]] std::optional<Link> link_of(
      const std::vector<ObservedCallbackIndex>& choice) const {
    Instant known_until = Instant::max();
    const auto note = [&](const Times& times) {
      if (times.size() == Evidence::most_times) known_until = std::min(known_until, times.back());
    };
    const auto is_known = [&](Instant time) { return time <= known_until; };
    note(sent_.times);
    std::uint64_t count = 0;
    for (const ObservedCallbackIndex callback : choice) {
      note(evidence_.silent_runs(callback).times);
      count += evidence_.silent_runs(callback).count;
    }
    if (sent_.count > count) return std::nullopt;
    Times handed;
    for (const ObservedCallbackIndex callback : choice) {
      const Times& times = evidence_.silent_runs(callback).times;
      std::ranges::copy_if(times, std::back_inserter(handed), is_known);
    }
    std::ranges::sort(handed);
    Times sent;
    std::ranges::copy_if(sent_.times, std::back_inserter(sent), is_known);
    if (sent.size() < fewest_messages) return std::nullopt;
    const auto kept = in_step(handed, sent);
    const std::size_t late = sent.size() - kept.value_or(0);
    if (!kept || late * messages_per_delay > sent.size() || !follows(handed, sent)) {
      return std::nullopt;
    }
    Link link;
    link.kind = Link::Kind::joined;
    link.grounds = Grounds::inferred;
    link.process = objects_[publisher_].process;
    link.confidence.assign(choice.size(), confidence_after(*kept));
    link.inputs = choice;
    link.outputs = {publisher_};
    link.is_handed = true;
    link.runs = sent.size();
    link.exceptions = late;
    return link;
  }

  const Evidence& evidence_;
  const Objects& objects_;
  PublisherIndex publisher_;
  const Evidence::SentOutside& sent_;
};

}  // namespace

std::vector<Link> hand_overs(const Evidence& evidence, const Objects& objects,
                             std::span<const Link> known) {
  if (!objects.recoveries.empty()) return {};
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
  for (std::size_t i = 0; i < objects.publishers.size(); ++i) {
    const auto& publisher = objects.publishers[i];
    const bool is_output =
        execution::housekeeping_of(objects[publisher.topic]) == execution::Housekeeping::none &&
        !execution::is_transform(objects[publisher.topic]);
    if (!publisher.node || !is_output || with_rates.contains(*publisher.node) ||
        objects.has_all_links(publisher.process)) {
      continue;
    }
    const Search search(evidence, objects, PublisherIndex(i));
    if (auto link = search.link(linked)) found.push_back(std::move(*link));
  }
  return found;
}

}  // namespace takt::links
