#include "chains/end_to_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chains/chains.hpp"
#include "full_queues.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/message_share.hpp"
#include "takt/model/order.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

namespace {

/// The longest times between consecutive events. Activation curves do not tell them: they count the
/// most events.
class Gaps {
 public:
  Gaps(const model::Model& model, const System& system, const FixedPoint& solution)
      : model_(model),
        system_(system),
        solution_(solution),
        known_(system.edges.size()),
        is_followed_(system.edges.size()) {}

  /// The longest time from one activation of the callback that is served to the next;
  /// unbounded_time if there is no limit.
  Duration of(CallbackIndex callback) {
    const Task& task = system_[callback];
    Duration shortest = task.own ? of_own(callback) : unbounded_time;
    for (const std::size_t e : task.incoming) {
      if (!joined(callback, e)) shortest = std::min(shortest, of_edge(e));
    }
    if (!task.join) return shortest;
    // From one activation on, every input is new again after its own longest gap.
    Duration longest{0};
    for (const auto& input : system_.joins[*task.join].inputs) {
      longest = std::max(longest, of_input(input));
    }
    return std::min(shortest, longest);
  }

  /// The longest time from one message of a join's input, along any of these edges, to the next.
  Duration of_input(std::span<const std::size_t> edges) {
    Duration shortest = unbounded_time;
    for (const std::size_t e : edges) shortest = std::min(shortest, of_edge(e));
    return shortest;
  }

  /// The longest time from one activation that makes the sender publish along the edge to the next
  /// one. If the edge has a trigger set, only messages of the named senders make it publish. There
  /// is no limit if only a share of its instances sends, or if the sender's queue may lose messages
  /// that would make it publish.
  Duration of_publications(const model::Edge& edge) {
    if (may_lose(edge.from) || model::message_share(edge)) return unbounded_time;
    if (!edge.triggered_by) return of(edge.from);
    Duration shortest = unbounded_time;
    for (const std::size_t e : system_[edge.from].incoming) {
      // It is not known how often this input completes the join.
      if (joined(edge.from, e) || !named(edge, system_.edges[e].from)) continue;
      shortest = std::min(shortest, of_edge(e));
    }
    return shortest;
  }

  /// Whether messages of `sender` always make the edge's own sender publish along it.
  [[nodiscard]] bool always_publishes(const model::Edge& edge, CallbackIndex sender) const {
    if (model::message_share(edge)) return false;
    if (!edge.triggered_by) return true;
    return named(edge, sender) &&
           std::ranges::any_of(system_[edge.from].incoming, [&](std::size_t e) {
             return system_.edges[e].from == sender && !joined(edge.from, e);
           });
  }

  [[nodiscard]] std::int64_t most_within_bound(CallbackIndex callback) const {
    return solution_.curves().activations(callback).count(solution_.response(callback));
  }

  [[nodiscard]] bool may_lose(CallbackIndex callback) const {
    return may_be_full(system_, solution_, callback);
  }

  [[nodiscard]] bool joined(CallbackIndex callback, std::size_t edge) const {
    const auto join = system_[callback].join;
    return join && std::ranges::binary_search(system_.joins[*join].edges, edge);
  }

 private:
  [[nodiscard]] static bool named(const model::Edge& edge, CallbackIndex sender) {
    return std::ranges::count(*edge.triggered_by, sender) > 0;
  }

  Duration of_own(CallbackIndex callback) const {
    const auto* periodic = std::get_if<model::PeriodicActivation>(&*model_[callback].activation);
    const Duration response = solution_.response(callback);
    if (periodic == nullptr || response == unbounded_time) return unbounded_time;
    // A timer that is served later than its next expiry may skip that one, but none after it.
    const bool skips = response > periodic->period - periodic->jitter;
    const Duration late = skips ? response : Duration{0};
    return saturating_add(periodic->period + periodic->jitter, late);
  }

  /// The longest time from one arrival to the next: the first message may have left at its sender's
  /// activation, the second when its instance ends.
  Duration of_edge(std::size_t e) {
    if (known_[e]) return *known_[e];
    // Find those of all edges upstream first, in trigger order, so that none needs another that is
    // not known yet: a pipeline may be too long for recursion.
    std::vector<std::size_t> open{e};
    std::vector<std::size_t> upstream;
    while (!open.empty()) {
      const std::size_t next = open.back();
      open.pop_back();
      if (is_followed_[next]) continue;
      is_followed_[next] = true;
      upstream.push_back(next);
      const auto& before = system_[system_.edges[next].from].incoming;
      open.insert(open.end(), before.begin(), before.end());
    }
    std::ranges::sort(upstream);
    for (const std::size_t next : upstream) {
      const TriggerEdge& edge = system_.edges[next];
      known_[next] = saturating_add(of_publications(model_.edges[edge.in_model]),
                                    saturating_add(solution_.response(edge.from), edge.delay));
    }
    return *known_[e];
  }

  const model::Model& model_;
  const System& system_;
  const FixedPoint& solution_;
  /// By edge: of_edge(), as far as it was asked for.
  std::vector<std::optional<Duration>> known_;
  std::vector<bool> is_followed_;
};

/// A time, or the reason why there is none.
struct Total {
  Duration value{};
  std::string reason;

  void add(Duration time) { value = saturating_add(value, time); }
  void fail(std::string why) {
    if (reason.empty()) reason = std::move(why);
    value = unbounded_time;
  }
};

class EndToEnd {
 public:
  EndToEnd(const model::Model& model, const System& system, FixedPoint& solution)
      : model_(model), system_(system), solution_(solution), gaps_(model, system, solution) {}

  /// `segments`: the bounds of the chain's segments, which are known already.
  void find(std::span<const CallbackIndex> chain, std::span<const Segment> segments) {
    check_flow(chain);
    check_replacement(chain);
    const CallbackIndex head = chain.front();
    if (model_[head].kind == model::CallbackKind::timer) {
      reaction_.add(gap(head, reaction_));
    }
    // Callbacks that sample cut the chain into parts. `part` is the longest time from the
    // activation of the present part's first callback to its messages' arrival.
    Duration part{0};
    Duration head_gap = first_gap(chain);
    bool overtakes = false;
    const CallbackIndex* sender = nullptr;
    const std::vector<Stretch> stretches = stretches_of(model_, system_, chain, true);
    const auto lengths = [](const auto& any) { return any.callbacks.size(); };
    const bool known = std::ranges::equal(stretches, segments, {}, lengths, lengths);
    for (std::size_t s = 0; s < stretches.size(); ++s) {
      const Stretch& stretch = stretches[s];
      const CallbackIndex first = stretch.callbacks.front();
      part = saturating_add(part, stretch.delay);
      reaction_.add(stretch.delay);
      if (stretch.sampled) {
        if (auto why = why_they_wait(model_, *sender, first); !why.empty()) fail(why);
        // The data that is read has not been replaced yet by data of the next activation of the
        // part's head or, if instances may overtake each other, of the next activation after its
        // own arrival.
        const Duration kept = saturating_add(part, overtakes ? part : Duration{0});
        age_.add(saturating_add(head_gap, kept));
        if (head_gap == unbounded_time) age_.fail(seldom(*sender));
        if (overtakes) add_overtaken(part, head_gap, *sender);
        part = Duration{0};
        overtakes = false;
        head_gap = gap(first, reaction_);
        reaction_.add(head_gap);
      } else if (sender != nullptr) {
        if (overtakes && keeps_newest(*sender, first)) add_overtaken(part, head_gap, *sender);
        const Duration wait = wait_at_join(*sender, first);
        part = saturating_add(part, wait);
        reaction_.add(wait);
      }
      const Duration response = known ? segments[s].bound.value_or(unbounded_time)
                                      : bound_of(stretch, solution_).response;
      part = saturating_add(part, response);
      reaction_.add(response);
      for (const CallbackIndex callback : stretch.callbacks) {
        overtakes = overtakes || may_overtake(callback);
      }
      sender = &stretch.callbacks.back();
    }
    age_.add(part);
  }

  [[nodiscard]] const Total& reaction() const { return reaction_; }
  [[nodiscard]] const Total& age() const { return age_; }

 private:
  void fail(const std::string& why) {
    reaction_.fail(why);
    age_.fail(why);
  }

  [[nodiscard]] std::string seldom(CallbackIndex callback) const {
    return fmt::format("nothing limits the time between two messages of \"{}\"",
                       model_[callback].id);
  }

  Duration gap(CallbackIndex callback, Total& time) {
    const Duration gap = gaps_.of(callback);
    if (gap == unbounded_time && solution_.response(callback) != unbounded_time) {
      time.fail(fmt::format(
          "nothing limits the time between activations of \"{}\"; a periodic activation would",
          model_[callback].id));
    }
    return gap;
  }

  /// An older message may arrive after that of an input, and replace it where only the newest one
  /// counts. All messages of activations up to the input's arrive within `part`. The message of the
  /// first activation after that arrives after them, and later messages are newer still.
  void add_overtaken(Duration part, Duration head_gap, CallbackIndex sender) {
    reaction_.add(saturating_add(head_gap, part));
    if (head_gap == unbounded_time) reaction_.fail(seldom(sender));
  }

  /// The longest time from one activation that starts the chain to the next.
  Duration first_gap(std::span<const CallbackIndex> chain) {
    if (chain.size() == 1) return gaps_.of(chain.front());
    Duration shortest = unbounded_time;
    for (const model::Edge* edge : edges_between(model_, chain[0], chain[1])) {
      shortest = std::min(shortest, gaps_.of_publications(*edge));
    }
    return shortest;
  }

  [[nodiscard]] std::optional<std::size_t> edge_between(CallbackIndex from,
                                                        CallbackIndex to) const {
    for (const std::size_t e : system_[to].incoming) {
      if (system_.edges[e].from == from) return e;
    }
    return std::nullopt;
  }

  /// Every message must lead to the next one, and none may be lost on the way.
  void check_flow(std::span<const CallbackIndex> chain) {
    for (std::size_t n = 0; n < chain.size(); ++n) {
      const model::Callback& callback = model_[chain[n]];
      if (gaps_.may_lose(chain[n])) {
        fail(
            fmt::format("the queue of \"{}\" may lose messages: up to {} come within its bound, "
                        "and it holds {}",
                        callback.id, gaps_.most_within_bound(chain[n]), *callback.queue_depth));
      }
      if (n + 1 == chain.size()) continue;
      const auto between = edges_between(model_, chain[n], chain[n + 1]);
      const auto shared = [](const model::Edge* edge) {
        return model::message_share(*edge).has_value();
      };
      const auto flows = [&](const model::Edge* edge) {
        return n == 0 || gaps_.always_publishes(*edge, chain[n - 1]);
      };
      // If edges are parallel, the receiver may read from one on which messages are rare.
      const bool rare = std::ranges::any_of(between, shared);
      if (!rare && std::ranges::any_of(between, flows)) continue;
      const std::string& next = model_[chain[n + 1]].id;
      fail(n == 0 ? fmt::format("\"{}\" does not always send to \"{}\"", callback.id, next)
                  : fmt::format("messages of \"{}\" do not always make \"{}\" send to \"{}\"",
                                model_[chain[n - 1]].id, callback.id, next));
    }
  }

  /// Whether callback `to` joins messages of `from`, and takes the newest.
  [[nodiscard]] bool keeps_newest(CallbackIndex from, CallbackIndex to) const {
    const auto edge = edge_between(from, to);
    return edge && gaps_.joined(to, *edge) &&
           system_.joins[*system_[to].join].kind == model::JoinKind::newest;
  }

  /// Fails if a message that does not come of the chain may replace one that does. This is possible
  /// where only the newest message counts: at samplers and newest-value joins.
  void check_replacement(std::span<const CallbackIndex> chain) {
    bool mixed = false;
    for (std::size_t n = 1; n < chain.size(); ++n) {
      const bool samples = wait_between(model_, chain[n - 1], chain[n]);
      const auto& join = system_[chain[n]].join;
      const bool newest = join && system_.joins[*join].kind == model::JoinKind::newest;
      if (mixed && (samples || newest)) {
        fail(fmt::format(
            "at \"{}\", messages of \"{}\" that do not come of the chain may replace those that do",
            model_[chain[n]].id, model_[chain[n - 1]].id));
      }
      mixed = !samples && (mixed || has_other_causes(chain, n));
    }
  }

  /// Whether the n-th callback, not the first, also sends on when nothing of the chain activates
  /// it.
  [[nodiscard]] bool has_other_causes(std::span<const CallbackIndex> chain, std::size_t n) const {
    if (n + 1 == chain.size()) return false;
    const auto onward = edges_between(model_, chain[n], chain[n + 1]);
    const auto always = [](const model::Edge* edge) { return !edge->triggered_by; };
    const Task& task = system_[chain[n]];
    if (task.own && std::ranges::any_of(onward, always)) return true;
    const auto before = edge_between(chain[n - 1], chain[n]);
    const bool joins = before && gaps_.joined(chain[n], *before);
    return std::ranges::any_of(task.incoming, [&](std::size_t e) {
      const CallbackIndex cause = system_.edges[e].from;
      return cause != chain[n - 1] && !(joins && gaps_.joined(chain[n], e)) &&
             std::ranges::any_of(onward, [&](const model::Edge* edge) {
               return always(edge) || std::ranges::count(*edge->triggered_by, cause) > 0;
             });
    });
  }

  /// The longest time that a message waits at a join for those of the other inputs.
  Duration wait_at_join(CallbackIndex from, CallbackIndex to) {
    const auto edge = edge_between(from, to);
    if (!edge || !gaps_.joined(to, *edge)) return Duration{0};
    const JoinInputs& join = system_.joins[*system_[to].join];
    Duration longest{0};
    for (const auto& input : join.inputs) {
      if (std::ranges::find(input, *edge) != input.end()) {
        // With several messages to a set, the input's queue grows for ever.
        if (join.kind == model::JoinKind::and_ && input.size() > 1) longest = unbounded_time;
        continue;
      }
      const Duration wait = join.kind == model::JoinKind::newest ? gaps_.of_input(input)
                                                                 : wait_for_partner(*edge, input);
      longest = std::max(longest, wait);
    }
    if (longest == unbounded_time) {
      fail(fmt::format("at \"{}\", a message of \"{}\" may wait without limit for other inputs",
                       model_[to].id, model_[from].id));
    }
    return longest;
  }

  /// At an AND join messages wait for their partner, however old they are. The wait has a limit
  /// where both stem from one activation of a common source, and every message of it along the one
  /// way has a partner along the other.
  Duration wait_for_partner(std::size_t own, std::span<const std::size_t> input) {
    if (input.size() != 1) return unbounded_time;
    const std::vector<std::size_t> own_way = way_from_source(own);
    Duration path{0};
    for (const std::size_t e : way_from_source(input.front())) {
      const TriggerEdge& edge = system_.edges[e];
      path = saturating_add(path, saturating_add(edge.delay, solution_.response(edge.from)));
      const auto meeting = std::ranges::find(
          own_way, edge.from, [&](std::size_t other) { return system_.edges[other].from; });
      if (meeting == own_way.end()) continue;
      return system_.edges[*meeting].triggers == edge.triggers ? path : unbounded_time;
    }
    return unbounded_time;
  }

  /// The edges upstream from `edge`, as long as every activation has one message and every message
  /// one cause, in order and without loss.
  [[nodiscard]] std::vector<std::size_t> way_from_source(std::size_t edge) const {
    std::vector<std::size_t> way;
    for (std::optional<std::size_t> e = edge; e; e = single_cause(*e)) {
      const CallbackIndex sender = system_.edges[*e].from;
      const model::Edge& sent = model_.edges[system_.edges[*e].in_model];
      if (may_overtake(sender) || gaps_.may_lose(sender) || model::message_share(sent)) break;
      way.push_back(*e);
    }
    return way;
  }

  /// The edge whose every message makes the sender of this one publish, if nothing else does.
  [[nodiscard]] std::optional<std::size_t> single_cause(std::size_t edge) const {
    const Task& sender = system_[system_.edges[edge].from];
    if (system_.edges[edge].triggers || sender.own || sender.join || sender.incoming.size() != 1) {
      return std::nullopt;
    }
    return sender.incoming.front();
  }

  /// Whether instances of a callback may end in another order than they were activated in.
  [[nodiscard]] bool may_overtake(CallbackIndex callback) const {
    const Task& task = system_[callback];
    const bool reentrant =
        system_.executors[task.executor.value()].description.threads > 1 && !task.group.has_value();
    return task.urgency.overtakes || reentrant;
  }

  const model::Model& model_;
  const System& system_;
  FixedPoint& solution_;
  Gaps gaps_;
  Total reaction_;
  Total age_;
};

}  // namespace

void add_end_to_end(ChainBound& bound, const model::Model& model, const model::Chain& chain,
                    const System& system, FixedPoint& solution) {
  EndToEnd times(model, system, solution);
  times.find(chain.callbacks, bound.segments);
  const auto take = [&](const Total& time, std::optional<Duration>& value, std::string& reason) {
    if (time.value != unbounded_time) {
      value = time.value;
    } else {
      reason = time.reason.empty() ? bound.reason : time.reason;
    }
  };
  take(times.reaction(), bound.reaction_time, bound.reaction_time_reason);
  take(times.age(), bound.data_age, bound.data_age_reason);
}

}  // namespace takt::analysis
