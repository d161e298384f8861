#include "takt/flow/paths.hpp"

#include <algorithm>
#include <cassert>
#include <set>

#include "takt/execution/names.hpp"
#include "walk.hpp"

namespace takt::flow {

namespace {

using Edges = std::set<std::pair<std::size_t, std::size_t>>;

/// Which callback led to which, by messages and by links.
Edges find_edges(const History& history, const Causality& causality) {
  Edges edges;
  const Store& store = history.store();
  for (std::uint64_t number = store.first_run(); number < store.end_run(); ++number) {
    const Run* const run = store.find(static_cast<InstanceId>(number));
    const Message* const message = run == nullptr ? nullptr : store.find(run->source);
    if (message != nullptr && message->run != InstanceId::none) {
      edges.emplace(message->callback.value(), run->callback.value());
    }
  }
  for (const links::Link& link : causality.links()) {
    if (link.grounds == links::Grounds::ambiguous) {
      continue;
    }
    for (const execution::PublisherIndex output : link.outputs) {
      for (const PublicationId id : history.messages_of(output)) {
        const Message& message = *store.find(id);
        if (message.run == InstanceId::none || (link.reader && link.reader != message.callback)) {
          continue;
        }
        for (const auto input : link.inputs) {
          edges.emplace(input.value(), message.callback.value());
        }
      }
    }
  }
  return edges;
}

/// Counts the ways that lead to callbacks. A way passes a callback at most once.
class Ways {
 public:
  Ways(const Edges& edges, std::size_t callbacks, std::size_t most)
      : before_(callbacks), passed_(callbacks), left_(most) {
    for (const auto& [from, to] : edges) {
      before_[to].push_back(from);
    }
    for (std::size_t i = 0; i < callbacks && left_ > 0; ++i) {
      go_back(i);
    }
  }
  [[nodiscard]] bool are_too_many() const { return left_ == 0; }

 private:
  void go_back(std::size_t callback) {
    passed_[callback] = true;
    for (const std::size_t from : before_[callback]) {
      if (left_ > 0 && !passed_[from]) {
        --left_;
        go_back(from);
      }
    }
    passed_[callback] = false;
  }

  std::vector<std::vector<std::size_t>> before_;
  std::vector<bool> passed_;
  std::size_t left_;
};

/// Makes callbacks sinks that store messages and from which no way leads to a sink: their messages
/// only go round in loops.
void add_ends_of_loops(const Edges& edges, const Causality& causality, Sinks& sinks) {
  std::vector<bool> reaches(sinks.callbacks.size());
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    reaches[i] = sinks.callbacks[i] || sinks.senders[i];
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [from, to] : edges) {
      if (!reaches[from] && reaches[to]) {
        reaches[from] = changed = true;
      }
    }
  }
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    sinks.callbacks[i] = sinks.callbacks[i] ||
                         (!reaches[i] && causality.is_stored(execution::ObservedCallbackIndex(i)));
  }
}

/// The publishers of which a message was handled.
std::vector<bool> find_handled(const History& history, const execution::Objects& objects) {
  std::vector<bool> handled(objects.publishers.size());
  const Store& store = history.store();
  for (std::uint64_t number = store.first_message(); number < store.end_message(); ++number) {
    const auto id = static_cast<PublicationId>(number);
    const auto& publisher = store.find(id)->publisher;
    if (publisher && !history.receivers_of(id).empty()) {
      handled[publisher->value()] = true;
    }
  }
  return handled;
}

}  // namespace

bool has_too_many_ways(const History& history, const execution::Objects& objects,
                       const Causality& causality) {
  const Edges edges = find_edges(history, causality);
  return Ways(edges, objects.callbacks.size(), PathCollector::most_paths).are_too_many();
}

Sinks find_sinks(const History& history, const execution::Objects& objects,
                 const Causality& causality) {
  const std::size_t count = objects.callbacks.size();
  Sinks sinks{std::vector<bool>(count), std::vector<bool>(count)};
  std::vector<bool> leads_on(count);
  const std::vector<bool> handled = find_handled(history, objects);
  const Store& store = history.store();
  for (std::uint64_t number = store.first_message(); number < store.end_message(); ++number) {
    const auto id = static_cast<PublicationId>(number);
    const Message& message = *store.find(id);
    if (message.run != InstanceId::none && !execution::is_infrastructure(objects[message.topic])) {
      sinks.senders[message.callback.value()] = true;
      // The only message of a seldom callback may still be on its way when the recording ends, so
      // those that other callbacks send with the same publisher count, too.
      if (!history.receivers_of(id).empty() ||
          (message.publisher && handled[message.publisher->value()])) {
        leads_on[message.callback.value()] = true;
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const execution::ObservedCallbackIndex index(i);
    const auto topic = objects.topic_of(objects[index]);
    sinks.callbacks[i] = topic && !execution::is_infrastructure(objects[*topic]) &&
                         !sinks.senders[i] && !causality.is_stored(index);
    sinks.senders[i] = sinks.senders[i] && !leads_on[i];
  }
  add_ends_of_loops(find_edges(history, causality), causality, sinks);
  return sinks;
}

namespace {

/// How far a time between two threads can be from the truth.
std::optional<Duration> uncertainty_between(const LinkedHistory& recorded,
                                            execution::ThreadIndex from, execution::ThreadIndex to,
                                            Instant at) {
  const events::Threads& threads = recorded.database.threads();
  const HostIndex first = threads[threads[from].process].host;
  const HostIndex last = threads[threads[to].process].host;
  if (first == last) {
    return Duration{0};
  }
  const auto one = recorded.clocks[first.value()].uncertainty_at(at);
  const auto other = recorded.clocks[last.value()].uncertainty_at(at);
  return one && other ? std::optional(*one + *other) : std::nullopt;
}

/// Whether a part continues the one before: in the same stage, step, callback and thread.
bool says_the_same(const NamedPart& before, const Part& part,
                   const std::optional<execution::ObservedCallbackIndex>& callback) {
  return before.part.stage == part.stage && before.part.step == part.step &&
         before.callback == callback && before.part.actor == part.actor;
}

}  // namespace

std::uint32_t PathCollector::child(std::uint32_t parent, std::uint32_t key) {
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  if (next == most_nodes) {
    const auto found = children_.find((std::uint64_t{parent} << 32) | key);
    return found == children_.end() ? no_node : found->second;
  }
  const auto [entry, is_new] = children_.try_emplace((std::uint64_t{parent} << 32) | key, next);
  if (is_new) {
    nodes_.push_back({parent, key, {}});
  }
  return entry->second;
}

std::optional<std::size_t> PathCollector::path(std::uint32_t leaf) {
  if (leaf == no_node) {
    return std::nullopt;
  }
  if (!nodes_[leaf].path) {
    if (paths_.size() == most_paths) {
      return std::nullopt;
    }
    nodes_[leaf].path = paths_.size();
    Path& made = paths_.emplace_back();
    for (std::uint32_t node = leaf; node != 0; node = nodes_[node].parent) {
      made.steps.push_back(step_of(nodes_[node].key));
    }
    newest_.emplace_back();
  }
  return nodes_[leaf].path;
}

/// Records a reaction for every message of the source since the one that led to the path's previous
/// instance: this is the first instance to which they led.
void PathCollector::add_reaction(Path& path, const History& history, const Trail& trail,
                                 std::uint64_t before, Instant end) {
  const Store& store = history.store();
  const PublicationId source = trail.hops.size() > 1 ? trail.hops[1].message : trail.last;
  const Message* const message = store.find(source);
  if (message == nullptr || !message->publisher) {
    return;
  }
  const auto sent = history.messages_of(*message->publisher);
  auto from = std::ranges::upper_bound(sent, static_cast<PublicationId>(before));
  for (; from != sent.end() && *from <= source; ++from) {
    const Message& reacted = *store.find(*from);
    // Several callbacks may use one publisher; only the messages of this one count.
    if (reacted.callback == message->callback || *from == source) {
      path.reaction.record(end - reacted.begin);
    }
  }
}

void PathCollector::add(std::size_t number, const LinkedHistory& recorded, const Trail& trail,
                        std::uint64_t sink) {
  const History& history = recorded.history;
  Path& path = paths_[number];
  Newest& newest = newest_[number];
  const Store& store = history.store();
  const PublicationId first = trail.hops.size() > 1 ? trail.hops[1].message : trail.last;
  const Message* const message = store.find(first);
  const Run* const root = store.find(trail.hops.front().run);
  assert((message != nullptr || root != nullptr) && "the walk has been at the trail's beginning");
  const Breakdown breakdown = recorded.splitter.split(trail);
  const Duration latency = breakdown.latency();
  if (trail.is_oldest) {
    path.at_most.record(latency);
    return;
  }
  path.uncertain += trail.is_uncertain ? 1u : 0u;
  if (!trail.is_uncertain && recorded.causality.has_uncertain()) path.at_most.record(latency);
  const bool begins_with_message =
      trail.hops.front().kind == LinkKind::direct && message != nullptr;
  // It counts as if it had begun later by the time before its readers were there.
  const Instant sent = begins_with_message || root == nullptr ? message->begin : root->start;
  const Instant begin = sent + breakdown.before_readers;
  path.latency.record(latency);
  path.span.record(breakdown.span());
  const auto sums = breakdown.sums();
  for (std::size_t i = 0; i < stages; ++i) {
    path.sums[i] += static_cast<double>(sums[i].count());
  }
  if (begins_with_message) {
    path.topic = message->topic;
  }
  if (const Message* const last = store.find(trail.last)) {
    path.last_topic = last->topic;
  }
  const std::uint64_t source = begins_with_message
                                   ? static_cast<std::uint64_t>(first)
                                   : static_cast<std::uint64_t>(trail.hops.front().run);
  if (source != newest.source) {
    if (newest.source != 0) {
      path.last.record(newest.latency);
    }
    path.first.record(latency);
    if (begins_with_message) {
      const auto before = newest.source == 0 ? source - 1 : newest.source;
      add_reaction(path, history, trail, before, begin + latency);
    }
  }
  newest = {source, latency};

  const Run* const end = store.find(trail.hops.back().run);
  const auto uncertainty =
      recorded.clocks.size() < 2 || end == nullptr
          ? std::optional(Duration{0})
          : uncertainty_between(recorded, root != nullptr ? root->thread : message->thread,
                                end->thread, begin);
  path.uncertainty = path.uncertainty && uncertainty
                         ? std::optional(std::max(*path.uncertainty, *uncertainty))
                         : std::nullopt;
  keep(path, history, breakdown, trail,
       {sink, begin, latency, uncertainty, breakdown.before_readers, !trail.is_uncertain, {}, {}});
}

void PathCollector::keep(Path& path, const History& history, const Breakdown& breakdown,
                         const Trail& trail, PathInstance instance) {
  const Store& store = history.store();
  const bool is_asked = options_.asked == instance.number;
  const bool is_bad =
      path.worst.size() < worst_kept || instance.latency > path.worst.back().latency;
  if (options_.list && listed_ < most_listed) {
    ++listed_;
    PathInstance& listed = path.instances.emplace_back(instance);
    const auto add_times = [&](InstanceId id) {
      const Run* const run = store.find(id);
      listed.times.emplace_back(run == nullptr ? instance.begin : run->start,
                                run == nullptr ? instance.begin : run->end);
    };
    for (std::size_t i = 0; i < trail.hops.size(); ++i) {
      add_times(trail.hops[i].run);
      if (trail.hops[i].kind == LinkKind::periodic_async) {
        const PublicationId next =
            i + 1 < trail.hops.size() ? trail.hops[i + 1].message : trail.last;
        add_times(store.find(next)->run);
      }
    }
  } else {
    unlinked_.instances_not_listed += options_.list ? 1u : 0u;
  }
  if (!is_asked && !is_bad) {
    return;
  }
  for (std::size_t i = breakdown.first; i < breakdown.last; ++i) {
    const Part& part = breakdown.parts[i];
    const Run* const run = store.find(part.run);
    const auto callback = run == nullptr ? std::nullopt : std::optional(run->callback);
    if (!instance.parts.empty() && says_the_same(instance.parts.back(), part, callback)) {
      instance.parts.back().part.duration += part.duration;
    } else {
      instance.parts.push_back({part, callback});
    }
  }
  if (is_asked) {
    path.asked = instance;
  }
  if (is_bad) {
    const auto worse = [](const PathInstance& a, const PathInstance& b) {
      return a.latency > b.latency;
    };
    path.worst.insert(std::ranges::upper_bound(path.worst, instance, worse), std::move(instance));
    path.worst.resize(std::min(path.worst.size(), worst_kept));
  }
}

void PathCollector::collect(const LinkedHistory& recorded, const Ends& ends, std::uint64_t begin,
                            std::uint64_t end) {
  Walk walk(*this, recorded, ends);
  const History& history = recorded.history;
  const Store& store = history.store();
  const Sinks sinks = ends.to
                          ? Sinks{ends.to->callbacks, {}}
                          : find_sinks(history, recorded.database.objects(), recorded.causality);
  const auto has = [](const std::vector<bool>& set, execution::ObservedCallbackIndex callback) {
    return callback.value() < set.size() && set[callback.value()];
  };
  for (std::uint64_t number = begin; number < end; ++number) {
    const auto id = static_cast<InstanceId>(number);
    const Run* const run = store.find(id);
    if (run == nullptr) {
      continue;
    }
    if (has(sinks.callbacks, run->callback)) {
      walk.from_run(id);
    }
    const bool is_sender = has(sinks.senders, run->callback);
    for (const PublicationId message : history.sent_by(id)) {
      const auto& publisher = store.find(message)->publisher;
      if (is_sender || (ends.to && publisher && ends.to->has(*publisher))) {
        walk.from_message(message);
      }
    }
  }
}

void PathCollector::finish() {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (newest_[i].source != 0) {
      paths_[i].last.record(newest_[i].latency);
    }
  }
}

}  // namespace takt::flow
