#include "exploration/steps.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace takt::analysis {

namespace {

/// More instances than this wait only if their number grows for ever.
constexpr std::size_t most_waiting = 100;

/// The most memory of the drafts that one step keeps: each choice may double their number.
constexpr std::size_t most_draft_bytes = std::size_t{1} << 28;

}  // namespace

Steps::Steps(const Problem& problem, Effort& effort)
    : problem_(problem),
      effort_(effort),
      longest_{.responses = std::vector<Time>(problem.callbacks.size()),
               .tracks = std::vector<Time>(problem.tracks.size())} {}

void Steps::take(State state, const std::function<void(State)>& reached) {
  reached_ = &reached;
  std::size_t waiting = state.flights.size();
  std::size_t pending = 0;
  for (const auto& queue : state.queues) pending += queue.size();
  if (waiting + pending > most_waiting) throw TooManyWait{};
  if (pending == 0) {
    wait(state);
  } else if (problem_.rule == Problem::Rule::ready_set) {
    choose_from_ready_set(std::move(state));
  } else {
    choose_by_key(state);
  }
}

void Steps::add(std::vector<Draft>& drafts, Draft draft) {
  const std::size_t columns = draft.state.zone.size();
  const std::size_t bytes = sizeof(Draft) + columns * columns * sizeof(Time) +
                            (draft.arrivals.size() + 1) * sizeof(Arrival);
  if (drafts.size() > most_draft_bytes / bytes) throw TooManyDrafts{};
  drafts.push_back(std::move(draft));
}

bool Steps::limit(State& state, Moment a, Moment b, Time bound) {
  const Time columns = bound - a.offset + b.offset;
  if (a.column == b.column) return columns >= 0;
  effort_.spend(state.zone.size() * 4);
  return state.zone.limit(a.column, b.column, columns);
}

bool Steps::limit_within(State& state, Zone::Column column, const Window& window) {
  return limit(state, {window.since}, {column}, -window.gap) &&
         limit(state, {column}, {State::now}, 0);
}

/// ros-llama S-1.2: privileged callbacks, then those that a polling point has admitted. Each that
/// may come before all others of its set may be next.
void Steps::choose_from_ready_set(State state) {
  const auto& callbacks = problem_.callbacks;
  const auto first_of = [&](auto is_in_set) {
    std::vector<std::size_t> set;
    for (std::size_t c = 0; c < callbacks.size(); ++c) {
      if (is_in_set(c)) set.push_back(c);
    }
    std::vector<std::size_t> first;
    std::ranges::copy_if(set, std::back_inserter(first), [&](std::size_t c) {
      return std::ranges::all_of(set, [&](std::size_t other) {
        return may_precede(callbacks[c].place, callbacks[other].place);
      });
    });
    return first;
  };
  const auto waits = [&](std::size_t c) { return !state.queues[c].empty(); };
  const auto privileged = first_of([&](std::size_t c) { return !callbacks[c].polled && waits(c); });
  for (const std::size_t c : privileged) run(state, c);
  if (!privileged.empty()) return;
  const auto is_ready = [&](std::size_t c) { return state.ready[c] == State::is_ready; };
  auto first = first_of([&](std::size_t c) { return state.ready[c] == State::is_next; });
  if (first.empty()) first = first_of(is_ready);
  if (first.empty()) {
    for (std::size_t c = 0; c < callbacks.size(); ++c) {
      state.ready[c] = callbacks[c].polled && waits(c) ? State::is_ready : State::not_ready;
    }
    first = first_of(is_ready);
  }
  for (const std::size_t c : first) run_from_ready_set(state, c);
}

void Steps::run_from_ready_set(State state, std::size_t callback) {
  state.ready[callback] = State::not_ready;
  const auto is_of_block = [&](std::size_t c) {
    return problem_.callbacks[c].place.block == problem_.callbacks[callback].place.block;
  };
  bool others_wait = false;
  for (std::size_t c = 0; c < state.ready.size(); ++c) {
    others_wait = others_wait || (state.ready[c] == State::is_ready && !is_of_block(c));
  }
  for (std::size_t c = 0; c < state.ready.size(); ++c) {
    if (state.ready[c] == State::not_ready || !is_of_block(c)) continue;
    state.ready[c] = others_wait ? State::is_next : State::is_ready;
  }
  run(std::move(state), callback);
}

/// The oldest instance of each callback competes. If several are equal, any of them may be first.
void Steps::choose_by_key(const State& state) {
  std::vector<std::size_t> best;
  for (std::size_t c = 0; c < problem_.callbacks.size(); ++c) {
    if (state.queues[c].empty()) continue;
    const std::int64_t priority = problem_.callbacks[c].priority;
    if (!best.empty() && priority < problem_.callbacks[best.front()].priority) continue;
    if (!best.empty() && priority > problem_.callbacks[best.front()].priority) best.clear();
    best.push_back(c);
  }
  const auto key = [&](std::size_t c) {
    const Token& token = state.queues[c].front();
    if (problem_.order == Problem::Order::activation) return token.time;
    return Moment{token.origin.column, token.origin.offset + problem_.callbacks[c].deadline};
  };
  for (const std::size_t c : best) {
    State chosen = state;
    const bool possible = std::ranges::all_of(
        best, [&](std::size_t other) { return limit(chosen, key(c), key(other), 0); });
    if (possible) run(std::move(chosen), c);
  }
}

void Steps::run(State state, std::size_t index) {
  const Problem::Callback& callback = problem_.callbacks[index];
  const Token token = std::move(state.queues[index].front());
  state.queues[index].erase(state.queues[index].begin());
  const Zone::Column end = state.zone.add();
  static_cast<void>(limit(state, {end}, {State::now}, callback.cost));
  static_cast<void>(limit(state, {State::now}, {end}, -callback.least_cost));
  if (problem_.spared > 0) {
    static_cast<void>(limit(state, {end}, {State::work}, callback.cost));
    state.zone.shift(State::work, callback.cost - problem_.spared);
    state.zone.forget_lower(State::work);
  }
  const auto since = [&](Moment moment) {
    return state.zone.most(end, moment.column) - moment.offset;
  };
  longest_.responses[index] = std::max(longest_.responses[index], since(token.time));
  for (const Token::Place& place : token.places) {
    if (place.position + 1 < problem_.tracks[place.track].callbacks.size()) continue;
    longest_.tracks[place.track] = std::max(longest_.tracks[place.track], since(place.start));
  }
  // From here on State::now is the end of the instance, and column `end` is the time before it.
  state.zone.swap(State::now, end);
  const Window window{.since = end, .gap = 1};
  std::vector<Draft> drafts;
  drafts.push_back({.state = std::move(state)});
  for (const Problem::Send& each : callback.sends) send(drafts, token, index, each, window);
  for (Draft& draft : drafts) arrive(std::move(draft), window, 0);
}

std::vector<Token::Place> Steps::places_after(const Token& by, std::size_t from,
                                              std::size_t to) const {
  std::vector<Token::Place> places;
  const CallbackIndex receiver = problem_.callbacks[to].index;
  for (const Token::Place& place : by.places) {
    const auto& callbacks = problem_.tracks[place.track].callbacks;
    const std::size_t next = place.position + 1;
    if (next == callbacks.size() || callbacks[next] != receiver) continue;
    places.push_back({place.track, next, place.start});
  }
  for (std::size_t t = 0; t < problem_.tracks.size(); ++t) {
    const auto& callbacks = problem_.tracks[t].callbacks;
    if (callbacks[0] != problem_.callbacks[from].index || callbacks[1] != receiver) continue;
    places.push_back({t, 1, by.time});
  }
  return places;
}

/// The instance that runs sends at any time from its start to its end.
void Steps::send(std::vector<Draft>& drafts, const Token& by, std::size_t from,
                 const Problem::Send& send, const Window& window) {
  if (send.triggers && std::ranges::find(*send.triggers, by.via) == send.triggers->end()) return;
  if (send.optional) {
    const std::size_t all = drafts.size();
    for (std::size_t d = 0; d < all; ++d) add(drafts, drafts[d]);
  }
  const std::size_t sending = send.optional ? drafts.size() / 2 : drafts.size();
  for (std::size_t d = 0; d < sending; ++d) {
    Draft& draft = drafts[d];
    const Zone::Column sent = draft.state.zone.add();
    static_cast<void>(limit_within(draft.state, sent, {.since = window.since, .gap = 0}));
    Token token{.via = send.edge,
                .time = {sent},
                .origin = by.origin,
                .places = places_after(by, from, send.to)};
    if (send.delay == 0) {
      draft.arrivals.push_back({.token = std::move(token), .to = send.to});
    } else {
      draft.state.flights.push_back(std::move(token));
      ++draft.sent;
    }
  }
}

/// Nothing waits: time passes until something comes.
void Steps::wait(const State& state) {
  const std::size_t sources = problem_.sources.size();
  for (std::size_t first = 0; first < sources + state.flights.size(); ++first) {
    Draft draft{.state = state};
    const Zone::Column then = draft.state.zone.add();
    const Time unseen = first < sources ? problem_.sources[first].unseen() : 1;
    static_cast<void>(limit(draft.state, {State::now}, {then}, -unseen));
    draft.state.zone.swap(State::now, then);
    const Window window{.since = State::now, .gap = 0};
    // If several come at the same time, `first` is the first of them in this order.
    bool possible = true;
    for (std::size_t other = 0; other < first && other < sources && possible; ++other) {
      possible = does_not_come(draft, problem_.sources[other]);
    }
    if (!possible) continue;
    if (first < sources) {
      if (comes(draft, problem_.sources[first], window)) arrive(std::move(draft), window, first);
      continue;
    }
    for (std::size_t other = 0; other + sources < first && possible; ++other) {
      possible = does_not_come(draft, other);
    }
    if (!possible || !comes(draft, first - sources, window)) continue;
    // The message has landed; those before it are held, those after it may come as well.
    arrive(std::move(draft), window, sources);
  }
}

bool Steps::comes(Draft& draft, const Source& source, const Window& window) {
  const bool possible = source.kind == Source::Kind::grid
                            ? comes_on_grid(draft, source, window)
                            : comes_within_curve(draft, source, window);
  if (!possible) return false;
  Token& token = draft.arrivals.back().token;
  token.origin = token.time;
  // Its activations keep their order.
  for (std::size_t n = draft.arrivals.size() - 1; n-- > 0;) {
    if (draft.arrivals[n].source != &source) continue;
    return limit(draft.state, draft.arrivals[n].token.time, token.time, 0);
  }
  return true;
}

bool Steps::comes_on_grid(Draft& draft, const Source& source, const Window& step) {
  State& state = draft.state;
  const Window window{.since = step.since, .gap = std::min(step.gap, source.unseen())};
  const Moment due{State::begin, source.phase + (state.released[source.grid]++ * source.period)};
  Moment time = due;
  if (source.jitter == 0) {
    if (!limit(state, {window.since}, due, -window.gap) || !limit(state, due, {State::now}, 0)) {
      return false;
    }
  } else {
    time = {state.zone.add()};
    if (!limit(state, due, time, 0) || !limit(state, time, due, source.jitter) ||
        !limit_within(state, time.column, window)) {
      return false;
    }
  }
  draft.arrivals.push_back(
      {.token = {.via = source.via, .time = time}, .to = source.to, .source = &source});
  return true;
}

bool Steps::comes_within_curve(Draft& draft, const Source& source, const Window& step) {
  State& state = draft.state;
  const Window window{.since = step.since, .gap = std::min(step.gap, source.unseen())};
  const Zone::Column time = state.zone.add();
  if (!limit_within(state, time, window)) return false;
  const bool periodic = source.kind == Source::Kind::periodic;
  for (std::size_t n = 0; n < source.columns(); ++n) {
    const Time distance = periodic ? source.period : source.distances[n];
    const auto remembered = static_cast<Zone::Column>(source.column + n);
    if (!limit(state, {remembered}, {time}, -distance)) return false;
  }
  // Remember the times from which the next releases must keep their distance, as early as possible.
  Zone& zone = state.zone;
  const auto later = [](Time bound, Time by) { return bound >= no_limit ? no_limit : bound + by; };
  for (std::size_t n = source.columns(); n-- > 0;) {
    const auto column = static_cast<Zone::Column>(source.column + n);
    for (Zone::Column c = 0; c < zone.size(); ++c) {
      if (c == column) continue;
      if (periodic) {
        zone.set(c, column,
                 std::min(later(zone.most(c, column), -source.period),
                          later(zone.most(c, time), source.jitter)));
      } else {
        zone.set(c, column, zone.most(c, n == 0 ? time : column - 1));
      }
      zone.set(column, c, no_limit);
    }
  }
  draft.arrivals.push_back(
      {.token = {.via = source.via, .time = {time}}, .to = source.to, .source = &source});
  return true;
}

bool Steps::does_not_come(Draft& draft, const Source& source) {
  if (source.kind != Source::Kind::grid) return true;
  const Time due = source.phase + (draft.state.released[source.grid] * source.period);
  return limit(draft.state, {State::now}, {State::begin}, due + source.jitter - source.unseen());
}

bool Steps::comes(Draft& draft, std::size_t flight, const Window& window) {
  State& state = draft.state;
  Token token = state.flights[flight];
  if (std::ranges::find(draft.held, token.via) != draft.held.end()) return false;
  const bool just_sent = flight + draft.sent >= state.flights.size();
  const Time delay = problem_.send(token.via).delay;
  const Zone::Column time = state.zone.add();
  const bool possible = limit(state, token.time, {time}, 0) &&
                        limit(state, {time}, token.time, delay) &&
                        limit(state, {time}, {State::now}, 0) &&
                        (just_sent || limit(state, {window.since}, {time}, -window.gap));
  if (!possible) return false;
  token.time = {time};
  const std::size_t to = problem_.send(token.via).to;
  for (std::size_t n = draft.arrivals.size(); n-- > 0;) {
    if (draft.arrivals[n].token.via != token.via) continue;
    if (!limit(state, draft.arrivals[n].token.time, token.time, 0)) return false;
    break;
  }
  state.flights.erase(state.flights.begin() + static_cast<std::ptrdiff_t>(flight));
  if (just_sent) --draft.sent;
  draft.arrivals.push_back({.token = std::move(token), .to = to});
  return true;
}

bool Steps::does_not_come(Draft& draft, std::size_t flight) {
  const Token& token = draft.state.flights[flight];
  draft.held.push_back(token.via);
  return limit(draft.state, {State::now}, token.time, problem_.send(token.via).delay - 1);
}

/// Follows all that may come within the window, from the source with number `first` on.
void Steps::arrive(Draft draft, const Window& window, std::size_t first) {
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  for (std::size_t s = first; s < problem_.sources.size(); ++s) {
    arrive_from(drafts, problem_.sources[s], window);
  }
  arrive_flights(drafts, window);
  for (Draft& each : drafts) {
    each.held.clear();
    deliver(std::move(each));
  }
}

void Steps::arrive_from(std::vector<Draft>& drafts, const Source& source, const Window& window) {
  std::vector<Draft> result;
  for (Draft& draft : drafts) {
    for (;;) {
      if (draft.arrivals.size() > most_waiting) throw TooManyWait{};
      Draft without = draft;
      if (does_not_come(without, source)) add(result, std::move(without));
      if (!comes(draft, source, window)) break;
    }
  }
  drafts = std::move(result);
}

void Steps::arrive_flights(std::vector<Draft>& drafts, const Window& window) {
  std::vector<Draft> result;
  // Messages that have been looked at stay at the beginning of State::flights.
  std::vector<std::pair<Draft, std::size_t>> open;
  for (Draft& draft : drafts) open.emplace_back(std::move(draft), std::size_t{0});
  while (!open.empty()) {
    auto [draft, next] = std::move(open.back());
    open.pop_back();
    if (next == draft.state.flights.size()) {
      add(result, std::move(draft));
      continue;
    }
    Draft without = draft;
    if (does_not_come(without, next)) open.emplace_back(std::move(without), next + 1);
    if (comes(draft, next, window)) open.emplace_back(std::move(draft), next);
  }
  drafts = std::move(result);
}

void Steps::deliver(Draft draft) {
  if (draft.arrivals.empty()) return (*reached_)(std::move(draft.state));
  const std::size_t to = std::ranges::min(draft.arrivals, {}, &Arrival::to).to;
  deliver_to(std::move(draft), to);
}

/// Delivers the next arrival for the callback. It is the first arrival of some stream, any one that
/// may be the first of all streams.
void Steps::deliver_to(Draft draft, std::size_t callback) {
  std::vector<std::size_t> heads;
  for (std::size_t n = 0; n < draft.arrivals.size(); ++n) {
    const Arrival& arrival = draft.arrivals[n];
    const bool is_head = std::ranges::none_of(
        heads, [&](std::size_t h) { return draft.arrivals[h].token.via == arrival.token.via; });
    if (arrival.to == callback && is_head) heads.push_back(n);
  }
  for (const std::size_t head : heads) {
    Draft ordered = draft;
    const Arrival arrival = draft.arrivals[head];
    const bool possible = std::ranges::all_of(heads, [&](std::size_t other) {
      return limit(ordered.state, arrival.token.time, draft.arrivals[other].token.time, 0);
    });
    if (!possible) continue;
    ordered.arrivals.erase(ordered.arrivals.begin() + static_cast<std::ptrdiff_t>(head));
    receive(std::move(ordered), arrival);
  }
}

void Steps::receive(Draft draft, const Arrival& arrival) {
  const auto& index = problem_.callbacks[arrival.to].join;
  if (!index || arrival.token.via == own_activation) return activate(std::move(draft), arrival);
  const Problem::Join& join = problem_.joins[*index];
  const auto input = std::ranges::find_if(join.inputs, [&](const std::vector<Via>& edges) {
    return std::ranges::find(edges, arrival.token.via) != edges.end();
  });
  if (input == join.inputs.end()) return activate(std::move(draft), arrival);
  const auto waiting = std::span(draft.state.joined).subspan(join.first, join.inputs.size());
  auto& own = waiting[static_cast<std::size_t>(input - join.inputs.begin())];
  own = join.kind == model::JoinKind::newest ? 1 : own + 1;
  if (std::cmp_greater(own, most_waiting)) throw TooManyWait{};
  if (std::ranges::find(waiting, 0) != waiting.end()) return deliver(std::move(draft));
  for (std::int64_t& each : waiting) --each;
  activate(std::move(draft), arrival);
}

void Steps::activate(Draft draft, const Arrival& arrival) {
  std::vector<Token>& queue = draft.state.queues[arrival.to];
  const Source* source = arrival.source;
  const bool on_grid = source != nullptr && source->kind == Source::Kind::grid;
  // An expiry is left out while an earlier one waits, or before it is late.
  const bool may_skip = on_grid && source->may_skip && (!queue.empty() || source->jitter > 0);
  if (may_skip) deliver(draft);
  const auto& depth = problem_.callbacks[arrival.to].depth;
  const bool may_displace =
      !queue.empty() && ((depth && queue.size() >= *depth) || (on_grid && source->may_replace));
  if (may_displace) {
    Draft displaced = draft;
    std::vector<Token>& others = displaced.state.queues[arrival.to];
    others.erase(others.begin());
    others.push_back(arrival.token);
    deliver(std::move(displaced));
  }
  queue.push_back(arrival.token);
  deliver(std::move(draft));
}

}  // namespace takt::analysis
