#include "takt/flow/causality.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <span>
#include <tuple>

#include "takt/base/grow.hpp"
#include "takt/links/held_messages.hpp"
#include "takt/links/stamped_sets.hpp"

namespace takt::flow {
namespace {

/// The messages of publishers that no run sent, in the order in which they were sent.
std::vector<PublicationId> sent_by_threads(const History& history,
                                           std::span<const execution::PublisherIndex> publishers) {
  std::vector<PublicationId> sent;
  for (const execution::PublisherIndex publisher : publishers) {
    for (const PublicationId message : history.messages_of(publisher)) {
      if (history.store().find(message)->run == InstanceId::none) sent.push_back(message);
    }
  }
  std::ranges::sort(sent);
  return sent;
}

/// Whether a run sent by one of these publishers.
bool sends_by(const History& history, InstanceId run,
              std::span<const execution::PublisherIndex> publishers) {
  return std::ranges::any_of(history.sent_by(run), [&](PublicationId sent) {
    const auto& publisher = history.store().find(sent)->publisher;
    return publisher && std::ranges::find(publishers, *publisher) != publishers.end();
  });
}

}  // namespace

std::string_view to_string(LinkKind kind) {
  switch (kind) {
    case LinkKind::direct:
      return "direct";
    case LinkKind::periodic_async:
      return "periodic_async";
    case LinkKind::partial_sync:
      break;
  }
  return "partial_sync";
}

LinkKind kind_of(const links::Link& link) {
  return link.kind == links::Link::Kind::sampled ? LinkKind::periodic_async
                                                 : LinkKind::partial_sync;
}

Causality::Causality(const History& history, const execution::Objects& objects,
                     std::vector<links::Link> links)
    : history_(history),
      objects_(objects),
      links_(std::move(links)),
      firings_(links_.size()),
      used_(links_.size()),
      oldest_(links_.size()),
      users_(links_.size()) {
  const Store& store = history.store();
  for (std::size_t number = 0; number < links_.size(); ++number) {
    const links::Link& link = links_[number];
    if (link.grounds == links::Grounds::ambiguous) {
      continue;
    }
    for (const auto input : link.inputs) {
      grow_to(of_input_, input).push_back(number);
    }
    if (link.reader) grow_to(of_reader_, *link.reader).push_back(number);
    for (const auto output : link.outputs) {
      grow_to(of_publisher_, output).push_back(number);
      for (const PublicationId message : history.messages_of(output)) {
        const InstanceId run = store.find(message)->run;
        if (store.find(run) != nullptr) {
          firings_[number].push_back(run);
        }
      }
    }
    const bool is_declared = link.grounds == links::Grounds::declared && !link.reader;
    if (is_declared || link.is_handed) find_handed(number);
    std::ranges::sort(firings_[number]);
    const auto repeated = std::ranges::unique(firings_[number]);
    firings_[number].erase(repeated.begin(), repeated.end());
    if (link.kind == links::Link::Kind::joined) {
      const bool bound = binds_on_arrival(number);
      if (link.waits_for_transform) {
        find_waiting(number);
      } else if (link.matches_stamps) {
        find_range(number);
        find_by_stamps(number);
      } else if (link.join == model::JoinKind::and_ || bound) {
        replay(number, bound);
      } else {
        find_used(number);
      }
      for (std::size_t i = 0; i < used_[number].size(); ++i) {
        if (used_[number][i] != InstanceId::none) {
          users_[number].emplace_back(used_[number][i], i / link.inputs.size());
        }
      }
      std::ranges::sort(users_[number]);
    }
  }
}

/// Each firing uses up the messages that came since the one before. Where callbacks overlap, a
/// message that came while it ran is for the next firing. If there is no other one, this firing
/// used it: the two runs raced for the lock.
void Causality::find_used(std::size_t number) {
  const Store& store = history_.store();
  const links::Link& link = links_[number];
  std::vector<InstanceId> newest(link.inputs.size(), InstanceId::none);
  for (const InstanceId id : firings_[number]) {
    const Run& firing = *store.find(id);
    const bool is_member = std::ranges::find(link.inputs, firing.callback) != link.inputs.end();
    for (std::size_t i = 0; i < link.inputs.size(); ++i) {
      std::optional<InstanceId> input;
      if (firing.callback == link.inputs[i]) {
        newest[i] = id;
      } else if (is_member) {
        input = history_.last_ended(link.inputs[i], firing.start);
        if (!input || *input <= newest[i]) {
          input = history_.first_after(link.inputs[i], newest[i]);
        }
        if (input && (*input <= newest[i] || store.find(*input)->end > firing.end)) {
          input.reset();
        }
        newest[i] = input.value_or(newest[i]);
      }
      used_[number].push_back(input.value_or(InstanceId::none));
    }
  }
}

/// Whether all messages of the link's inputs are there since they were made.
bool Causality::is_whole(const links::Link& link) const {
  return history_.store().first_run() == 1 &&
         std::ranges::none_of(objects_.recoveries, [&](const execution::Recovery& recovery) {
           return recovery.process == link.process;
         });
}

/// A filter of message_filters makes its sets in the order of their stamps, and uses a message
/// once. So each set uses a later message of an input than the set before, the first one may have
/// used any since the input began to exist, and none one that came later than the set. Whether the
/// message that completed the set is of it depends on the filter.
void Causality::find_range(std::size_t number) {
  const Store& store = history_.store();
  const links::Link& link = links_[number];
  const std::size_t inputs = link.inputs.size();
  used_[number].assign(firings_[number].size() * inputs, InstanceId::none);
  oldest_[number] = used_[number];
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto runs = history_.runs_of(link.inputs[i]);
    // The last run that a set before has used for certain, or at the earliest.
    InstanceId before = InstanceId::none;
    bool is_known = is_whole(link);
    for (std::size_t f = 0; f < firings_[number].size(); ++f) {
      const InstanceId id = firings_[number][f];
      const Run& firing = *store.find(id);
      if (std::ranges::find(link.inputs, firing.callback) == link.inputs.end()) continue;
      const bool is_last = firing.callback == link.inputs[i];
      if (is_last && link.last_is_of_set) {
        before = oldest_[number][f * inputs + i] = id;
        is_known = true;
        continue;
      }
      // Beside this run, one that began before its end may have brought a message.
      const auto after = std::ranges::partition_point(
          runs, [&](InstanceId run) { return store.find(run)->start < firing.end; });
      if (after == runs.begin()) continue;
      const InstanceId newest = is_last ? id : *std::prev(after);
      if (!is_last) used_[number][f * inputs + i] = newest;
      const InstanceId oldest =
          history_.first_after(link.inputs[i], before).value_or(InstanceId::none);
      // A set more than there are messages: something is not in the trace, or the filter uses
      // messages again.
      is_known = is_known && oldest != InstanceId::none && oldest <= newest;
      if (is_known) before = oldest_[number][f * inputs + i] = oldest;
    }
  }
}

/// Where the stamps of all messages were recorded, and explain which messages completed the sets,
/// they tell what the sets are made of. A run that made several sent a message of each in turn.
void Causality::find_by_stamps(std::size_t number) {
  const Store& store = history_.store();
  const links::Link& link = links_[number];
  const std::size_t inputs = link.inputs.size();
  if (inputs < 2 || !is_whole(link)) return;
  std::vector<std::pair<InstanceId, std::size_t>> runs;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const InstanceId run : history_.runs_of(link.inputs[i])) runs.emplace_back(run, i);
  }
  std::ranges::sort(runs);
  std::vector<links::StampedMessage> messages;
  std::vector<std::size_t> completions;
  for (const auto& [run, input] : runs) {
    const Message* const message = store.find(store.find(run)->source);
    if (message == nullptr || message->stamp == 0) return;
    const auto sets = std::ranges::count_if(history_.sent_by(run), [&](PublicationId sent) {
      return store.find(sent)->publisher == link.outputs.front();
    });
    completions.insert(completions.end(), static_cast<std::size_t>(sets), messages.size());
    messages.push_back({input, message->stamp});
  }
  auto sets = links::exact_sets(messages, inputs, completions);
  if (!sets && !link.last_is_of_set) {
    sets = links::approximate_sets(messages, inputs, completions);
  }
  if (!sets) return;
  links_[number].has_known_sets = true;
  std::ranges::fill(used_[number], InstanceId::none);
  std::map<std::pair<InstanceId, execution::PublisherIndex>, std::size_t> told;
  for (const links::StampedSet& set : *sets) {
    const InstanceId run = runs[set.completed_by].first;
    const auto firing = std::ranges::lower_bound(firings_[number], run) - firings_[number].begin();
    std::vector<Input> members;
    for (const std::size_t message : set.members) {
      const InstanceId member = runs[message].first;
      const LinkKind kind = member == run ? LinkKind::direct : LinkKind::partial_sync;
      members.push_back({member, kind, number, member});
      if (member != run) users_[number].emplace_back(member, static_cast<std::size_t>(firing));
    }
    for (const execution::PublisherIndex output : link.outputs) {
      std::size_t before = told[{run, output}]++;
      for (const PublicationId sent : history_.sent_by(run)) {
        if (store.find(sent)->publisher == output && before-- == 0) sets_.emplace(sent, members);
      }
    }
  }
}

/// A run that receives a transform publishes what waited for it. Each message leads to at most one
/// by a publisher; one that needed no transform, within its own run. Of messages that one publisher
/// sent in the order of their stamps, a later run of /tf completes later ones; those that one run
/// completes may be in any order. A message that is never completed stays among those that may have
/// been; if a published message has its stamp, or that of another one, this tells which it was.
void Causality::find_waiting(std::size_t number) {
  const Store& store = history_.store();
  const links::Link& link = links_[number];
  const auto runs = history_.runs_of(link.inputs.front());
  bool is_in_order = is_whole(link);
  const Message* before = nullptr;
  for (const InstanceId run : runs) {
    const Message* const message = store.find(store.find(run)->source);
    is_in_order = is_in_order && message != nullptr && message->publisher &&
                  (before == nullptr ||
                   (before->publisher == message->publisher && before->stamp <= message->stamp));
    before = message;
  }
  for (const execution::PublisherIndex output : link.outputs) {
    std::vector<PublicationId> sent;
    std::set<InstanceId> passed_on;
    for (const PublicationId id : history_.messages_of(output)) {
      const Run* const run = store.find(store.find(id)->run);
      if (run != nullptr && run->callback == link.inputs.front()) {
        is_in_order = passed_on.insert(store.find(id)->run).second && is_in_order;
      }
      if (run != nullptr) sent.push_back(id);
    }
    const bool is_known = is_in_order && sent.size() <= runs.size();
    // The last one that was completed for certain, or at the earliest.
    InstanceId last = InstanceId::none;
    for (auto next = sent.begin(); next != sent.end();) {
      const InstanceId firing = store.find(*next)->run;
      const auto end = std::find_if(
          next, sent.end(), [&](PublicationId id) { return store.find(id)->run != firing; });
      if (passed_on.contains(firing)) {
        last = std::max(last, firing);
        next = end;
        continue;
      }
      std::vector<InstanceId> waiting;
      const Instant until = store.find(*std::prev(end))->begin;
      for (auto run = std::ranges::upper_bound(runs, last);
           run != runs.end() && store.find(*run)->start < until; ++run) {
        if (!passed_on.contains(*run)) waiting.push_back(*run);
      }
      const auto stamp_of = [&](InstanceId run) {
        const Message* const message = store.find(store.find(run)->source);
        return message == nullptr ? 0 : message->stamp;
      };
      const auto completed = static_cast<std::size_t>(end - next);
      if (!waiting.empty()) last = waiting[std::min(completed, waiting.size()) - 1];
      for (; next != end; ++next) {
        if (waiting.empty()) continue;
        Input input{waiting.back(), LinkKind::partial_sync, number,
                    is_known ? waiting.front() : InstanceId::none};
        const std::int64_t stamp = store.find(*next)->stamp;
        if (stamp != 0 && std::ranges::count(waiting, stamp, stamp_of) == 1) {
          input.run = *std::ranges::find(waiting, stamp, stamp_of);
          if (is_known) input.oldest = input.run;
          last = std::max(last, input.run);
        }
        sets_.emplace(*next, std::vector{Input{firing, LinkKind::direct, number, firing}, input});
        const auto position = std::ranges::lower_bound(firings_[number], firing);
        users_[number].emplace_back(input.run,
                                    static_cast<std::size_t>(position - firings_[number].begin()));
      }
    }
  }
}

/// A thread that serves no executor publishes what callbacks have handed to it. If it is one thread
/// that uses its messages in order, each once (message_link_partial_sync), a later message of it
/// used a later one. Else any that was there by then may have been used, and it is not known which.
/// Where the hand-over was inferred, the messages of all callbacks go through one queue, and after
/// a longer delay even the last one is not known: one may have been left out, and another made
/// without any.
void Causality::find_handed(std::size_t number) {
  const Store& store = history_.store();
  const links::Link& link = links_[number];
  const std::vector<PublicationId> sent = sent_by_threads(history_, link.outputs);
  const bool is_one = std::ranges::all_of(sent, [&](PublicationId message) {
    return store.find(message)->thread == store.find(sent.front())->thread;
  });
  const bool is_in_order =
      is_one && link.kind == links::Link::Kind::joined && store.first_run() == 1;
  std::vector<std::vector<InstanceId>> queues;
  for (const auto callback : link.inputs) {
    const auto runs = history_.runs_of(callback);
    if (queues.empty() || !link.is_handed) queues.emplace_back();
    std::ranges::copy_if(runs, std::back_inserter(queues.back()), [&](InstanceId run) {
      return !link.is_handed || !sends_by(history_, run, link.outputs);
    });
  }
  constexpr std::size_t longest_delay = 3;
  for (std::vector<InstanceId>& runs : queues) {
    std::ranges::sort(runs);
    InstanceId before = InstanceId::none;
    std::size_t delayed = 0;
    for (const PublicationId message : sent) {
      const auto after = std::ranges::partition_point(runs, [&](InstanceId run) {
        return store.find(run)->start < store.find(message)->begin;
      });
      if (after == runs.begin()) continue;
      const InstanceId newest = *std::prev(after);
      const auto next = std::ranges::upper_bound(runs, before);
      before = next == runs.end() ? newest : std::min(*next, newest);
      const bool is_known = is_in_order && !(link.is_handed && delayed > longest_delay);
      handed_[message].push_back(
          {newest, LinkKind::partial_sync, number, is_known ? before : InstanceId::none});
      delayed = before == newest ? 0 : delayed + 1;
    }
  }
}

/// Whether the executor completed the link's sets when messages came.
bool Causality::binds_on_arrival(std::size_t number) const {
  const Store& store = history_.store();
  links::SetsOnArrival seen;
  for (const auto input : links_[number].inputs) {
    for (const InstanceId id : history_.runs_of(input)) {
      const Run& run = *store.find(id);
      const Message* const message = store.find(run.source);
      seen.note(message != nullptr && !message->intra_process, run.was_chosen);
    }
  }
  return seen.holds();
}

/// Replays the messages to find which firing used which: in the order of the messages if sets are
/// `bound` when messages come, however late the callbacks run; else in that of the runs.
void Causality::replay(std::size_t number, bool bound) {
  const Store& store = history_.store();
  const links::Link& link = links_[number];
  const std::size_t inputs = link.inputs.size();
  struct Taken {
    Instant time;
    InstanceId run;
    std::size_t input;
  };
  std::vector<Taken> arrivals;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const InstanceId run : history_.runs_of(link.inputs[i])) {
      const Run& row = *store.find(run);
      arrivals.push_back({bound ? row.activation : row.start, run, i});
    }
    // A message that completed a set has used it up, even if its callback never runs.
    for (const Instant time : bound ? store.unhandled(link.inputs[i]) : std::vector<Instant>()) {
      arrivals.push_back({time, InstanceId::none, i});
    }
  }
  std::ranges::sort(arrivals, {}, [](const Taken& a) { return std::tuple(a.time, a.run); });
  used_[number].assign(firings_[number].size() * inputs, InstanceId::none);
  links::HeldMessages<std::deque<InstanceId>> held(link.join, inputs);
  for (const Taken& arrival : arrivals) {
    held.arrive(arrival.input, arrival.run);
    const auto firing = std::ranges::lower_bound(firings_[number], arrival.run);
    const bool fires = firing != firings_[number].end() && *firing == arrival.run;
    if (fires) {
      const auto row = static_cast<std::size_t>(firing - firings_[number].begin()) * inputs;
      for (std::size_t i = 0; i < inputs; ++i) {
        if (i != arrival.input && !held.of(i).empty()) {
          used_[number][row + i] = held.of(i).front();
        }
      }
    }
    if (held.is_complete()) {
      held.use();
    } else if (fires) {
      held.clear();  // something is not in the trace; the next set begins anew
    }
  }
}

/// A callback has stored what it took when it ends. When a thread that serves no executor has, no
/// event shows.
bool Causality::is_stored_by(InstanceId run, Instant time) const {
  const Store& store = history_.store();
  if (!store.is_read(run)) return true;
  const Run* const reader = store.find(store.reader_of(run));
  return reader != nullptr && reader->end <= time;
}

bool Causality::is_stored(execution::ObservedCallbackIndex callback) const {
  return callback.value() < of_input_.size() && !of_input_[callback.value()].empty();
}

/// What waits for a timer, or until another message comes.
LinkKind Causality::kind_of_use(execution::ObservedCallbackIndex reader) const {
  const execution::Callback& callback = objects_[reader];
  return callback.timer || callback.event_source ? LinkKind::periodic_async
                                                 : LinkKind::partial_sync;
}

/// The newest message of each subscription that the sender had taken by then: in this run, or
/// perhaps in an earlier one.
void Causality::add_reads(const Message& message, const Run& sender, std::size_t number,
                          std::vector<Input>& inputs) const {
  const Store& store = history_.store();
  const LinkKind kind = kind_of_use(sender.callback);
  const std::size_t first = inputs.size();
  for (const InstanceId read : store.reads_of(message.run)) {
    const Run& taken = *store.find(read);
    if (taken.end > message.sent) {
      break;
    }
    const auto of_same = std::find_if(
        inputs.begin() + static_cast<std::ptrdiff_t>(first), inputs.end(),
        [&](const Input& input) { return store.find(input.run)->callback == taken.callback; });
    // What a thread took before, it may have taken for something else.
    const InstanceId oldest = taken.end < sender.start ? InstanceId::none : read;
    if (taken.callback == sender.callback) {
      continue;  // the run has a newer one
    }
    if (of_same == inputs.end()) {
      inputs.push_back({read, kind, number, oldest});
    } else {
      of_same->run = read;
      of_same->oldest = oldest;
    }
  }
  if (links_[number].grounds != links::Grounds::observed) return;
  // Where nothing new was there, it may have used the last one again.
  for (const auto callback : links_[number].inputs) {
    const bool is_there = std::any_of(
        inputs.begin() + static_cast<std::ptrdiff_t>(first), inputs.end(),
        [&](const Input& input) { return store.find(input.run)->callback == callback; });
    const auto last = is_there ? std::nullopt : history_.last_ended(callback, sender.start);
    const Run* const reader = last ? store.find(store.reader_of(*last)) : nullptr;
    if (reader != nullptr && reader->callback == sender.callback) {
      inputs.push_back({*last, kind, number, InstanceId::none});
    }
  }
}

void Causality::add_stored(const Message& message, const Run& sender, std::size_t number,
                           std::vector<Input>& inputs) const {
  const links::Link& link = links_[number];
  if (link.waits_for_transform) return;
  if (link.is_taken) {
    if (link.reader == sender.callback) add_reads(message, sender, number, inputs);
    return;
  }
  if (link.kind == links::Link::Kind::sampled) {
    const execution::Callback& reader = objects_[sender.callback];
    if (link.reader ? link.reader != sender.callback
                    : !reader.timer || reader.process != link.process) {
      return;
    }
    for (const auto callback : link.inputs) {
      if (const auto input = history_.last_ended(callback, sender.start)) {
        const InstanceId oldest =
            is_stored_by(*input, sender.start) ? *input : history_.last_before(callback, *input);
        inputs.push_back({*input, kind_of_use(sender.callback), number, oldest});
      }
    }
    return;
  }
  if (std::ranges::find(link.inputs, sender.callback) == link.inputs.end()) {
    return;
  }
  const auto& firings = firings_[number];
  const auto firing = std::ranges::lower_bound(firings, message.run) - firings.begin();
  const auto* const used = &used_[number][static_cast<std::size_t>(firing) * link.inputs.size()];
  const auto* const oldest =
      link.matches_stamps ? used - used_[number].data() + oldest_[number].data() : used;
  for (std::size_t i = 0; i < link.inputs.size(); ++i) {
    if (link.matches_stamps && link.inputs[i] == sender.callback) {
      inputs.front().oldest = oldest[i];
    }
    if (used[i] != InstanceId::none) {
      inputs.push_back({used[i], LinkKind::partial_sync, number, oldest[i]});
    }
  }
}

void Causality::inputs(PublicationId id, std::vector<Input>& inputs) const {
  inputs.clear();
  const Store& store = history_.store();
  const Message* const message = store.find(id);
  const Run* const sender = message == nullptr ? nullptr : store.find(message->run);
  if (sender == nullptr) {
    const auto handed = handed_.find(id);
    if (handed != handed_.end()) inputs = handed->second;
    return;
  }
  if (const auto set = sets_.find(id); set != sets_.end()) {
    inputs = set->second;
    return;
  }
  inputs.push_back({message->run, LinkKind::direct, 0, message->run});
  const auto add = [&](const std::vector<std::vector<std::size_t>>& links, std::size_t of) {
    for (const std::size_t link : of < links.size() ? links[of] : std::vector<std::size_t>()) {
      add_stored(*message, *sender, link, inputs);
    }
  };
  if (message->publisher) {
    add(of_publisher_, message->publisher->value());
  } else {
    add(of_reader_, sender->callback.value());
  }
}

void Causality::outputs(InstanceId id,
                        std::vector<std::pair<PublicationId, LinkKind>>& outputs) const {
  outputs.clear();
  const Store& store = history_.store();
  const Run* const run = store.find(id);
  if (run == nullptr) {
    return;
  }
  std::vector<Input> used;
  for (const PublicationId message : history_.sent_by(id)) {
    inputs(message, used);
    // The run may have completed a set of earlier messages.
    if (std::ranges::find(used, id, &Input::run) != used.end()) {
      outputs.emplace_back(message, LinkKind::direct);
    }
  }
  if (!is_stored(run->callback)) {
    return;
  }
  const auto add = [&](std::size_t number, InstanceId firing, auto is_used) {
    const auto& of_link = links_[number].outputs;
    bool found = false;
    for (const PublicationId message : history_.sent_by(firing)) {
      const auto& publisher = store.find(message)->publisher;
      if (publisher && std::ranges::find(of_link, *publisher) != of_link.end() &&
          is_used(message)) {
        outputs.emplace_back(message, kind_of(links_[number]));
        found = true;
      }
    }
    return found;
  };
  for (const std::size_t number : of_input_[run->callback.value()]) {
    const auto& firings = firings_[number];
    if (links_[number].kind == links::Link::Kind::joined) {
      const auto user = std::ranges::lower_bound(users_[number], std::pair(id, std::size_t{0}));
      if (user != users_[number].end() && user->first == id) {
        add(number, firings[user->second], [&](PublicationId message) {
          inputs(message, used);
          return std::ranges::find(used, id, &Input::run) != used.end();
        });
      }
      continue;
    }
    auto firing = std::ranges::partition_point(
        firings, [&](InstanceId other) { return store.find(other)->end <= run->end; });
    // The search ends at the first output that does not use this run: later ones use newer runs.
    for (bool found = true; found && firing != firings.end(); ++firing) {
      found = add(number, *firing, [&](PublicationId message) {
        inputs(message, used);
        return std::ranges::any_of(used, [&](const Input& input) {
          return input.run == id && input.kind != LinkKind::direct && input.link == number;
        });
      });
      // Where callbacks overlap, a firing that began before the end of this run could not use it
      // yet.
      found = found || store.find(*firing)->start < run->end;
    }
  }
}

}  // namespace takt::flow
