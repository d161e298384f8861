#include "takt/links/declarations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "takt/execution/names.hpp"
#include "takt/links/infer.hpp"

namespace takt::links {
namespace {

using execution::NodeIndex;
using execution::Objects;
using execution::PublisherIndex;

/// Applies declarations to the links of a recording.
class Declarer {
 public:
  Declarer(const Declarations& declarations, const Evidence& evidence, const Objects& objects)
      : declarations_(declarations),
        evidence_(evidence),
        objects_(objects),
        ids_(execution::callback_ids(objects)) {}

  Declared apply(std::vector<Link> links) {
    leave_out(links);
    for (const auto& use : declarations_.uses) {
      if (use.is_denied) deny(use, links);
    }
    for (const auto& join : declarations_.joins) {
      if (join.is_denied) deny(join, links);
    }
    for (const auto& use : declarations_.uses) {
      if (!use.is_denied) declare(use, links);
    }
    for (const auto& join : declarations_.joins) {
      if (!join.is_denied) declare(join, links);
    }
    drop_incomplete(links);
    std::ranges::move(links, std::back_inserter(declared_.links));
    return std::move(declared_);
  }

 private:
  [[nodiscard]] std::string node_of(ObservedCallbackIndex callback) const {
    return objects_.node_name(objects_[callback]);
  }
  [[nodiscard]] std::string topic_of(ObservedCallbackIndex callback) const {
    const auto topic = objects_.topic_of(objects_[callback]);
    return topic ? objects_[*topic] : std::string();
  }

  template <typename... Arguments>
  void say(const std::string& where, fmt::format_string<Arguments...> text,
           Arguments&&... arguments) {
    declared_.lines.push_back(
        fmt::format("{}: {}", where, fmt::format(text, std::forward<Arguments>(arguments)...)));
  }

  /// Of those that came back as one callback, only the newest.
  [[nodiscard]] auto newest_subscriptions() const {
    return std::views::filter(objects_.subscriptions, [this](const auto& subscription) {
      const auto index = objects_[subscription.callback].subscription;
      return index && &objects_[*index] == &subscription;
    });
  }

  /// The subscriptions of a node whose topics fit one of the patterns.
  [[nodiscard]] std::vector<ObservedCallbackIndex> subscriptions(
      NodeIndex node, const std::vector<std::string>& topics) const {
    std::vector<ObservedCallbackIndex> found;
    for (const execution::Subscription& subscription : newest_subscriptions()) {
      const bool fits = std::ranges::any_of(topics, [&](const std::string& pattern) {
        return matches(pattern, objects_[subscription.topic]);
      });
      if (subscription.node == node && fits) found.push_back(subscription.callback);
    }
    return found;
  }

  [[nodiscard]] bool is_reader(const Declarations::Use& use, ObservedCallbackIndex callback) const {
    const execution::Callback& known = objects_[callback];
    if (!objects_.node_of(known) || !matches(use.node, node_of(callback))) return false;
    if (use.timer && (!known.timer || objects_[*known.timer].period != *use.timer)) return false;
    return use.callback.empty() || matches(use.callback, ids_[callback.value()]) ||
           matches(use.callback, execution::display_name(objects_, known)) ||
           matches(use.callback, topic_of(callback));
  }

  [[nodiscard]] static bool is_guessed(const Link& link) {
    return link.grounds == Grounds::inferred || link.grounds == Grounds::ambiguous;
  }

  static void remove_input(Link& link, std::size_t input) {
    const auto at = static_cast<std::ptrdiff_t>(input);
    link.inputs.erase(link.inputs.begin() + at);
    if (!link.confidence.empty()) link.confidence.erase(link.confidence.begin() + at);
  }

  /// Removes the inputs of links for which `fits` is true. Returns how many there were.
  template <typename Fits>
  static std::size_t remove(std::vector<Link>& links, Fits fits) {
    std::size_t count = 0;
    for (Link& link : links) {
      for (std::size_t i = link.inputs.size(); i-- > 0;) {
        if (!fits(link, link.inputs[i])) continue;
        remove_input(link, i);
        ++count;
      }
    }
    return count;
  }

  static void drop_incomplete(std::vector<Link>& links) {
    std::erase_if(links, [](const Link& link) {
      const bool is_set = link.kind == Link::Kind::joined && link.last_is_of_set &&
                          !link.is_handed && !link.waits_for_transform;
      return link.inputs.size() < (is_set ? 2u : 1u);
    });
  }

  void leave_out(std::vector<Link>& links) {
    remove(links, [&](const Link& link, ObservedCallbackIndex input) {
      return is_guessed(link) && !declarations_.inferred.has(node_of(input), topic_of(input));
    });
  }

  void deny(const Declarations::Use& use, std::vector<Link>& links) {
    const std::size_t count = remove(links, [&](const Link& link, ObservedCallbackIndex input) {
      const bool is_of_reader =
          link.reader ? is_reader(use, *link.reader)
                      : matches(use.node, node_of(input)) && !use.timer && use.callback.empty();
      return link.kind == Link::Kind::sampled && is_of_reader &&
             std::ranges::any_of(use.topics, [&](const std::string& pattern) {
               return matches(pattern, topic_of(input));
             });
    });
    if (count == 0) say(use.where, "denies nothing: no such link is known");
  }

  void deny(const Declarations::Join& join, std::vector<Link>& links) {
    const auto count = std::erase_if(links, [&](const Link& link) {
      return link.kind == Link::Kind::joined &&
             std::ranges::any_of(link.inputs, [&](ObservedCallbackIndex input) {
               return matches(join.inputs.front(), node_of(input), topic_of(input));
             });
    });
    if (count == 0) say(join.where, "denies nothing: no such join is known");
  }

  /// The publishers by which callbacks sent.
  [[nodiscard]] std::vector<PublisherIndex> outputs_of(
      const std::vector<ObservedCallbackIndex>& callbacks) const {
    std::set<PublisherIndex> publishers;
    for (const ObservedCallbackIndex callback : callbacks) {
      const auto& own = evidence_.of(callback).publishers;
      publishers.insert(own.begin(), own.end());
    }
    return {publishers.begin(), publishers.end()};
  }

  void declare(const Declarations::Use& use, std::vector<Link>& links) {
    std::vector<ObservedCallbackIndex> readers;
    for (std::size_t i = 0; i < objects_.callbacks.size(); ++i) {
      if (is_reader(use, ObservedCallbackIndex(i))) readers.emplace_back(i);
    }
    if (readers.empty()) {
      say(use.where, "not used: {}", why_no_reader(use));
      return;
    }
    for (const ObservedCallbackIndex reader : readers) {
      Link link;
      link.process = objects_[reader].process;
      link.inputs = subscriptions(*objects_.node_of(objects_[reader]), use.topics);
      link.reader = reader;
      link.outputs = outputs_of({reader});
      if (link.inputs.empty()) {
        say(use.where, "not used: {} receives none of {}", node_of(reader),
            fmt::join(use.topics, ", "));
        continue;
      }
      if (link.outputs.empty()) {
        say(use.where, "not used: {} publishes nothing in this recording", ids_[reader.value()]);
        continue;
      }
      remove(links, [&](const Link& other, ObservedCallbackIndex input) {
        return is_guessed(other) && other.reader == reader &&
               std::ranges::count(link.inputs, input) != 0;
      });
      declared_.links.push_back(std::move(link));
    }
  }

  [[nodiscard]] std::string why_no_reader(const Declarations::Use& use) const {
    std::set<std::string> periods;
    bool has_node = false;
    for (std::size_t i = 0; i < objects_.callbacks.size(); ++i) {
      const ObservedCallbackIndex callback(i);
      if (!matches(use.node, node_of(callback))) continue;
      has_node = true;
      if (const auto& timer = objects_[callback].timer) {
        periods.insert(
            fmt::format("{}ms", static_cast<double>(objects_[*timer].period.count()) / 1e6));
      }
    }
    if (!has_node) return fmt::format("no node in the recording is called \"{}\"", use.node);
    if (!use.timer) return fmt::format("{} has no callback \"{}\"", use.node, use.callback);
    if (periods.empty()) return fmt::format("{} has no timer", use.node);
    return fmt::format("{} has no timer of that period; it has {}", use.node,
                       fmt::join(periods, ", "));
  }

  void declare(const Declarations::Join& join, std::vector<Link>& links) {
    std::map<NodeIndex, std::vector<ObservedCallbackIndex>> members;
    std::set<std::string> unmatched(join.inputs.begin(), join.inputs.end());
    for (const execution::Subscription& subscription : newest_subscriptions()) {
      if (!subscription.node) continue;
      for (const std::string& input : join.inputs) {
        if (!matches(input, objects_[*subscription.node].full_name(),
                     objects_[subscription.topic])) {
          continue;
        }
        unmatched.erase(input);
        members[*subscription.node].push_back(subscription.callback);
        break;
      }
    }
    if (!unmatched.empty()) {
      say(join.where, "not used: no subscription in the recording is called {}; write node:topic",
          fmt::join(unmatched, ", "));
      return;
    }
    for (const auto& [node, inputs] : members) {
      if (inputs.size() < 2) {
        say(join.where, "not used for {}: it has only one of the inputs",
            objects_[node].full_name());
        continue;
      }
      const auto is_declared = [&](ObservedCallbackIndex callback) {
        return std::ranges::count(inputs, callback) != 0;
      };
      std::erase_if(links, [&](const Link& link) {
        const bool is_join =
            link.kind == Link::Kind::joined || (link.reader && is_declared(*link.reader));
        return is_guessed(link) && is_join && std::ranges::any_of(link.inputs, is_declared);
      });
      add_join(join, inputs);
    }
  }

  void add_join(const Declarations::Join& join, const std::vector<ObservedCallbackIndex>& inputs) {
    using enum Declarations::Join::Kind;
    const auto outputs = outputs_of(inputs);
    if (outputs.empty()) {
      say(join.where, "not used: {} publishes nothing when it receives them",
          node_of(inputs.front()));
      return;
    }
    Link link;
    link.process = objects_[inputs.front()].process;
    if (join.kind == latest_time) {
      // Whichever comes uses the newest of the others, again and again.
      for (const ObservedCallbackIndex reader : inputs) {
        link.reader = reader;
        link.outputs = outputs_of({reader});
        link.inputs = inputs;
        std::erase(link.inputs, reader);
        if (!link.outputs.empty()) declared_.links.push_back(link);
      }
      return;
    }
    link.kind = Link::Kind::joined;
    link.inputs = inputs;
    link.outputs = outputs;
    link.join = join.kind == and_ ? model::JoinKind::and_ : model::JoinKind::newest;
    link.matches_stamps = join.kind == exact_time || join.kind == approximate_time;
    link.last_is_of_set = join.kind != approximate_time || last_is_of_set(objects_, inputs);
    // When a set is complete is not declared, but seen.
    if (link.matches_stamps) link.confidence.assign(inputs.size(), 99);
    declared_.links.push_back(std::move(link));
  }

  const Declarations& declarations_;
  const Evidence& evidence_;
  const Objects& objects_;
  std::vector<std::string> ids_;
  Declared declared_;
};

}  // namespace

Declared with_declarations(std::vector<Link> links, const Declarations* declarations,
                           const Evidence& evidence, const Objects& objects) {
  if (declarations == nullptr) return {std::move(links), {}};
  return Declarer(*declarations, evidence, objects).apply(std::move(links));
}

}  // namespace takt::links
