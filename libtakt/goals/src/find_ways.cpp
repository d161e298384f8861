#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "takt/base/near_names.hpp"
#include "takt/base/try.hpp"
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

/// Before a name under `via` that the chain does not pass.
constexpr std::string_view avoiding = "not ";

/// The ways from some callbacks to others that pass no callback twice.
class Search {
 public:
  /// `passed` are the callbacks of which a way has to pass one each, in this order; it must pass
  /// none of `avoided`.
  Search(const Model& model, const Path& targets, std::vector<Path> passed, const Path& avoided)
      : model_(model),
        via_(std::move(passed)),
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
    // As if it were on each way already.
    for (const CallbackIndex callback : avoided) is_on_path_[callback.value()] = true;
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
    if (is_on_path_[source.value()]) return;
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

  [[nodiscard]] const std::set<Path>& found() const { return found_; }

  /// Whether the search was cut short.
  [[nodiscard]] bool gave_up() const {
    return found_.size() > most_ways || steps_ > most_steps || is_too_long_;
  }
  /// Whether it was because a way is too long.
  [[nodiscard]] bool is_too_long() const { return is_too_long_; }

 private:
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
  std::vector<Path> via_;
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

/// The full names of what the callback publishes on, as far as somebody receives it.
std::set<std::string> outputs_of(const Model& model, CallbackIndex callback) {
  std::set<std::string> outputs;
  for (const Edge& edge : model.edges) {
    const auto& topic = edge.topic ? edge.topic : model[edge.to].topic;
    if (edge.from == callback && topic && !edge.confidence) outputs.insert(*topic);
  }
  return outputs;
}

/// The topic with whose publication a way of the goal ends; none: it ends with a completion.
Result<std::optional<std::string>> end_topic(const Model& model, const Goal& goal,
                                             CallbackIndex last) {
  if (goal.end == End::completion) return std::nullopt;
  const std::set<std::string> outputs = outputs_of(model, last);
  const std::string_view to = bare(goal.to);
  const auto colon = to.find(':');
  for (const std::string& output : outputs) {
    const bool is_of_node = colon != std::string_view::npos &&
                            bare(to.substr(colon + 1)) == bare(output) &&
                            bare(model[last].node) == to.substr(0, colon);
    if ((bare(output) == to || is_of_node) && model[last].id != goal.to) return output;
  }
  if (goal.end == End::by_name) return std::nullopt;
  if (outputs.size() == 1) return *outputs.begin();
  if (outputs.empty()) {
    return error(
        "end: \"{}\" publishes nothing that a recorded callback receives; leave \"end\" out",
        model[last].id);
  }
  return error("end: \"{}\" publishes on {}; name one of these topics as \"to\"", model[last].id,
               fmt::join(outputs, ", "));
}

/// Whether a way passes a timer that is only inferred to read what the callback before keeps.
bool is_inferred(const Model& model, const Path& path) {
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (model[path[i]].kind != model::CallbackKind::timer) continue;
    const bool is_known = std::ranges::any_of(model.edges, [&](const Edge& edge) {
      return edge.from == path[i - 1] && edge.to == path[i] && !edge.confidence;
    });
    if (!is_known) return true;
  }
  return false;
}

/// Where an end of a goal is several callbacks, a way may begin or end within another: that is no
/// way of its own.
void drop_parts(std::vector<Path>& ways) {
  const std::vector<Path> all = ways;
  std::erase_if(ways, [&](const Path& path) {
    return std::ranges::any_of(all, [&](const Path& other) {
      return other.size() > path.size() && !std::ranges::search(other, path).empty();
    });
  });
}

/// A name that `via` may have, and the callbacks for which it stands.
struct Name {
  std::string text;
  Path callbacks;

  /// Where a way passes the name first; none if it does not.
  [[nodiscard]] std::optional<std::size_t> on(const Path& path) const {
    const auto at =
        std::find_first_of(path.begin(), path.end(), callbacks.begin(), callbacks.end());
    return at == path.end() ? std::nullopt
                            : std::optional(static_cast<std::size_t>(at - path.begin()));
  }
};

/// The names of the nodes on some ways, then those of their callbacks.
std::vector<Name> names_on(const Model& model, const std::vector<Path>& ways) {
  std::set<std::string> nodes;
  std::set<std::string> ids;
  for (const Path& path : ways) {
    for (const CallbackIndex callback : path) {
      if (!model[callback].node.empty()) nodes.insert(model::node_name(model[callback]));
      ids.insert(model[callback].id);
    }
  }
  std::vector<Name> names;
  for (const auto& texts : {nodes, ids}) {
    for (const std::string& text : texts) {
      names.push_back({text, callbacks_named(model, text, Place::between)});
    }
  }
  return names;
}

/// What `via` names for a way alone: names that it passes and others do not, the one that most do
/// not first; and if all that it passes are on another way, too, names that it does not pass.
std::vector<std::string> telling_apart(const std::vector<Name>& names, const Path& path,
                                       const std::vector<Path>& ways) {
  std::vector<const Path*> others;
  for (const Path& other : ways) {
    if (other != path) others.push_back(&other);
  }
  std::vector<std::pair<std::size_t, std::string>> chosen;
  for (const bool is_passed : {true, false}) {
    while (!others.empty()) {
      const Name* best = nullptr;
      std::ptrdiff_t fewest = std::ssize(others);
      for (const Name& name : names) {
        if (name.on(path).has_value() != is_passed) continue;
        const auto alike = std::ranges::count_if(
            others, [&](const Path* other) { return name.on(*other).has_value() == is_passed; });
        if (alike < fewest) {
          best = &name;
          fewest = alike;
        }
      }
      if (best == nullptr) break;
      chosen.emplace_back(best->on(path).value_or(path.size()),
                          is_passed ? best->text : fmt::format("{}{}", avoiding, best->text));
      std::erase_if(others,
                    [&](const Path* other) { return best->on(*other).has_value() != is_passed; });
    }
  }
  std::ranges::stable_sort(chosen, {}, [](const auto& name) { return name.first; });
  std::vector<std::string> via;
  for (auto& [at, text] : chosen) via.push_back(std::move(text));
  return via;
}

}  // namespace

Result<Ways> find_ways(const Model& model, const Goal& goal) {
  const auto sources = TAKT_TRY(named(model, "from", goal.from, Place::first));
  const auto targets = TAKT_TRY(named(model, "to", goal.to, Place::last));
  std::vector<Path> passed;
  Path avoided;
  for (std::size_t i = 0; i < goal.via.size(); ++i) {
    const bool is_avoided = goal.via[i].starts_with(avoiding);
    auto between =
        TAKT_TRY(named(model, fmt::format("via[{}]", i),
                       goal.via[i].substr(is_avoided ? avoiding.size() : 0), Place::between));
    if (is_avoided) {
      avoided.insert(avoided.end(), between.begin(), between.end());
    } else {
      passed.push_back(std::move(between));
    }
  }
  Search search(model, targets, std::move(passed), avoided);
  for (const CallbackIndex source : sources) search.begin_at(source);
  if (search.is_too_long()) {
    return error(
        "a way from \"{}\" to \"{}\" passes more than {} callbacks; name ends that are nearer",
        goal.from, goal.to, most_callbacks);
  }
  if (search.gave_up()) {
    return error("very many ways lead from \"{}\" to \"{}\"; name callbacks between under \"via\"",
                 goal.from, goal.to);
  }
  if (search.found().empty()) {
    const std::string passing = goal.via.empty() ? "" : " by way of what \"via\" names";
    return error("nothing leads from \"{}\" to \"{}\"{}; from there messages come to {}", goal.from,
                 goal.to, passing, farthest(model, sources));
  }
  const std::vector<Path> all(search.found().begin(), search.found().end());
  const std::vector<Name> names = all.size() > 1 ? names_on(model, all) : std::vector<Name>();
  const bool all_inferred =
      std::ranges::all_of(all, [&](const Path& path) { return is_inferred(model, path); });
  std::vector<Path> counted;
  std::vector<Path> apart;
  for (const Path& path : all) {
    (all_inferred || !is_inferred(model, path) ? counted : apart).push_back(path);
  }
  drop_parts(counted);
  drop_parts(apart);
  Ways ways;
  for (const Path& path : counted) {
    auto end = TAKT_TRY(end_topic(model, goal, path.back()));
    ways.counted.push_back({path, telling_apart(names, path, counted), std::move(end)});
  }
  for (const Path& path : apart) {
    ways.apart.push_back({path, telling_apart(names, path, all)});
  }
  return ways;
}

}  // namespace takt::goals
