#include "exploration/state.hpp"

#include <algorithm>
#include <utility>

namespace takt::analysis {

namespace {

/// Which bounds of a variable make a difference.
enum class Use {
  /// The earlier it was, the longer a response, the more may follow: only how early matters.
  early,
  /// The later it was sent, the later it may still arrive.
  late,
  /// It decides an order, so both bounds matter.
  both,
};

/// Numbers the variables in the order in which they are used.
class Columns {
 public:
  Columns(std::size_t fixed, std::size_t all) : number_(all, none) {
    for (std::size_t c = 0; c < fixed; ++c) add(static_cast<Zone::Column>(c), Use::both);
  }

  Moment operator()(Moment moment, Use use) {
    if (number_[moment.column] == none) add(moment.column, use);
    Use& known = uses_[number_[moment.column]];
    if (known != use) known = Use::both;
    return {number_[moment.column], moment.offset};
  }

  [[nodiscard]] const std::vector<Zone::Column>& list() const { return list_; }
  [[nodiscard]] Use use(std::size_t number) const { return uses_[number]; }

 private:
  static constexpr Zone::Column none = ~Zone::Column{0};

  void add(Zone::Column column, Use use) {
    number_[column] = static_cast<Zone::Column>(list_.size());
    list_.push_back(column);
    uses_.push_back(use);
  }

  std::vector<Zone::Column> number_;
  std::vector<Zone::Column> list_;
  std::vector<Use> uses_;
};

class Writer {
 public:
  Writer(const Problem& problem, const State& state)
      : problem_(problem), columns_(problem.fixed_columns, state.zone.size()) {
    append(state.released);
    append(state.ready);
    append(state.joined);
    const bool by_key = problem.rule == Problem::Rule::key;
    const Use in_queue =
        by_key && problem.order == Problem::Order::activation ? Use::both : Use::early;
    for (const auto& queue : state.queues) write(queue, in_queue);
    write(state.flights, Use::late);
  }

  Normal take(const Zone& zone) && {
    Normal normal{.key = std::move(key_), .zone = zone.of(columns_.list())};
    const auto size = static_cast<Zone::Column>(normal.zone.size());
    for (Zone::Column c = 0; c < size; ++c) {
      for (Zone::Column other = 0; other < size; ++other) {
        if (other == c) continue;
        if (columns_.use(c) == Use::early) normal.zone.set(c, other, no_limit);
        if (columns_.use(c) == Use::late) normal.zone.set(other, c, no_limit);
      }
    }
    return normal;
  }

 private:
  void append(const std::vector<std::int64_t>& values) {
    key_.insert(key_.end(), values.begin(), values.end());
  }

  void write(const std::vector<Token>& tokens, Use use) {
    key_.push_back(std::ssize(tokens));
    for (const Token& token : tokens) {
      key_.push_back(token.via);
      write(token.time, use);
      if (problem_.order == Problem::Order::deadline) write(token.origin, Use::both);
      key_.push_back(std::ssize(token.places));
      for (const Token::Place& place : token.places) {
        key_.push_back(static_cast<std::int64_t>(place.track));
        key_.push_back(static_cast<std::int64_t>(place.position));
        write(place.start, Use::early);
      }
    }
  }

  void write(Moment moment, Use use) {
    const Moment numbered = columns_(moment, use);
    key_.push_back(numbered.column);
    key_.push_back(numbered.offset);
  }

  const Problem& problem_;
  Columns columns_;
  Key key_;
};

class Reader {
 public:
  Reader(const Problem& problem, const Key& key) : problem_(problem), at_(key.data()) {}

  std::vector<std::int64_t> values(std::size_t count) {
    const auto* begin = std::exchange(at_, at_ + count);
    return {begin, at_};
  }

  std::vector<Token> tokens() {
    std::vector<Token> tokens(static_cast<std::size_t>(*at_++));
    for (Token& token : tokens) {
      token.via = static_cast<Via>(*at_++);
      token.time = moment();
      if (problem_.order == Problem::Order::deadline) token.origin = moment();
      token.places.resize(static_cast<std::size_t>(*at_++));
      for (Token::Place& place : token.places) {
        place.track = static_cast<std::size_t>(*at_++);
        place.position = static_cast<std::size_t>(*at_++);
        place.start = moment();
      }
    }
    return tokens;
  }

 private:
  Moment moment() {
    const auto column = static_cast<Zone::Column>(*at_++);
    return {column, *at_++};
  }

  const Problem& problem_;
  const std::int64_t* at_;
};

void shift(std::vector<Token>& tokens, Time by) {
  const auto shift_one = [&](Moment& moment) {
    if (moment.column == State::begin) moment.offset -= by;
  };
  for (Token& token : tokens) {
    shift_one(token.time);
    shift_one(token.origin);
    for (Token::Place& place : token.places) shift_one(place.start);
  }
}

/// Counts from the next hyperperiod once every grid has had all of its releases in this one.
std::int64_t enter_hyperperiod(const Problem& problem, State& state) {
  std::int64_t entered = problem.grids == 0 ? 0 : no_limit;
  for (const Source& source : problem.sources) {
    if (source.kind != Source::Kind::grid) continue;
    entered = std::min(entered, state.released[source.grid] / source.in_hyperperiod);
  }
  if (entered == 0) return 0;
  for (const Source& source : problem.sources) {
    if (source.kind != Source::Kind::grid) continue;
    state.released[source.grid] -= entered * source.in_hyperperiod;
  }
  const Time by = entered * problem.hyperperiod;
  state.zone.shift(State::begin, by);
  for (auto& queue : state.queues) shift(queue, by);
  shift(state.flights, by);
  return entered;
}

/// The times that a source remembers are lower bounds of releases to come. A time that is so long
/// ago that it bounds nothing may be replaced by any other time as long ago.
void forget(const Problem& problem, State& state) {
  const auto size = static_cast<Zone::Column>(state.zone.size());
  for (const Source& source : problem.sources) {
    for (std::size_t n = 0; n < source.columns(); ++n) {
      const auto column = static_cast<Zone::Column>(source.column + n);
      for (Zone::Column c = 0; c < size; ++c) {
        if (c == column) continue;
        const Time since_now = state.zone.most(c, State::now);
        const Time most = since_now >= no_limit ? no_limit : since_now + source.memory();
        state.zone.set(c, column, std::min(state.zone.most(c, column), most));
      }
    }
  }
  // Only now, because above, the bounds of one variable are used for another.
  for (const Source& source : problem.sources) {
    for (std::size_t n = 0; n < source.columns(); ++n) {
      state.zone.forget_upper(static_cast<Zone::Column>(source.column + n));
    }
  }
}

/// After the thread has waited, it may have rested for any time: the next instance is a first one.
void rest(const Problem& problem, State& state) {
  if (problem.spared == 0) return;
  const bool waits =
      std::ranges::all_of(state.queues, [](const auto& queue) { return queue.empty(); });
  if (waits) {
    state.zone.forget_upper(State::work);
  } else {
    state.zone.lower(State::work, State::now);
  }
}

}  // namespace

State first_state(const Problem& problem) {
  State state{.zone = Zone(problem.fixed_columns),
              .queues = std::vector<std::vector<Token>>(problem.callbacks.size()),
              .flights = {},
              .joined = std::vector<std::int64_t>(problem.join_inputs),
              .ready = std::vector<std::int64_t>(problem.callbacks.size()),
              .released = std::vector<std::int64_t>(problem.grids)};
  if (problem.grids > 0) {
    state.zone.set(State::now, State::begin, -1);
    state.zone.set(State::begin, State::now, 1);
  }
  return state;
}

Normal normal(const Problem& problem, State state) {
  const std::int64_t entered = enter_hyperperiod(problem, state);
  rest(problem, state);
  forget(problem, state);
  Normal normal = Writer(problem, state).take(state.zone);
  normal.hyperperiods = entered;
  return normal;
}

State state_of(const Problem& problem, const Key& key, const Zone& zone) {
  Reader reader(problem, key);
  State state;
  state.zone = zone;
  state.released = reader.values(problem.grids);
  state.ready = reader.values(problem.callbacks.size());
  state.joined = reader.values(problem.join_inputs);
  for (std::size_t c = 0; c < problem.callbacks.size(); ++c) {
    state.queues.push_back(reader.tokens());
  }
  state.flights = reader.tokens();
  return state;
}

}  // namespace takt::analysis
