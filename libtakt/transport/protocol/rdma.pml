/* The protocol of libtakt/transport by RDMA (verbs_line.cpp, exchange_line.cpp, introduction.cpp,
 * exchange.cpp) for SPIN.
 *
 * One end calls, the other listens. On a connection both say hello and prove themselves, say how long
 * their chunks are, what their queue pair is and that it is connected; then chunks go from one to the
 * other. A device takes what an end posts, one after the other, at any time: it copies a part of that
 * end's area into the copy that the other end has of it, as it is then, and with a word. The sender may
 * lose patience at any time, and then both begin anew on another connection, with other queue pairs
 * and the same areas. It is verified that
 *
 *   - a device finds the other queue pair connected;
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

mtype = {hello, proof, size, pair, ready};
mtype = {bytes, head, answer};
mtype = {chunk_word, ended_word};
mtype = {delivered, rejected, lost};

/* The areas, and the copy that each end has of the other's. An area's content is the number of its
 * chunk among all. */
byte begun[2], ended[2], content[2];
byte copied_begun[2], copied_ended[2], copied_content[2];

/* The messages to each end, on each connection. */
chan to[2 * CALLS] = [5] of {mtype};
bool closed[2 * CALLS];
/* For each end, on each connection: what is posted to its queue pair, and the words that came. */
chan posted[2 * CALLS] = [3] of {mtype};
chan words[2 * CALLS] = [2] of {mtype};
bool connected[2 * CALLS];
byte calls = 0, accepted = 0;

mtype outcome[CHUNKS + 1];
mtype received[CHUNKS + 1];
bool under_way = false;

#define PLACE(end, connection) ((end) * CALLS + (connection))

/* The device of an end, for one connection. Queue pairs end with the connection. */
proctype Device(byte me; byte connection) {
  mtype what;
end:
  do
  :: atomic {
      posted[PLACE(me, connection)]?what;
      if
      :: closed[PLACE(me, connection)] || closed[PLACE(1 - me, connection)]
      :: else ->
        assert(connected[PLACE(1 - me, connection)]);
        if
        :: what == bytes -> copied_content[1 - me] = content[me]
        :: what == head ->
          copied_begun[1 - me] = begun[me];
          words[PLACE(1 - me, connection)]!chunk_word
        :: what == answer ->
          copied_ended[1 - me] = ended[me];
          words[PLACE(1 - me, connection)]!ended_word
        fi
      fi
    }
  od
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

inline begin_session() {
  session = introduction;
  introduction = NONE;
  sent = 0;
  taken = 0
}

inline hear_outcome() {
  if
  :: busy && has_ended ->
    seen = copied_ended[me];
    assert(seen / 2 == sent);
    busy = false;
    under_way = false;
    outcome[chunk] = (seen % 2 -> rejected : delivered)
  :: else
  fi
}

inline take() {
  if
  :: has_chunk ->
    seen = copied_begun[me];
    assert(seen == taken + 1);
    taken = seen;
    chunk = copied_content[me];
    assert(chunk > newest);
    newest = chunk;
    if
    :: received[chunk] = delivered; ended[me] = 2 * taken
    :: received[chunk] = rejected; ended[me] = 2 * taken + 1
    fi;
    posted[PLACE(me, session)]!answer
  :: else
  fi
}

proctype End(byte me) {
  byte session = NONE, introduction = NONE, sent = 0, taken = 0, chunk = 0, newest = 0, seen = 0;
  byte impatience = 0;
  bool busy = false, gone = false, has_chunk = false, has_ended = false;
  mtype what;
end:
  do
  :: atomic {
      me == CALLER && session == NONE && introduction == NONE && calls < CALLS ->
      introduction = calls;
      calls++;
      to[PLACE(1 - me, introduction)]!hello
    }
  :: atomic {
      me == LISTENER && introduction == NONE && accepted < calls ->
      introduction = accepted;
      accepted++;
      to[PLACE(1 - me, introduction)]!hello
    }
  :: atomic {
      introduction != NONE && nempty(to[PLACE(me, introduction)]) ->
      to[PLACE(me, introduction)]?what;
      if
      :: what == hello -> to[PLACE(1 - me, introduction)]!proof
      :: what == proof -> lose(); to[PLACE(1 - me, introduction)]!size
      :: what == size ->
        begun[me] = 0;
        ended[me] = 0;
        copied_begun[me] = 0;
        copied_ended[me] = 0;
        to[PLACE(1 - me, introduction)]!pair
      :: what == pair ->
        connected[PLACE(me, introduction)] = true;
        to[PLACE(1 - me, introduction)]!ready
#ifdef HASTY
        /* Begins without waiting for the other's queue pair. The verification must find this. */
        ; begin_session()
#endif
      :: what == ready -> begin_session()
      fi
    }
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
      (nempty(words[PLACE(me, session)]) || closed[PLACE(1 - me, session)]) ->
      gone = closed[PLACE(1 - me, session)];
      has_chunk = false;
      has_ended = false;
      do
      :: nempty(words[PLACE(me, session)]) ->
        words[PLACE(me, session)]?what;
        if
        :: what == chunk_word -> assert(!has_chunk); has_chunk = true
        :: what == ended_word -> assert(!has_ended); has_ended = true
        fi
      :: empty(words[PLACE(me, session)]) -> break
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
    posted[PLACE(me, session)]!bytes;
    posted[PLACE(me, session)]!head
  :: atomic { me == SENDER && busy && impatience < IMPATIENCE -> impatience++; lose() }
  od
}

/* Checks the outcomes when nothing happens any more. */
active proctype Check() {
  byte i;
  atomic {
    for (i : 0 .. CALLS - 1) {
      run Device(LISTENER, i);
      run Device(CALLER, i)
    }
    run End(LISTENER);
    run End(CALLER)
  };
  timeout;
  d_step {
    assert(!under_way);
    i = 1;
    do
    :: i <= CHUNKS ->
      assert(outcome[i] == lost || outcome[i] == received[i]);
      i++
    :: else -> break
    od
  }
}
