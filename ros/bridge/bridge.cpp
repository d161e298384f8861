#include "bridge.hpp"

#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/bridge/turn.hpp"
#include "takt/executor/rcl_result.hpp"

namespace takt::bridge {

using executor::check;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

/// How often the bridge checks whether it must stop, and whether peers are connected.
constexpr Duration patience = milliseconds(100);
/// How often the bridge checks whether subscriptions have found a new publisher.
constexpr Duration held_period = milliseconds(10);
/// Publishers are looked for when the graph changes, and this often in case a change was missed.
constexpr Duration look_period = std::chrono::seconds(1);

/// A limit, as other programs can cause any number of notices.
constexpr std::size_t most_notices = 1000;

std::uint64_t make_process_number() {
  std::random_device random;
  std::uniform_int_distribution<std::uint64_t> any(1);
  return any(random);
}

}  // namespace

Bridge::Bridge(const Configuration& configuration, std::size_t host, Tell tell)
    : configuration_(configuration),
      host_(host),
      plan_(plan(configuration, host)),
      tell_(std::move(tell)),
      process_(make_process_number()),
      peers_(plan_.peers.size()),
      latencies_(plan_.out.size()) {}

Bridge::~Bridge() {
  if (rcl_wait_set_fini(&wait_set_) != RCL_RET_OK) rcl_reset_error();
}

Result<std::unique_ptr<Bridge>> Bridge::create(const Configuration& configuration, std::size_t host,
                                               const transport::Key& key, Tell tell) {
  std::unique_ptr<Bridge> made(new Bridge(configuration, host, std::move(tell)));
  if (made->plan_.peers.empty()) {
    return error("no topic comes from {} or goes there", configuration.hosts[host].name);
  }
  made->context_ = TAKT_TRY(executor::Context::create());
  made->node_ = TAKT_TRY(
      executor::Node::create(made->context_, "/takt_bridge_" + configuration.hosts[host].name));
  TAKT_TRY(made->connect(key));
  return made;
}

/// Error: the host's address is not of this machine. Shared memory alone would not notice that.
Result<void> Bridge::check_address() const {
  const Host& host = configuration_.hosts[host_];
  TAKT_TRY(transport::UdpSocket::open(
      {.local = {host.address, 0}, .remote = {host.address, host.port}, .beyond_loopback = true}));
  return {};
}

Result<void> Bridge::connect(const transport::Key& key) {
  TAKT_TRY(check_address());
  for (const Topic& topic : configuration_.topics) {
    if (!topic.type) continue;
    if (const auto type = raw::load_type(*topic.type); !type) {
      return error("{}: {}", topic.name, type.error().message);
    }
  }
  arrival_ = TAKT_TRY(executor::GuardCondition::create(context_));
  graph_ = rcl_node_get_graph_guard_condition(node_->handle());
  const auto once = [this](const std::string& text) { say(text); };
  for (std::size_t i = 0; i < plan_.out.size(); ++i) {
    const Route& route = plan_.out[i];
    out_.emplace_back(
        topic_of(route), route.stream,
        hop_of(configuration_, topic_of(route), plan_.peers[route.peer.value()]), node_,
        [this, i](const Header& header, std::span<const std::byte> bytes) {
          return link_->push(flow_.out_channels[i], write(header), bytes);
        },
        once);
  }
  const Instant begin = transport::now();
  for (const Route& route : plan_.in) {
    in_.emplace_back(topic_of(route), process_, begin,
                     hop_of(configuration_, topic_of(route), host_), node_, once);
  }
  TAKT_TRY(check(rcl_wait_set_init(&wait_set_, out_.size(), 2, 0, 0, 0, 0, context_->handle(),
                                   rcl_get_default_allocator()),
                 "make a wait set"));
  flow_ = describe(configuration_, plan_, hooks());
  link_ =
      TAKT_TRY(transport::LinkThread::start(std::move(flow_.description), key, plan_.connections));
  for (std::size_t peer = 0; peer < plan_.peers.size(); ++peer) tell_state(link::PeerIndex(peer));
  return {};
}

/// The hooks run in the link's thread; `begun` also runs in the thread of run(), when it pushes.
Hooks Bridge::hooks() {
  Hooks hooks;
  hooks.begun = [this](std::size_t route, std::span<const std::byte> message) {
    if (const auto header = read_header(message)) out_[route].trace().goes(*header);
  };
  hooks.arrived = [this](std::size_t route, const link::Activation& activation) {
    activation.flow->keep(*activation.item);
    if (const auto header = read_header(activation.message)) in_[route].trace().came(*header);
    std::optional<Inbound::Waiting> oldest;
    {
      const std::scoped_lock lock(mutex_);
      oldest = in_[route].enqueue({*activation.item, activation.message});
    }
    if (oldest) activation.flow->release(oldest->item);
    arrival_->trigger();
  };
  hooks.ended = [this](std::size_t route, const link::Activation& activation) {
    if (activation.outcome != link::Outcome::delivered) return;
    const Duration time = activation.now - activation.written;
    const std::optional<Duration> wanted = topic_of(plan_.out[route]).latency;
    const std::scoped_lock lock(mutex_);
    latencies_[route].times.record(time);
    if (wanted && time > *wanted) ++latencies_[route].late;
  };
  hooks.state_arrived = [this](link::PeerIndex peer, std::span<const std::byte> bytes) {
    {
      std::optional<State> state = read_state(bytes);
      const std::scoped_lock lock(mutex_);
      if (!state) peers_[peer.value()].unreadable = true;
      if (state) peers_[peer.value()].said = std::move(state);
    }
    arrival_->trigger();
  };
  return hooks;
}

const Topic& Bridge::topic_of(const Route& route) const {
  return configuration_.topics[route.topic];
}

const std::string& Bridge::host_of(link::PeerIndex peer) const {
  return configuration_.hosts[plan_.peers[peer.value()]].name;
}

void Bridge::say(const std::string& text) {
  if (said_.size() < most_notices && said_.insert(text).second)
    tell_({{"event", "notice"}, {"text", text}});
}

Result<void> Bridge::run(const std::atomic<bool>& stop) {
  while (!stop) {
    watch_peers();
    hear_states();
    TAKT_TRY(look());
    publish_some();
    TAKT_TRY(take_some());
    TAKT_TRY(wait());
  }
  return {};
}

Result<void> Bridge::wait() {
  Result<void> prepared = check(rcl_wait_set_clear(&wait_set_), "clear a wait set");
  if (prepared) prepared = arrival_->add_to(wait_set_);
  std::size_t place = 0;
  if (prepared) {
    prepared = check(rcl_wait_set_add_guard_condition(&wait_set_, graph_, &place),
                     "wait for changes of the graph");
  }
  for (Outbound& out : out_) {
    if (prepared && out.subscription() != nullptr) {
      prepared = out.subscription()->add_to(wait_set_);
    }
  }
  if (!prepared) return prepared;
  Duration timeout = held_ ? held_period : patience;
  if (more_) timeout = Duration{0};
  trace_wait(timeout.count());
  const rcl_ret_t code = rcl_wait(&wait_set_, timeout.count());
  trace_woken();
  if (code == RCL_RET_TIMEOUT) {
    rcl_reset_error();
    return {};
  }
  graph_changed_ = graph_changed_ || wait_set_.guard_conditions[place] != nullptr;
  return check(code, "wait for messages");
}

/// Finds out whether topics are published, and how.
Result<void> Bridge::look() {
  const Instant now = transport::now();
  if (!graph_changed_ && now - looked_ < look_period) return {};
  graph_changed_ = false;
  looked_ = now;
  std::vector<raw::Gid> own;
  for (const Inbound& in : in_) {
    if (in.publisher() != nullptr) own.push_back(in.publisher()->gid());
  }
  std::set<link::PeerIndex> changed;
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const bool different = TAKT_TRY(out_[i].look(own));
    if (different) changed.insert(plan_.out[i].peer);
  }
  for (const link::PeerIndex peer : changed) tell_state(peer);
  return {};
}

void Bridge::watch_peers() {
  const Instant now = transport::now();
  if (now - watched_ < patience) return;
  watched_ = now;
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    const link::PeerIndex peer(p);
    const bool connected = link_->connected(peer);
    if (std::exchange(peers_[p].connected, connected) == connected) continue;
    tell_({{"event", "peer"}, {"host", host_of(peer)}, {"connected", connected}});
  }
}

void Bridge::hear_states() {
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    const link::PeerIndex peer(p);
    std::optional<State> state;
    bool unreadable = false;
    {
      const std::scoped_lock lock(mutex_);
      std::swap(state, peers_[p].said);
      unreadable = std::exchange(peers_[p].unreadable, false);
    }
    if (unreadable) say(fmt::format("{} runs another version of takt bridge", host_of(peer)));
    if (state) take_state(peer, *state);
  }
}

void Bridge::take_state(link::PeerIndex peer, const State& state) {
  if (std::exchange(peers_[peer.value()].process, state.process) != state.process) {
    // The new process has heard nothing that was said before. Messages from here on carry its
    // number.
    tell_state(peer);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (plan_.out[i].peer == peer) out_[i].repeat(state.process);
    }
  }
  for (const Offered& offered : state.offers) {
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const Route& route = plan_.in[i];
      if (route.peer == peer && route.stream == offered.stream)
        in_[i].offer(offered, transport::now());
    }
  }
}

void Bridge::tell_state(link::PeerIndex peer) {
  State state{.process = process_, .offers = {}};
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const auto offered = out_[i].offered();
    if (plan_.out[i].peer == peer && offered) state.offers.push_back(*offered);
  }
  static_cast<void>(link_->push(flow_.state_channels[peer.value()], write(state)));
}

/// Takes one message of each topic, the most urgent topic first, so that no topic waits for many
/// messages of another one.
Result<void> Bridge::take_some() {
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const bool taken = TAKT_TRY(out_[i].take(peers_[plan_.out[i].peer.value()].process));
    if (taken) publish_some();
  }
  return {};
}

/// Publishes what has arrived, the most urgent message first, as much as fits into a turn.
void Bridge::publish_some() {
  const Instant now = transport::now();
  held_ = false;
  more_ = publish_in_turn(in_.size(), [&](std::size_t i) {
    const bool open = in_[i].open(now);
    std::optional<Inbound::Waiting> message;
    {
      const std::scoped_lock lock(mutex_);
      if (open) message = in_[i].next();
      held_ = held_ || (!open && in_[i].waits());
    }
    if (!message) return false;
    in_[i].publish(message->message);
    link_->with([&](link::FlowControl& flow) { flow.release(message->item); });
    return true;
  });
}

}  // namespace takt::bridge
