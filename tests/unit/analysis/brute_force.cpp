#include "brute_force.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace takt::model {

namespace {

/// A chain instance on its way: which chain, which of its callbacks is due, since when.
struct Token {
  std::size_t chain;
  std::size_t position;
  std::int64_t since;
};

struct Instance {
  std::size_t callback;
  std::int64_t activated;
  std::optional<std::size_t> along;  // edge that activated it; none: the callback's own clock
  std::vector<Token> tokens;
};

struct Message {
  std::int64_t arrives;
  std::size_t edge;
  std::vector<Token> tokens;
};

class Run {
 public:
  Run(const Model& model, std::int64_t ticks, Choices choices, std::mt19937& random)
      : model_(model), ticks_(ticks), choices_(choices), random_(random) {
    const std::size_t size = model.callbacks.size();
    pending_.resize(size);
    costs_.resize(size);
    releases_.resize(size);
    unread_.resize(size);
    waiting_.resize(model.joins.size());
    for (std::size_t j = 0; j < model.joins.size(); ++j) {
      waiting_[j].resize(model.joins[j].inputs.size());
    }
    observed_.callbacks.resize(size);
    observed_.chains.resize(model.chains.size());
    for (std::size_t c = 0; c < size; ++c) {
      if (model.callbacks[c].activation) plan_releases(c);
    }
    for (std::size_t e = 0; e < model.executors.size(); ++e) {
      threads_.emplace_back();
      threads_.back().ready.resize(size, false);
      phase_.push_back(choices.synchronous && pick(0, 1) == 0 ? 0 : pick(0, 1000));
    }
  }

  Observed result() {
    for (std::int64_t now = 0; now < ticks_; ++now) {
      deliver(now);
      for (std::size_t e = 0; e < model_.executors.size(); ++e) {
        if (supplied(e, now)) tick(e, now);
      }
    }
    return observed_;
  }

 private:
  struct Running {
    Instance instance;
    std::int64_t left;
    std::int64_t done = 0;
    std::vector<std::pair<std::int64_t, std::size_t>> publications;  // progress, edge
  };
  struct Thread {
    std::optional<Running> running;
    std::vector<bool> ready;  // the readySet
    std::int64_t period = -1;
    std::int64_t budget_from = 0;
  };

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution(low, high)(random_);
  }
  /// Mostly the extreme, sometimes anything up to it.
  std::int64_t at_most(std::int64_t most) {
    return choices_.adversarial && pick(0, 9) > 0 ? most : pick(0, most);
  }
  bool sometimes() { return pick(0, 4) == 0; }

  void plan_releases(std::size_t c) {
    const Activation& activation = *model_.callbacks[c].activation;
    auto& times = releases_[c];
    if (const auto* periodic = std::get_if<PeriodicActivation>(&activation)) {
      // From the first period on, so that a message never waits longer for its sampler.
      const std::int64_t begin = pick(0, choices_.synchronous ? 3 : periodic->period.count() - 1);
      const auto jitter = periodic->jitter.count();
      for (std::int64_t nominal = begin; nominal < ticks_; nominal += periodic->period.count()) {
        // Late ones followed by punctual ones bunch up.
        times.push_back(nominal + (pick(0, 1) == 0 ? jitter : pick(0, jitter)));
      }
      std::ranges::sort(times);
      return;
    }
    const std::int64_t begin = pick(0, choices_.synchronous ? 3 : 300);
    std::vector<std::int64_t> distances;
    if (const auto* sporadic = std::get_if<SporadicActivation>(&activation)) {
      distances = {0, sporadic->min_separation.count()};
    } else {
      for (const Duration d : std::get<MinDistanceActivation>(activation).values) {
        distances.push_back(d.count());
      }
    }
    for (std::int64_t next = begin; next < ticks_;) {
      times.push_back(next);
      for (std::size_t n = 2; n <= distances.size() && n <= times.size() + 1; ++n) {
        next = std::max(next, times[times.size() + 1 - n] + distances[n - 1]);
      }
      if (!choices_.adversarial || sometimes()) next += pick(0, 40);
    }
  }

  bool supplied(std::size_t e, std::int64_t now) {
    const auto* reservation = std::get_if<ReservationSupply>(&model_.executors[e].supply);
    if (reservation == nullptr) return true;
    const std::int64_t length = reservation->period.count();
    const std::int64_t period = (now + phase_[e] % length) / length;
    const std::int64_t slot = (now + phase_[e] % length) % length;
    Thread& thread = threads_[e];
    if (period != thread.period) {
      thread.period = period;
      const std::int64_t latest = reservation->deadline.count() - reservation->budget.count();
      thread.budget_from = choices_.late_budgets ? (period == 0 ? 0 : latest) : pick(0, latest);
    }
    return slot >= thread.budget_from && slot < thread.budget_from + reservation->budget.count();
  }

  void deliver(std::int64_t now) {
    for (std::size_t c = 0; c < releases_.size(); ++c) {
      while (!releases_[c].empty() && releases_[c].front() <= now) {
        activate({c, releases_[c].front(), std::nullopt, {}});
        releases_[c].pop_front();
      }
    }
    while (!messages_.empty() && messages_.begin()->first <= now) {
      receive(messages_.begin()->second);
      messages_.erase(messages_.begin());
    }
  }

  void receive(const Message& message) {
    const Edge& edge = model_.edges[message.edge];
    const std::size_t to = edge.to.value();
    const CallbackKind kind = model_.callbacks[to].kind;
    if (kind == CallbackKind::timer || kind == CallbackKind::event_source) {
      unread_[to].insert(unread_[to].end(), message.tokens.begin(), message.tokens.end());
      return;
    }
    if (model_.callbacks[to].activation) return;  // its releases are planned
    for (std::size_t j = 0; j < model_.joins.size(); ++j) {
      const Join& join = model_.joins[j];
      if (join.callback != edge.to) continue;
      const auto input = std::ranges::find(join.inputs, edge.from);
      if (input == join.inputs.end()) break;
      auto& waiting = waiting_[j];
      auto& count = waiting[static_cast<std::size_t>(input - join.inputs.begin())];
      count = join.kind == JoinKind::and_ ? count + 1 : 1;
      if (std::ranges::count(waiting, 0) > 0) return;
      for (auto& w : waiting) w = join.kind == JoinKind::and_ ? w - 1 : 0;
      break;
    }
    activate({to, message.arrives, message.edge, message.tokens});
  }

  void activate(Instance instance) {
    for (std::size_t k = 0; k < model_.chains.size(); ++k) {
      if (model_.chains[k].callbacks.front().value() == instance.callback) {
        instance.tokens.push_back({k, 0, instance.activated});
      }
    }
    pending_[instance.callback].push_back(std::move(instance));
  }

  void tick(std::size_t e, std::int64_t now) {
    Thread& thread = threads_[e];
    if (!thread.running) {
      const auto next = select(e);
      if (!next) return;
      start(e, *next);
    }
    Running& running = *thread.running;
    ++running.done;
    --running.left;
    for (const auto& [progress, edge] : running.publications) {
      if (progress == running.done) publish(running.instance, edge, now + 1);
    }
    if (running.left == 0) {
      complete(running.instance, now + 1);
      thread.running.reset();
    }
  }

  bool privileged(std::size_t c) const {
    const Callback& callback = model_.callbacks[c];
    if (callback.kind == CallbackKind::event_source) return true;
    return callback.kind == CallbackKind::timer &&
           model_[callback.executor].timers == TimerHandling::privileged;
  }

  static int category(CallbackKind kind) {
    const std::vector<CallbackKind> order{CallbackKind::event_source, CallbackKind::timer,
                                          CallbackKind::subscription, CallbackKind::service,
                                          CallbackKind::client,       CallbackKind::waitable};
    return static_cast<int>(std::ranges::find(order, kind) - order.begin());
  }
  bool precedes(std::size_t a, std::size_t b) const {
    const Callback& x = model_.callbacks[a];
    const Callback& y = model_.callbacks[b];
    return std::tuple(category(x.kind), x.registration, a) <
           std::tuple(category(y.kind), y.registration, b);
  }

  /// The default executor, ros-llama S-1.2.
  std::optional<std::size_t> select(std::size_t e) {
    auto& ready = threads_[e].ready;
    const auto choose = [&]() {
      std::optional<std::size_t> best;
      for (std::size_t c = 0; c < pending_.size(); ++c) {
        if (model_.callbacks[c].executor.value() != e || pending_[c].empty()) continue;
        if (!privileged(c) && !ready[c]) continue;
        const bool first_category = best && privileged(*best) != privileged(c);
        if (!best || (first_category ? privileged(c) : precedes(c, *best))) best = c;
      }
      return best;
    };
    auto best = choose();
    if (!best) {
      for (std::size_t c = 0; c < pending_.size(); ++c) {
        ready[c] = model_.callbacks[c].executor.value() == e && !pending_[c].empty();
      }
      best = choose();
    }
    if (best) ready[*best] = false;
    return best;
  }

  void start(std::size_t e, std::size_t c) {
    Running running{pending_[c].front(), cost(c), 0, {}};
    pending_[c].pop_front();
    for (const Token& token : unread_[c]) running.instance.tokens.push_back(token);
    unread_[c].clear();
    for (std::size_t edge = 0; edge < model_.edges.size(); ++edge) {
      if (model_.edges[edge].from.value() != c || !triggers(running.instance, edge)) continue;
      if (!choices_.adversarial && sometimes()) continue;  // an instance need not publish
      running.publications.emplace_back(
          choices_.adversarial && !sometimes() ? running.left : pick(1, running.left), edge);
    }
    threads_[e].running = std::move(running);
  }

  bool triggers(const Instance& instance, std::size_t edge) const {
    const auto& triggered_by = model_.edges[edge].triggered_by;
    if (!triggered_by || !instance.along) return true;
    return std::ranges::count(*triggered_by, model_.edges[*instance.along].from) > 0;
  }

  /// The longest cost, or one below it, that keeps all sums of consecutive instances within ET.
  std::int64_t cost(std::size_t c) {
    const auto& curve = model_.callbacks[c].execution_time;
    auto& past = costs_[c];
    std::int64_t most = curve[0].count();
    std::int64_t sum = 0;
    for (std::size_t n = 2; n <= curve.size() && n <= past.size() + 1; ++n) {
      sum += past[past.size() + 1 - n];
      most = std::min(most, curve[n - 1].count() - sum);
    }
    const std::int64_t cost = std::max<std::int64_t>(1, at_most(most));
    past.push_back(cost);
    const auto& overhead = model_[model_.callbacks[c].executor].overhead;
    return cost + (overhead.empty() ? 0 : overhead[0].count());
  }

  void publish(const Instance& instance, std::size_t edge, std::int64_t now) {
    Message message{now + at_most(model_.edges[edge].delay.count()), edge, {}};
    for (const Token& token : instance.tokens) {
      const auto& callbacks = model_.chains[token.chain].callbacks;
      if (token.position + 1 < callbacks.size() &&
          callbacks[token.position + 1] == model_.edges[edge].to) {
        message.tokens.push_back({token.chain, token.position + 1, token.since});
      }
    }
    messages_.emplace(message.arrives, message);
  }

  void complete(const Instance& instance, std::int64_t now) {
    auto& longest = observed_.callbacks[instance.callback];
    longest = std::max(longest, now - instance.activated);
    for (const Token& token : instance.tokens) {
      if (token.position + 1 < model_.chains[token.chain].callbacks.size()) continue;
      auto& chain = observed_.chains[token.chain];
      chain = std::max(chain, now - token.since);
    }
  }

  const Model& model_;
  std::int64_t ticks_;
  Choices choices_;
  std::mt19937& random_;
  std::vector<std::deque<Instance>> pending_;
  std::vector<std::deque<std::int64_t>> releases_;
  std::vector<std::vector<std::int64_t>> costs_;
  std::vector<std::vector<Token>> unread_;
  std::vector<std::vector<int>> waiting_;
  std::multimap<std::int64_t, Message> messages_;
  std::vector<Thread> threads_;
  std::vector<std::int64_t> phase_;
  Observed observed_;
};

}  // namespace

Observed execute(const Model& model, std::int64_t ticks, Choices choices, std::mt19937& random) {
  return Run(model, ticks, choices, random).result();
}

}  // namespace takt::model
