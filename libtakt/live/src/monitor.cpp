#include "takt/live/monitor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include "takt/execution/names.hpp"

namespace takt::live {

namespace {

/// A message may be dealt with before the callback that sent it ends; after so long that has ended.
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
    : options_(std::move(options)), stream_(std::move(stream)), interpreter_(stream_->threads()) {
  interpreter_.add(synthesizer_);
  interpreter_.add(executors_);
  interpreter_.add(busy_);
  interpreter_.add(relay_);
  now_ = clock_now();
}

void Monitor::poll() {
  now_ = clock_now();
  for (ChainWindow& chain : chains_) chain.forget(now_ - options_.window);
  if (!stream_->read(batch_)) return;
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
  chains_.assign(model.chains.size(), {});
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    if (model.chains[c].goal) chains_[c].set_goal(*model.chains[c].goal);
  }
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

std::vector<std::uint64_t> Monitor::runs() const {
  const auto ids = execution::callback_ids(database().objects());
  std::map<std::string_view, std::size_t> observed;
  for (std::size_t i = 0; i < ids.size(); ++i) observed.emplace(ids[i], i);
  std::vector<std::uint64_t> result;
  for (const model::Callback& callback : model_->callbacks) {
    const auto found = observed.find(callback.id);
    const bool known = found != observed.end();
    result.push_back(known ? busy_.runs(execution::ObservedCallbackIndex{found->second}) : 0);
  }
  return result;
}

std::uint64_t Monitor::structure() const {
  const execution::Objects& objects = database().objects();
  return objects.callbacks.size() + objects.publishers.size() + objects.timers.size() +
         objects.executor_threads.size() + stream_->threads().processes().size() +
         stream_->ended_programs();
}

}  // namespace takt::live
