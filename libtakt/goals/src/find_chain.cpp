#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "takt/goals/callbacks_named.hpp"
#include "takt/goals/goals.hpp"
#include "takt/model/calls.hpp"
#include "takt/model/topics.hpp"

namespace takt::goals {

namespace {

using model::CallbackIndex;
using model::Edge;
using model::Model;

using Path = std::vector<CallbackIndex>;

/// Limits of the search. No chain that people mean comes near them.
constexpr std::size_t most_ways = 64;
constexpr std::size_t most_steps = 200'000;
constexpr std::size_t most_callbacks = 1000;

/// The ways from some callbacks to others that pass no callback twice.
class Search {
 public:
  Search(const Model& model, const Path& targets, const std::vector<Path>& via)
      : model_(model),
        via_(via),
        outgoing_(model.callbacks.size()),
        is_target_(model.callbacks.size()),
        is_on_path_(model.callbacks.size()),
        leads_there_(model.callbacks.size()) {
    std::vector<std::vector<CallbackIndex>> incoming(model.callbacks.size());
    for (const Edge& edge : model.edges) {
      outgoing_[edge.from.value()].push_back(&edge);
      incoming[edge.to.value()].push_back(edge.from);
    }
    Path frontier = targets;
    for (const CallbackIndex target : targets) is_target_[target.value()] = true;
    while (!frontier.empty()) {
      const CallbackIndex reached = frontier.back();
      frontier.pop_back();
      if (leads_there_[reached.value()]) continue;
      leads_there_[reached.value()] = true;
      const auto& before = incoming[reached.value()];
      frontier.insert(frontier.end(), before.begin(), before.end());
    }
  }

  /// Depth-first, with a stack of its own in place of recursion.
  void begin_at(CallbackIndex source) {
    enter(source);
    while (!path_.empty()) {
      const CallbackIndex last = path_.back();
      const auto& outgoing = outgoing_[last.value()];
      if (gave_up() || next_.back() == outgoing.size()) {
        is_on_path_[last.value()] = false;
        path_.pop_back();
        next_.pop_back();
      } else if (const Edge& edge = *outgoing[next_.back()++]; goes_on(edge)) {
        enter(edge.to);
      }
    }
  }

  /// All ways found that do not merely leave out callbacks of another.
  [[nodiscard]] std::vector<Path> longest_ways() const {
    std::vector<Path> longest;
    for (const Path& path : found_) {
      const bool is_shortcut = std::ranges::any_of(found_, [&](const Path& other) {
        return other.size() > path.size() && leaves_out(path, other);
      });
      if (!is_shortcut) longest.push_back(path);
    }
    return longest;
  }

  /// Whether the search was cut short.
  [[nodiscard]] bool gave_up() const {
    return found_.size() > most_ways || steps_ > most_steps || is_too_long_;
  }
  /// Whether it was because a way is too long.
  [[nodiscard]] bool is_too_long() const { return is_too_long_; }

 private:
  /// Whether all of `path` is on `other`, in the same order.
  static bool leaves_out(const Path& path, const Path& other) {
    auto at = other.begin();
    return std::ranges::all_of(path, [&](CallbackIndex callback) {
      at = std::find(at, other.end(), callback);
      return at != other.end();
    });
  }

  /// Messages go on along an edge only if what came before triggers it.
  [[nodiscard]] bool goes_on(const Edge& edge) const {
    if (!leads_there_[edge.to.value()] || is_on_path_[edge.to.value()]) return false;
    if (!model::returns_to_its_caller(model_, path_, edge.to)) return false;
    return path_.size() < 2 || !edge.triggered_by ||
           std::ranges::count(*edge.triggered_by, path_[path_.size() - 2]) > 0;
  }

  [[nodiscard]] bool passes_via() const {
    auto at = path_.begin();
    return std::ranges::all_of(via_, [&](const Path& named) {
      at = std::find_first_of(at, path_.end(), named.begin(), named.end());
      return at != path_.end();
    });
  }

  void enter(CallbackIndex callback) {
    path_.push_back(callback);
    next_.push_back(0);
    is_on_path_[callback.value()] = true;
    ++steps_;
    is_too_long_ = is_too_long_ || path_.size() > most_callbacks;
    if (!gave_up() && is_target_[callback.value()] && passes_via()) found_.insert(path_);
  }

  const Model& model_;
  const std::vector<Path>& via_;
  std::vector<std::vector<const Edge*>> outgoing_;
  std::vector<bool> is_target_;
  std::vector<bool> is_on_path_;
  std::vector<bool> leads_there_;
  Path path_;
  /// For each callback of the path, the number of its outgoing edges that have been looked at.
  std::vector<std::size_t> next_;
  std::set<Path> found_;
  std::size_t steps_ = 0;
  bool is_too_long_ = false;
};

Result<Path> named(const Model& model, std::string_view field, const std::string& name,
                   Place place) {
  Path callbacks = callbacks_named(model, name, place);
  if (!callbacks.empty()) return callbacks;
  std::vector<std::string> proposed = near_misses(model, name);
  if (!proposed.empty()) {
    for (std::string& other : proposed) other = fmt::format("\"{}\"", other);
    return error("{}: no topic, node or callback is called \"{}\"; did you mean {}?", field, name,
                 fmt::join(proposed, " or "));
  }
  return error(
      "{}: no topic, node or callback is called \"{}\", and nothing like it; takt info TRACE lists "
      "them (a topic that no recorded node receives is not known: name the node that publishes it)",
      field, name);
}

std::string in_words(const Model& model, const Path& path) {
  std::vector<std::string> steps;
  for (const CallbackIndex callback : path) {
    const model::Callback& step = model[callback];
    steps.push_back(step.node.empty() ? step.id : step.node);
  }
  return fmt::format("{}", fmt::join(steps, " -> "));
}

/// The callbacks at which everything that begins at `sources` ends, as text for a message.
std::string farthest(const Model& model, const Path& sources) {
  std::vector<Path> receivers(model.callbacks.size());
  for (const Edge& edge : model.edges) receivers[edge.from.value()].push_back(edge.to);
  std::set<CallbackIndex> reached;
  Path frontier = sources;
  std::set<std::string> ends;
  while (!frontier.empty()) {
    const CallbackIndex callback = frontier.back();
    frontier.pop_back();
    if (!reached.insert(callback).second) continue;
    const Path& next = receivers[callback.value()];
    frontier.insert(frontier.end(), next.begin(), next.end());
    if (next.empty()) ends.insert(in_words(model, {callback}));
  }
  constexpr std::size_t most_named = 3;
  std::vector<std::string> shown(ends.begin(), ends.end());
  if (shown.size() > most_named) {
    shown.resize(most_named);
    shown.emplace_back("…");
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

Result<Path> find_chain(const Model& model, const Goal& goal) {
  const auto sources = named(model, "from", goal.from, Place::first);
  if (!sources) return tl::unexpected(sources.error());
  const auto targets = named(model, "to", goal.to, Place::last);
  if (!targets) return tl::unexpected(targets.error());
  std::vector<Path> via;
  for (std::size_t i = 0; i < goal.via.size(); ++i) {
    auto between = named(model, fmt::format("via[{}]", i), goal.via[i], Place::between);
    if (!between) return tl::unexpected(between.error());
    via.push_back(std::move(*between));
  }
  Search search(model, *targets, via);
  for (const CallbackIndex source : *sources) search.begin_at(source);
  if (search.is_too_long()) {
    return error(
        "a way from \"{}\" to \"{}\" passes more than {} callbacks; name ends that are nearer",
        goal.from, goal.to, most_callbacks);
  }
  if (search.gave_up()) {
    return error("very many ways lead from \"{}\" to \"{}\"; name callbacks between under \"via\"",
                 goal.from, goal.to);
  }
  std::vector<Path> ways = search.longest_ways();
  if (ways.size() == 1) return std::move(ways.front());
  if (ways.empty()) {
    const std::string passing = goal.via.empty() ? "" : " by way of what \"via\" names";
    return error("nothing leads from \"{}\" to \"{}\"{}; from there messages come to {}", goal.from,
                 goal.to, passing, farthest(model, *sources));
  }
  return error(
      "{} ways lead from \"{}\" to \"{}\", among them {} and {}; name a node that only one of them "
      "passes under \"via\"",
      ways.size(), goal.from, goal.to, in_words(model, ways[0]), in_words(model, ways[1]));
}

}  // namespace takt::goals
