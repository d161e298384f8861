#include "takt/flow/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "takt/base/near_names.hpp"
#include "takt/execution/names.hpp"

namespace takt::flow {
namespace {

using execution::Objects;
using execution::ObservedCallbackIndex;
using execution::PublisherIndex;

/// Finds what a name stands for. A name that is a callback's or a node's stands for that alone,
/// although a topic may be called the same.
class Finder {
 public:
  Finder(const Objects& objects, std::string_view name)
      : objects_(objects), given_(name), name_(bare(name)), ids_(execution::callback_ids(objects)) {
    for (const execution::Node& node : objects.nodes) {
      nodes_.push_back(node.full_name());
    }
  }

  /// The callbacks of this name, also if a number distinguishes them.
  Selection called() const {
    Selection found = empty();
    for (std::size_t i = 0; i < objects_.callbacks.size(); ++i) {
      const std::string_view id = bare(ids_[i]);
      found.callbacks[i] = id == name_ || execution::without_number(id) == name_ ||
                           bare(execution::display_name(objects_, objects_.callbacks[i])) == name_;
    }
    return found;
  }

  /// The callbacks and publishers on a topic (none: on any but those that every node has) in a node
  /// (none: in any).
  Selection at(std::optional<std::string_view> node, std::optional<std::string_view> topic) const {
    Selection found = empty();
    const auto fits = [&](const auto& its_node, const auto& its_topic) {
      const std::string_view its_name =
          its_topic ? std::string_view(objects_[*its_topic]) : std::string_view();
      const bool topic_fits =
          topic ? its_topic && bare(its_name) == *topic : !execution::is_infrastructure(its_name);
      return topic_fits && (!node || (its_node && bare(nodes_[its_node->value()]) == *node));
    };
    for (std::size_t i = 0; i < objects_.callbacks.size(); ++i) {
      const execution::Callback& callback = objects_.callbacks[i];
      found.callbacks[i] =
          !callback.timer && fits(objects_.node_of(callback), objects_.topic_of(callback));
    }
    for (std::size_t i = 0; i < objects_.publishers.size(); ++i) {
      const execution::Publisher& publisher = objects_.publishers[i];
      found.publishers[i] = fits(publisher.node, std::optional(publisher.topic));
    }
    return found;
  }

  Result<Selection> find(std::string_view option) const {
    Selection found = called();
    if (std::ranges::count(found.callbacks, true) != 0) {
      return found;
    }
    const auto is_any = [](const Selection& selection) {
      return std::ranges::count(selection.callbacks, true) +
                 std::ranges::count(selection.publishers, true) !=
             0;
    };
    found = at(name_, std::nullopt);
    if (!is_any(found)) {
      found = at(std::nullopt, name_);
    }
    if (const auto colon = name_.find(':'); !is_any(found) && colon != std::string_view::npos) {
      found = at(name_.substr(0, colon), bare(name_.substr(colon + 1)));
    }
    if (is_any(found)) {
      return found;
    }
    std::vector<std::string> proposed = near_names(known(), name_);
    if (proposed.empty()) {
      return error("{}: no topic, node or callback is called \"{}\"; takt info TRACE lists them",
                   option, given_);
    }
    for (std::string& other : proposed) {
      other = fmt::format("\"{}\"", other);
    }
    return error("{}: no topic, node or callback is called \"{}\"; did you mean {}?", option,
                 given_, fmt::join(proposed, " or "));
  }

 private:
  [[nodiscard]] Selection empty() const {
    return {std::vector<bool>(objects_.callbacks.size()),
            std::vector<bool>(objects_.publishers.size())};
  }

  [[nodiscard]] std::vector<std::string> known() const {
    std::vector<std::string> names = nodes_;
    names.insert(names.end(), objects_.topics.begin(), objects_.topics.end());
    names.insert(names.end(), ids_.begin(), ids_.end());
    return names;
  }

  const Objects& objects_;
  /// As somebody wrote it, for messages.
  std::string_view given_;
  std::string_view name_;
  std::vector<std::string> ids_;
  std::vector<std::string> nodes_;
};

}  // namespace

Result<Selection> select_source(const Objects& objects, std::string_view option,
                                std::string_view name) {
  auto found = Finder(objects, name).find(option);
  // A flow begins at a callback that receives only if no publisher is known.
  if (found && std::ranges::count(found->publishers, true) != 0) {
    found->callbacks.assign(found->callbacks.size(), false);
  }
  return found;
}

Result<Selection> select_sink(const Objects& objects, std::string_view option,
                              std::string_view name) {
  auto found = Finder(objects, name).find(option);
  if (found && std::ranges::count(found->callbacks, true) != 0) {
    found->publishers.assign(found->publishers.size(), false);
  }
  return found;
}

}  // namespace takt::flow
