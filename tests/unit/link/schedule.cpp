#include "schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "takt/link/flow_control.hpp"
#include "takt/link/inbox.hpp"
#include "takt/link/robust_send.hpp"

namespace takt::link::schedules {

namespace {

/// More than any schedule pushes, so that nothing is dropped.
constexpr std::size_t depth = 64;
constexpr std::size_t longest = 16;

class Choices {
 public:
  explicit Choices(const std::vector<std::uint32_t>& numbers) : numbers_(numbers) {}
  std::uint32_t below(std::uint32_t bound) {
    return next_ < numbers_.size() ? numbers_[next_++] % bound : 0;
  }

 private:
  const std::vector<std::uint32_t>& numbers_;
  std::size_t next_ = 0;
};

std::int64_t nanoseconds(Instant instant) { return instant.time_since_epoch().count(); }

}  // namespace

Schedule read(const std::vector<std::uint32_t>& numbers) {
  Choices choices(numbers);
  Schedule schedule;
  schedule.chunk_bytes = 1 + choices.below(5);
  schedule.per_chunk = 1 + choices.below(3);
  schedule.per_byte = choices.below(3);
  const std::uint32_t senders = 1 + choices.below(4);
  for (std::uint32_t i = 0; i < senders; ++i) {
    Sender& sender = schedule.senders.emplace_back();
    sender.kind = static_cast<Kind>(choices.below(6));
    sender.priority = choices.below(3);
    sender.period = 1 + choices.below(40);
    sender.first = choices.below(10);
    sender.timeout = 1 + choices.below(60);
    sender.restarts = choices.below(3);
  }
  std::int64_t time = 0;
  for (std::uint32_t left = choices.below(24); left > 0; --left) {
    time += choices.below(12);
    schedule.pushes.push_back({.time = time,
                               .sender = choices.below(senders),
                               .second = choices.below(2) == 1,
                               .bytes = 1 + choices.below(longest)});
  }
  for (std::uint32_t left = choices.below(20); left > 0; --left) {
    const std::uint32_t outcome = choices.below(6);
    schedule.outcomes.push_back(outcome == 4   ? Outcome::rejected
                                : outcome == 5 ? Outcome::lost
                                               : Outcome::delivered);
  }
  return schedule;
}

std::string describe(const Schedule& schedule) {
  std::string text = fmt::format("chunks of {} bytes take {} + {} for each byte\n",
                                 schedule.chunk_bytes, schedule.per_chunk, schedule.per_byte);
  for (const Sender& sender : schedule.senders) {
    text +=
        fmt::format("sender of kind {}, priority {}, period {} from {}, timeout {}, {} restarts\n",
                    static_cast<int>(sender.kind), sender.priority, sender.period, sender.first,
                    sender.timeout, sender.restarts);
  }
  for (const Push& push : schedule.pushes) {
    text += fmt::format("at {} {} bytes for sender {}{}\n", push.time, push.bytes, push.sender,
                        push.second ? ", second channel" : "");
  }
  for (const Outcome outcome : schedule.outcomes) {
    text += fmt::format("outcome {}\n", static_cast<int>(outcome));
  }
  return text;
}

Observed run(const Schedule& schedule) {
  Observed observed;
  Description description;
  description.chunk_bytes = schedule.chunk_bytes;
  std::vector<std::array<ChannelIndex, 2>> channels;
  const auto flow = std::make_shared<FlowControl*>();
  for (std::size_t i = 0; i < schedule.senders.size(); ++i) {
    const Sender& sender = schedule.senders[i];
    auto& channel = channels.emplace_back();
    for (ChannelIndex& each : channel) {
      each = description.add(ChannelDescription{.slots = depth, .bytes = longest});
    }
    TaskDescription task{.name = fmt::format("sender {}", i),
                         .priority = sender.priority,
                         .operation = Send{.stream = static_cast<std::uint32_t>(i)},
                         .depth = depth};
    const OnTimer timer{.period = Duration{sender.period}, .first = Duration{sender.first}};
    switch (sender.kind) {
      case Kind::data:
        task.inputs = {OnData{channel[0]}};
        break;
      case Kind::waiting:
        task.inputs = {OnData{channel[0]}};
        std::get<Send>(task.operation).waits = true;
        break;
      case Kind::either:
        task.inputs = {OnData{channel[0]}, OnData{channel[1]}};
        break;
      case Kind::periodic:
        task.inputs = {timer};
        task.samples = channel[0];
        break;
      case Kind::gated:
        task.inputs = {OnData{channel[0]}, timer};
        task.combination = Combination::all;
        break;
      case Kind::robust:
        add_robust_send(description,
                        {.name = task.name,
                         .priority = sender.priority,
                         .channel = channel[0],
                         .stream = static_cast<std::uint32_t>(i),
                         .checks = {[](const Activation& activation) {
                           return activation.message.size() % 5 != refused_remainder;
                         }},
                         .timeout = Duration{sender.timeout},
                         .restarts = sender.restarts,
                         .depth = depth,
                         .warn = [&](Failure, const Activation&) { ++observed.warnings; }},
                        flow);
        continue;
    }
    description.add(std::move(task));
  }
  SimulatedLink link(Duration{schedule.per_chunk}, Duration{schedule.per_byte});
  link.outcome = [&](std::size_t chunk) {
    return chunk < schedule.outcomes.size() ? schedule.outcomes[chunk] : Outcome::delivered;
  };
  std::vector<Channel> in_channels;
  std::vector<ReceiveDescription> receives;
  for (std::uint32_t stream = 0; stream < schedule.senders.size(); ++stream) {
    in_channels.emplace_back(2, longest);
    receives.push_back({.peer = {}, .stream = stream, .channel = ChannelIndex(stream)});
  }
  Inbox inbox({}, receives, in_channels, [&](Item item, Instant) {
    Channel& channel = in_channels[item.channel.value()];
    const auto bytes = channel.message(item.slot);
    const bool torn = std::ranges::adjacent_find(bytes, std::ranges::not_equal_to{}) != bytes.end();
    observed.arrivals.push_back({.stream = static_cast<std::uint32_t>(item.channel.value()),
                                 .push = torn ? 0 : std::to_integer<std::uint32_t>(bytes.front())});
    channel.release(item.slot);
  });
  link.sink = &inbox;
  const std::array<Transport*, 1> peers{&link};
  const auto created = FlowControl::create(std::move(description), peers, Instant{});
  *flow = created->get();

  std::map<const std::byte*, std::uint32_t> push_in;
  std::size_t next_push = 0;
  for (Instant now{}; nanoseconds(now) < horizon;) {
    for (;
         next_push < schedule.pushes.size() && schedule.pushes[next_push].time == nanoseconds(now);
         ++next_push) {
      const Push& push = schedule.pushes[next_push];
      const bool second = push.second && schedule.senders[push.sender].kind == Kind::either;
      const auto item = (*flow)->loan(channels[push.sender][second ? 1 : 0]);
      std::ranges::fill((*flow)->memory(*item), static_cast<std::byte>(next_push + 1));
      (*flow)->push(*item, push.bytes, now);
      push_in[(*flow)->message(*item).data()] = static_cast<std::uint32_t>(next_push + 1);
    }
    const std::size_t before = link.carried.size();
    const auto due = (*flow)->step(now);
    for (std::size_t i = before; i < link.carried.size(); ++i) {
      const auto& [begin, end, chunk, memory, outcome] = link.carried[i];
      observed.slots.push_back({.begin = nanoseconds(begin),
                                .stream = chunk.stream,
                                .message = chunk.message,
                                .push = push_in[memory - chunk.offset],
                                .offset = chunk.offset,
                                .bytes = chunk.bytes});
    }
    Instant next{Duration{horizon}};
    if (next_push < schedule.pushes.size()) {
      next = std::min(next, Instant{Duration{schedule.pushes[next_push].time}});
    }
    if (due) next = std::min(next, *due);
    if (link.end()) next = std::min(next, *link.end());
    now = next;
  }
  return observed;
}

namespace {

struct Message {
  std::size_t sender = 0;
  std::uint32_t push = 0;
  std::uint32_t bytes = 0;
  std::int64_t priority = 0;
  std::uint64_t order = 0;
  std::uint64_t number = 0;
  std::uint32_t sent = 0;
  std::uint32_t restarts = 0;
  std::optional<std::int64_t> times_out{};
};

/// The simple model: a list of messages that wait, one on the link, and a clock that ticks.
class Model {
 public:
  explicit Model(const Schedule& schedule) : schedule_(schedule), state_(schedule.senders.size()) {}

  Observed run() {
    std::size_t next_push = 0;
    for (now_ = 0; now_ < horizon; ++now_) {
      for (; next_push < schedule_.pushes.size() && schedule_.pushes[next_push].time == now_;
           ++next_push) {
        timers();
        push(next_push);
      }
      if (link_ && link_end_ == now_) link_ends();
      timers();
      calls();
      use_link();
    }
    return observed_;
  }

 private:
  struct State {
    std::vector<std::uint32_t> waiting{};
    std::uint32_t newest = 0;
    std::uint32_t sampled = 0;
    bool gate = false;
    std::uint64_t messages = 0;
    std::int64_t ticked = -1;
  };

  /// A check or what follows an acknowledgement, in the order in which they were activated.
  struct Pending {
    std::int64_t priority = 0;
    std::uint64_t order = 0;
    bool check = false;
    Message message{};
    Outcome outcome = Outcome::delivered;
  };

  void push(std::size_t index) {
    const Push& push = schedule_.pushes[index];
    const Sender& sender = schedule_.senders[push.sender];
    State& state = state_[push.sender];
    const auto number = static_cast<std::uint32_t>(index + 1);
    switch (sender.kind) {
      case Kind::data:
      case Kind::either:
      case Kind::waiting:
        activate(push.sender, number);
        break;
      case Kind::periodic:
        state.newest = number;
        break;
      case Kind::gated:
        state.waiting.push_back(number);
        pass_gate(push.sender);
        break;
      case Kind::robust:
        calls_.push_back({.priority = sender.priority,
                          .order = ++orders_,
                          .check = true,
                          .message = message(push.sender, number)});
        break;
    }
  }

  void timers() {
    for (std::size_t i = 0; i < state_.size(); ++i) {
      const Sender& sender = schedule_.senders[i];
      State& state = state_[i];
      const bool timed = sender.kind == Kind::periodic || sender.kind == Kind::gated;
      const bool due = now_ >= sender.first && (now_ - sender.first) % sender.period == 0;
      if (!timed || !due || state.ticked == now_) continue;
      state.ticked = now_;
      if (sender.kind == Kind::gated) {
        state.gate = true;
        pass_gate(i);
      } else if (state.newest != state.sampled) {
        state.sampled = state.newest;
        activate(i, state.newest);
      }
    }
    // Messages time out in the order of their activation.
    std::vector<Message> late;
    std::erase_if(ready_, [&](const Message& message) {
      if (message.times_out != now_) return false;
      late.push_back(message);
      return true;
    });
    if (link_ && link_->times_out == now_) {
      late.push_back(*link_);
      link_->times_out.reset();
      withdrawn_ = true;
    }
    std::ranges::sort(late, {}, &Message::order);
    for (const Message& message : late) conclude(message, Outcome::lost);
  }

  void pass_gate(std::size_t sender) {
    State& state = state_[sender];
    if (!state.gate || state.waiting.empty()) return;
    state.gate = false;
    activate(sender, state.waiting.front());
    state.waiting.erase(state.waiting.begin());
  }

  [[nodiscard]] Message message(std::size_t sender, std::uint32_t push) const {
    return {.sender = sender,
            .push = push,
            .bytes = schedule_.pushes[push - 1].bytes,
            .priority = schedule_.senders[sender].priority};
  }

  void activate(std::size_t sender, std::uint32_t push) {
    Message activated = message(sender, push);
    activated.order = ++orders_;
    if (schedule_.senders[sender].kind == Kind::robust) {
      activated.times_out = now_ + schedule_.senders[sender].timeout;
    }
    ready_.push_back(activated);
  }

  void conclude(const Message& message, Outcome outcome) {
    calls_.push_back({.priority = message.priority,
                      .order = ++orders_,
                      .check = false,
                      .message = message,
                      .outcome = outcome});
  }

  void link_ends() {
    Message message = *std::exchange(link_, std::nullopt);
    const std::size_t chunk = observed_.slots.size() - 1;
    const Outcome outcome =
        chunk < schedule_.outcomes.size() ? schedule_.outcomes[chunk] : Outcome::delivered;
    if (std::exchange(withdrawn_, false)) return;
    const Kind kind = schedule_.senders[message.sender].kind;
    const bool begins_anew = outcome == Outcome::lost && kind == Kind::waiting;
    if (begins_anew) message.sent = 0;
    if (begins_anew || (outcome == Outcome::delivered && message.sent < message.bytes)) {
      ready_.push_back(message);
    } else if (kind == Kind::robust) {
      conclude(message, outcome);
    }
  }

  template <typename List>
  auto most_urgent(List& list) {
    return std::ranges::min_element(
        list, {}, [](const auto& waiting) { return std::pair(-waiting.priority, waiting.order); });
  }

  void calls() {
    while (!calls_.empty()) {
      const auto first = most_urgent(calls_);
      const Pending call = *first;
      calls_.erase(first);
      const Sender& sender = schedule_.senders[call.message.sender];
      if (call.check) {
        if (call.message.bytes % 5 == refused_remainder) {
          ++observed_.warnings;
        } else {
          activate(call.message.sender, call.message.push);
        }
      } else if (call.outcome != Outcome::delivered) {
        if (call.message.restarts < sender.restarts) {
          Message again = call.message;
          ++again.restarts;
          again.sent = 0;
          again.times_out = now_ + sender.timeout;
          ready_.push_back(again);
        } else {
          ++observed_.warnings;
        }
      }
    }
  }

  void use_link() {
    if (link_ || ready_.empty()) return;
    const auto first = most_urgent(ready_);
    link_ = *first;
    ready_.erase(first);
    if (link_->number == 0) link_->number = ++state_[link_->sender].messages;
    const std::uint32_t bytes = std::min(schedule_.chunk_bytes, link_->bytes - link_->sent);
    observed_.slots.push_back({.begin = now_,
                               .stream = static_cast<std::uint32_t>(link_->sender),
                               .message = link_->number,
                               .push = link_->push,
                               .offset = link_->sent,
                               .bytes = bytes});
    link_->sent += bytes;
    link_end_ = now_ + schedule_.per_chunk + schedule_.per_byte * bytes;
  }

  const Schedule& schedule_;
  Observed observed_;
  std::vector<State> state_;
  std::vector<Message> ready_;
  std::vector<Pending> calls_;
  std::optional<Message> link_;
  bool withdrawn_ = false;
  std::int64_t link_end_ = 0;
  std::uint64_t orders_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace

Observed expected(const Schedule& schedule) { return Model(schedule).run(); }

std::string violated(const Schedule& schedule, const Observed& observed) {
  std::vector<std::uint64_t> newest(schedule.senders.size());
  std::vector<std::uint32_t> sent(schedule.senders.size());
  std::vector<std::int64_t> first_begin(schedule.pushes.size(), horizon);
  std::vector<std::uint64_t> number_of(schedule.pushes.size());
  for (const Slot& slot : observed.slots) {
    const Sender& sender = schedule.senders[slot.stream];
    const auto where = [&](std::string_view what) {
      return fmt::format("{}: stream {} at {}\n", what, slot.stream, slot.begin);
    };
    if (slot.bytes > schedule.chunk_bytes) return where("a chunk is too large");
    if (slot.message < newest[slot.stream]) return where("messages of a stream changed places");
    if (slot.offset != 0 && slot.offset != sent[slot.stream]) return where("a gap in a message");
    // The n-th message of a periodic sender does not exist before its n-th period.
    const auto earlier = static_cast<std::int64_t>(slot.message) - 1;
    if (sender.kind == Kind::periodic && slot.begin < sender.first + earlier * sender.period) {
      return where("two messages in a period");
    }
    newest[slot.stream] = slot.message;
    sent[slot.stream] = slot.offset + slot.bytes;
    number_of[slot.push - 1] = slot.message;
    std::int64_t& begin = first_begin[slot.push - 1];
    begin = std::min(begin, slot.begin);
  }
  std::vector<std::uint64_t> newest_arrival(schedule.senders.size());
  for (const auto& [stream, push] : observed.arrivals) {
    if (push == 0) return fmt::format("a message of stream {} is torn\n", stream);
    const std::uint64_t number = number_of[push - 1];
    if (number <= newest_arrival[stream]) {
      return fmt::format("push {} came twice or out of order\n", push - 1);
    }
    newest_arrival[stream] = number;
  }
  // From its push to its first chunk, a message that is sent at once sees at most one chunk of less
  // urgent ones, which was on the link already.
  for (std::size_t i = 0; i < schedule.pushes.size(); ++i) {
    const Push& push = schedule.pushes[i];
    const Sender& sender = schedule.senders[push.sender];
    if (sender.kind != Kind::data && sender.kind != Kind::either) continue;
    for (const Slot& slot : observed.slots) {
      const Sender& other = schedule.senders[slot.stream];
      if (slot.begin >= push.time && slot.begin < first_begin[i] &&
          other.priority < sender.priority) {
        return fmt::format("push {} had to wait for a chunk of stream {} that began at {}\n", i,
                           slot.stream, slot.begin);
      }
    }
  }
  return {};
}

}  // namespace takt::link::schedules
