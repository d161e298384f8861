#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "scenario.hpp"
#include "takt/events/schema.hpp"

namespace takt::fuzz {

/// The recording of a robot that does what the fuzzer chooses: its three programs run callbacks,
/// send, take, serve and wait as programs do, and events of any types come between, with handles,
/// times and names that often mean the same object or message.
class AnyRobot {
 public:
  explicit AnyRobot(Choices choices) {
    for (std::int64_t i = 0; i < 3; ++i) {
      // One of them is on another machine, whose clock shows the same.
      test::Program program = scenario_.program(i + 1, i == 2 ? "arm" : "robot");
      parts_.push_back({program, scenario_.worker(program, 10 * (i + 1)), {}, {}, {}, {}, {}});
    }
    if (choices.below(8) != 0) {  // otherwise nothing is known of the objects
      std::ranges::for_each(parts_, [this](Part& part) { introduce(part); });
    }
    while (choices.any()) {
      scenario_.now = later(choices);
      scenario_.processor = static_cast<std::uint16_t>(choices.below(4));
      Part& part = parts_[choices.below(parts_.size())];
      if (choices.below(4) == 0) {
        add_any_event(part, choices);
      } else {
        act(part, choices);
      }
    }
  }

  test::Scenario& events() { return scenario_; }

 private:
  static constexpr std::size_t topic_count = 3;
  using Stamp = std::int64_t;

  struct Part {
    test::Program program;
    test::Program worker;
    std::vector<test::Publisher> publishers;        // of each topic
    std::vector<test::Subscription> subscriptions;  // of each topic
    std::uint64_t timer = 0;
    test::Service service;
    test::Client client;
  };

  void introduce(Part& part) {
    const auto node = scenario_.node(part.program, "node");
    for (std::size_t topic = 0; topic < topic_count; ++topic) {
      const auto name = "/" + std::to_string(topic);
      part.publishers.push_back(scenario_.publisher(part.program, node, name));
      part.subscriptions.push_back(scenario_.subscription(part.program, node, name));
    }
    part.timer = scenario_.timer(part.program, node, std::chrono::milliseconds(10));
    part.service = scenario_.service(part.program, node, "/service");
    part.client = scenario_.client(part.program, node, "/service");
  }

  /// Clocks may say anything that decoders let through, but never go back.
  std::int64_t later(Choices& choices) const {
    const std::size_t how = choices.below(256);
    const std::int64_t now = scenario_.now;
    if (how == 255) {
      const auto any = bounded(Duration(choices.next<std::int64_t>()));
      return std::max(now, std::chrono::floor<std::chrono::microseconds>(any).count());
    }
    constexpr auto latest = std::chrono::floor<std::chrono::microseconds>(longest_time).count();
    return std::min<std::int64_t>(now + static_cast<std::int64_t>(how) * 100, latest);
  }

  /// The stamp of one of the last messages.
  [[nodiscard]] Stamp recent(Choices& choices) const {
    return stamp_ - static_cast<Stamp>(choices.below(4));
  }

  /// What programs do. A callback may publish at its end, on a topic that the fuzzer chooses.
  void act(Part& part, Choices& choices) {
    if (part.publishers.empty()) {
      return;
    }
    const auto how = choices.below(256);
    const test::Publisher& publisher = part.publishers[how / 16 % topic_count];
    const test::Subscription& subscription = part.subscriptions[how / 64 % topic_count];
    const auto& thread = how % 2 == 0 ? part.program : part.worker;
    const auto length = static_cast<std::int64_t>(how);
    switch (choices.below(14)) {
      case 0:
        scenario_.run(thread, part.timer, length, std::pair(publisher, ++stamp_));
        break;
      case 1: {
        const Stamp taken = recent(choices);
        scenario_.handle(thread, subscription, taken, length, std::pair(publisher, ++stamp_));
        break;
      }
      case 2:
        scenario_.handle(thread, subscription, recent(choices), length);
        break;
      case 3:
        scenario_.start(thread, subscription.callback, how % 4 == 3);
        break;
      case 4:
        scenario_.end(thread, subscription.callback);
        break;
      case 5:
        scenario_.publish(thread, publisher, ++stamp_);
        break;
      case 6:
        scenario_.take(thread, subscription, recent(choices), how % 4 != 3);
        break;
      case 7:
        scenario_.send_request(thread, part.client, ++stamp_);
        break;
      case 8:
        scenario_.serve(thread, part.service, parts_[how % parts_.size()].client, recent(choices),
                        length);
        break;
      case 9:
        scenario_.respond(thread, part.client, recent(choices), length,
                          std::pair(publisher, ++stamp_));
        break;
      case 10:
        scenario_.look(thread);
        break;
      case 11:
        scenario_.wait(thread);
        break;
      case 12:
        link_inputs(part, choices);
        break;
      default:
        scenario_.add(thread, tracepoints::RclcppIntraPublish{.publisher_handle = publisher.handle,
                                                              .message = 0xabc});
    }
  }

  /// The program declares how some of its inputs belong together.
  void link_inputs(const Part& part, Choices& choices) {
    static const std::array<const char*, 4> ways{"and", "newest", "sampled", "other"};
    std::vector<std::uint64_t> callbacks;
    for (const test::Subscription& subscription : part.subscriptions) {
      callbacks.push_back(subscription.callback);
    }
    callbacks.resize(choices.below(callbacks.size() + 1));
    scenario_.add(part.program,
                  tracepoints::InputsLinked{.how = ways[choices.below(ways.size())],
                                            .callbacks = callbacks,
                                            .reader = part.subscriptions.front().callback});
  }

  void add_any_event(const Part& part, Choices& choices) {
    const auto type = static_cast<events::EventType>(choices.below(events::event_type_count));
    std::vector<std::uint64_t> values;
    std::vector<std::string> texts;
    std::vector<std::vector<std::uint64_t>> lists;
    for (const events::Field& field : events::schema(type).fields) {
      switch (field.kind) {
        case events::FieldKind::text:
          texts.push_back(name(choices));
          break;
        case events::FieldKind::list:
          lists.emplace_back();
          for (std::size_t count = choices.below(4); count != 0; --count) {
            lists.back().push_back(handle(choices));
          }
          break;
        case events::FieldKind::gid:
          values.insert(values.end(), {choices.below(8), handle(choices)});
          break;
        case events::FieldKind::handle:
          values.push_back(handle(choices));
          break;
        case events::FieldKind::number:
          values.push_back(number(choices));
      }
    }
    scenario_.add(choices.below(2) == 0 ? part.program : part.worker, type, values, texts, lists);
  }

  /// Most often that of an object which the programs have: they count theirs in the same way.
  static std::uint64_t handle(Choices& choices) {
    const std::size_t which = choices.below(256);
    test::Program program{};
    for (std::size_t count = which % 40; count != 0; --count) {
      program.handle();
    }
    return which < 240 ? program.next_handle : choices.next<std::uint64_t>();
  }

  [[nodiscard]] std::uint64_t number(Choices& choices) const {
    const std::size_t value = choices.below(256);
    return value < 200   ? value % 8
           : value < 224 ? static_cast<std::uint64_t>(recent(choices))
           : value < 240 ? static_cast<std::uint64_t>(scenario_.now) * 1000
                         : choices.next<std::uint64_t>();
  }

  static std::string name(Choices& choices) {
    static const std::array<std::string, 10> names{"",     "/",       "/0",      "node",   "f()",
                                                   "\xff", "outside", "blocked", "events", "other"};
    const std::size_t which = choices.below(names.size() + 1);
    return which < names.size() ? names[which] : symbol(choices);
  }

  /// The pieces of which mangled names of C++ are made.
  static std::string symbol(Choices& choices) {
    static const std::array<std::string, 20> pieces{
        "St4pairI", "S_",  "S0_", "S1_", "S2_", "T_", "T0_", "Dp", "I",  "J",
        "E",        "1fI", "i",   "N",   "1a",  "Ul", "E0_", "sZ", "sp", "K"};
    std::string made = "_Z1f";
    for (std::size_t count = choices.below(200); count != 0; --count) {
      made += pieces[choices.below(pieces.size())];
    }
    return made;
  }

  test::Scenario scenario_;
  std::vector<Part> parts_;
  Stamp stamp_ = 0;
};

}  // namespace takt::fuzz
