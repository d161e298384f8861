/* The protocol of libtakt/transport through shared memory (shared_line.cpp, introduction.cpp,
 * exchange.cpp) for SPIN.
 *
 * Two ends each write an area of memory that the other reads. One calls, the other listens; on a
 * connection both say hello, prove themselves and hand their area over, and then chunks go from one
 * to the other. The sender may lose patience at any time, and then both begin anew on another
 * connection, with the same memory. It is verified that
 *
 *   - what is taken is taken once and in order, and never from a former session;
 *   - the sender's outcome of a chunk is what became of it, unless it is lost;
 *   - nobody sleeps while there is something to do: without a clock every chunk that was begun has
 *     an outcome in the end.
 */

#define LISTENER 0
#define CALLER 1
#ifndef SENDER
#define SENDER CALLER
#endif
#define CHUNKS 3
#define CALLS 3
#define IMPATIENCE 2
#define NONE 255

/* Room for the messages before a session, and for a wake-up: one is enough. */
#define ROOM 4

mtype = {hello, proof, memory, wake};
mtype = {delivered, rejected, lost};

/* The areas. An area's content is the number of its chunk among all. */
byte begun[2], ended[2], content[2];

/* The messages to each end, on each connection. */
chan to[2 * CALLS] = [ROOM] of {mtype};
bool closed[2 * CALLS];
byte calls = 0, accepted = 0;

mtype outcome[CHUNKS + 1];
mtype received[CHUNKS + 1];
bool under_way = false;

#define PLACE(end, connection) ((end) * CALLS + (connection))

/* A message without room is not sent: the other end has something to read already. */
inline say(connection, what) {
  if
  :: nfull(to[PLACE(1 - me, connection)]) -> to[PLACE(1 - me, connection)]!what
  :: full(to[PLACE(1 - me, connection)]) -> assert(what == wake)
  fi
}

inline lose() {
  if
  :: session != NONE ->
    closed[PLACE(me, session)] = true;
    session = NONE;
    if
    :: busy -> outcome[chunk] = lost; busy = false; under_way = false
    :: else
    fi
  :: else
  fi
}

/* With FORGETFUL an area is handed over as the last session left it. The verification must find
 * this. */
inline clear() {
#ifndef FORGETFUL
  begun[me] = 0;
  ended[me] = 0
#else
  skip
#endif
}

inline hear_outcome() {
  if
  :: busy ->
    seen = ended[1 - me];
    if
    :: seen / 2 == sent ->
      busy = false;
      under_way = false;
      outcome[chunk] = (seen % 2 -> rejected : delivered)
    :: else
    fi
  :: else
  fi
}

inline take() {
  seen = begun[1 - me];
  if
  :: seen == taken
  :: seen != taken && seen != taken + 1 -> gone = true
  :: seen == taken + 1 ->
    taken = seen;
    chunk = content[1 - me];
    assert(chunk > newest);
    newest = chunk;
    if
    :: received[chunk] = delivered; ended[me] = 2 * taken
    :: received[chunk] = rejected; ended[me] = 2 * taken + 1
    fi;
    say(session, wake)
  fi
}

proctype End(byte me) {
  byte session = NONE, introduction = NONE, sent = 0, taken = 0, chunk = 0, newest = 0, seen = 0;
  byte impatience = 0;
  bool busy = false, gone = false;
  mtype what;
end:
  do
  :: atomic {
      me == CALLER && session == NONE && introduction == NONE && calls < CALLS ->
      introduction = calls;
      calls++;
      say(introduction, hello)
    }
  :: atomic {
      me == LISTENER && introduction == NONE && accepted < calls ->
      introduction = accepted;
      accepted++;
      say(introduction, hello)
    }
  :: atomic { introduction != NONE && nempty(to[PLACE(me, introduction)]) ->
      to[PLACE(me, introduction)]?what };
    if
    :: what == hello -> say(introduction, proof)
    :: what == proof -> lose(); clear(); say(introduction, memory)
    :: what == memory -> session = introduction; introduction = NONE; sent = 0; taken = 0
    fi
  :: atomic {
      introduction != NONE && empty(to[PLACE(me, introduction)]) &&
      closed[PLACE(1 - me, introduction)] ->
      closed[PLACE(me, introduction)] = true;
      introduction = NONE
    }
  /* Gives up a call that takes too long; at the listener it makes way for the next call. */
  :: atomic {
      introduction != NONE && impatience < IMPATIENCE ->
      impatience++;
      closed[PLACE(me, introduction)] = true;
      introduction = NONE
    }
  :: atomic {
      session != NONE &&
      (nempty(to[PLACE(me, session)]) || closed[PLACE(1 - me, session)]) ->
      gone = closed[PLACE(1 - me, session)];
      do
      :: nempty(to[PLACE(me, session)]) -> to[PLACE(me, session)]?what
      :: empty(to[PLACE(me, session)]) -> break
      od
    };
    if
    :: me == SENDER -> hear_outcome()
    :: else -> take()
    fi;
    if
    :: gone -> lose()
    :: else
    fi
  :: me == SENDER && session != NONE && !busy && chunk < CHUNKS ->
    chunk++;
    sent++;
    busy = true;
    under_way = true;
    content[me] = chunk;
    begun[me] = sent;
    say(session, wake)
  :: atomic { me == SENDER && busy && impatience < IMPATIENCE -> impatience++; lose() }
  od
}

/* Checks the outcomes when nothing happens any more. */
active proctype Check() {
  byte i = 1;
  atomic {
    run End(LISTENER);
    run End(CALLER)
  };
  timeout;
  d_step {
    assert(!under_way);
    do
    :: i <= CHUNKS ->
      assert(outcome[i] == lost || outcome[i] == received[i]);
      i++
    :: else -> break
    od
  }
}
