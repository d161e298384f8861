#include "takt/live/monitor.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "takt/execution/names.hpp"
#include "takt/flow/matching.hpp"

namespace takt::live {

namespace {

/// A message may be handled before the callback that sent it ends. After this time that callback is
/// taken to have ended.
constexpr std::chrono::milliseconds settle{500};

Instant clock_now() {
  return Instant{
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

/// The models have the same callbacks on the same executors, edges, joins and chains.
bool same_structure(const model::Model& a, const model::Model& b) {
  const auto callbacks = [](const model::Callback& x, const model::Callback& y) {
    return x.id == y.id && x.executor == y.executor;
  };
  const auto edges = [](const model::Edge& x, const model::Edge& y) {
    return x.from == y.from && x.to == y.to && x.topic == y.topic;
  };
  const auto chains = [](const model::Chain& x, const model::Chain& y) {
    return x.id == y.id && x.callbacks == y.callbacks && x.goal == y.goal;
  };
  return std::ranges::equal(a.callbacks, b.callbacks, callbacks) &&
         std::ranges::equal(a.edges, b.edges, edges) && a.joins == b.joins &&
         std::ranges::equal(a.chains, b.chains, chains);
}

/// The chains lead through the same callbacks to the same goal.
bool same_chain(const model::Model& a, const model::Chain& x, const model::Model& b,
                const model::Chain& y) {
  const auto same = [&](model::CallbackIndex i, model::CallbackIndex j) {
    return a[i].id == b[j].id;
  };
  return x.id == y.id && x.goal == y.goal && std::ranges::equal(x.callbacks, y.callbacks, same);
}

}  // namespace

void Relay::set(execution::Observer* observer, const execution::Database& database) {
  observer_ = observer;
  const auto steady = database.steady_since();
  if (observer != nullptr && steady) observer->on_steady_state(database, *steady);
}

Result<std::unique_ptr<Monitor>> Monitor::start(Options options) {
  const bool only_started = options.only_started;
  return Stream::start(only_started).map([&](auto stream) {
    return std::unique_ptr<Monitor>(new Monitor(std::move(options), std::move(stream)));
  });
}

Monitor::Monitor(Options options, std::unique_ptr<Stream> stream)
    : options_(std::move(options)),
      stream_(std::move(stream)),
      interpreter_(stream_->threads()),
      synthesizer_({.prompt = options_.only_prompt_delays ? &prompt_ : nullptr}) {
  interpreter_.add(prompt_);
  interpreter_.add(synthesizer_);
  interpreter_.add(executors_);
  interpreter_.add(busy_);
  interpreter_.add(relay_);
  now_ = clock_now();
}

std::vector<std::string> Monitor::poll() {
  now_ = clock_now();
  for (ChainWindow& chain : chains_) chain.forget(now_ - options_.window);
  if (stream_->read(batch_)) take_in_batch();
  if (!measured_) return {};
  return alerts_.update(now_, measured_->chains, chains_, losses().discarded_events);
}

void Monitor::take_in_batch() {
  if (pass_.events == 0) pass_.first = batch_.events.front().time;
  pass_.last = batch_.events.back().time;
  pass_.events += batch_.events.size();
  interpreter_.consume(batch_);
  if (measurer_) measurer_->follow_until(now_ - settle);
}

bool Monitor::refresh() {
  synthesis::Options options;
  options.name = "live";
  auto model = synthesizer_.model(*stream_, interpreter_.database(), pass_, options);
  if (!model) return false;
  apply_goals(*model);
  if (!measured_ || !same_structure(*measured_, *model)) measure(*model);
  bounds_ = analysis::analyze(*model, options_.analysis);
  model_ = std::move(*model);
  return true;
}

void Monitor::apply_goals(model::Model& model) {
  missing_.clear();
  if (!options_.goals) return;
  model.chains.clear();
  for (std::size_t i = 0; i < options_.goals->chains.size(); ++i) {
    const goals::Goal& goal = options_.goals->chains[i];
    if (auto callbacks = goals::find_chain(model, goal)) {
      model::Chain& chain = model.chains.emplace_back();
      chain.id = goal.name;
      chain.callbacks = std::move(*callbacks);
      chain.goal = goal.latency;
      chain.rank = static_cast<std::int64_t>(i + 1);
    } else {
      missing_.push_back({goal.name, callbacks.error().message});
    }
  }
}

void Monitor::measure(const model::Model& model) {
  relay_.set(nullptr, interpreter_.database());
  auto measured = std::make_unique<const model::Model>(model);
  // A chain that has not changed keeps its window, whatever else changed in the model.
  std::vector<ChainWindow> windows(model.chains.size());
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    for (std::size_t former = 0; former < chains_.size(); ++former) {
      if (same_chain(*measured_, measured_->chains[former], model, model.chains[c])) {
        windows[c] = std::move(chains_[former]);
      }
    }
    if (model.chains[c].goal) windows[c].set_goal(*model.chains[c].goal);
  }
  chains_ = std::move(windows);
  const auto completed = [this](const flow::ChainInstance& seen) {
    const model::CallbackIndex first = measured_->chains[seen.chain].callbacks.front();
    const Instant activation = seen.activation + measurer_->correction(first);
    chains_[seen.chain].add(seen.completion, seen.completion - activation);
  };
  measurer_ = std::make_unique<flow::Measurer>(*measured, completed, flow::Measurer::Keep::counts);
  measured_ = std::move(measured);
  relay_.set(measurer_.get(), interpreter_.database());
}

std::vector<Monitor::Threads> Monitor::threads() const {
  const execution::Objects& objects = database().objects();
  const events::Threads& known = stream_->threads();
  const auto found = executors_.executors(objects, known);
  const auto ids = execution::executor_ids(found, known);
  std::vector<Threads> result(model_->executors.size());
  for (std::size_t e = 0; e < result.size(); ++e) {
    const auto place = std::ranges::find(ids, model_->executors[e].id);
    if (place == ids.end()) continue;
    const execution::Executor& executor = found[static_cast<std::size_t>(place - ids.begin())];
    result[e].process = known[executor.process].id;
    for (const events::ThreadIndex thread : executor.threads) {
      result[e].threads.push_back(known[thread].id);
      result[e].busy += busy_.share(thread, now_);
    }
  }
  return result;
}

void Monitor::set_prompt(const std::set<std::int64_t>& threads) {
  const events::Threads& known = stream_->threads();
  prompt_.remove_if(
      [&](events::ThreadIndex thread) { return !threads.contains(known[thread].id); });
  for (const execution::Executor& executor : executors_.executors(database().objects(), known)) {
    for (const events::ThreadIndex thread : executor.threads) {
      if (threads.contains(known[thread].id)) prompt_.add(thread, clock_now());
    }
  }
}

std::vector<Monitor::Runs> Monitor::runs() const {
  const execution::Objects& objects = database().objects();
  flow::Matcher matcher(*model_);
  std::vector<std::optional<Runs>> found(model_->callbacks.size());
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const execution::ObservedCallbackIndex index{i};
    const auto match = busy_.runs(index) == 0 ? std::nullopt : matcher.match(objects, index);
    if (!match) continue;
    // The callback of a join is several subscriptions.
    auto& runs = found[match->callback.value()];
    if (!runs) runs.emplace(Runs{.all = Runs::most, .prompt = Runs::most});
    runs->all = std::min(runs->all, busy_.runs(index));
    runs->prompt = std::min(runs->prompt, prompt_.runs(index));
    runs->first = std::max(runs->first, busy_.first_run(index));
  }
  std::vector<Runs> result;
  for (const auto& runs : found) result.push_back(runs.value_or(Runs{}));
  return result;
}

std::uint64_t Monitor::structure() const {
  const execution::Objects& objects = database().objects();
  return objects.callbacks.size() + objects.publishers.size() + objects.timers.size() +
         objects.executor_threads.size() + stream_->threads().processes().size() +
         stream_->ended_programs();
}

}  // namespace takt::live
