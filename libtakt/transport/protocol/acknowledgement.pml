/* The acknowledgement protocol of libtakt/transport (outgoing.cpp, incoming.cpp) for SPIN.
 *
 * A sender sends chunks of several packets, one chunk after the other; the network may lose,
 * duplicate and reorder packets and answers, and answers may be so late that the sender asks too
 * early. It is verified that
 *
 *   - what arrives is whole, in order and once, and a rejected chunk never arrives;
 *   - the sender's outcome of a chunk is what became of it;
 *   - nothing stops before all chunks have an outcome (no other end state is valid).
 *
 * Losses, doublings and early questions have budgets, so that every execution ends. Rounds wrap
 * around after ROUNDS, as the real ones do after 65536.
 */

#ifndef CHUNKS
#define CHUNKS 2
#endif
#define PACKETS 2
#define ALL ((1 << PACKETS) - 1)
#define ROUNDS 4
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef DOUBLINGS
#define DOUBLINGS 1
#endif
#ifndef EARLY
#define EARLY 1
#endif

/* With CONFUSED the sender takes an answer to any chunk for one to its present chunk. The
 * verification must find this. */
#ifdef CONFUSED
#define OF_THIS_CHUNK(number) true
#else
#define OF_THIS_CHUNK(number) (number == sequence)
#endif

mtype = {partial, complete, rejected};

/* Places of the network, each for one packet: data (sequence, round, index, ask) and answers
 * (sequence, round, status, packets that are there). A packet without a free place is lost. */
chan data[3] = [1] of {byte, byte, byte, bool};
chan answers[2] = [1] of {byte, byte, mtype, byte};

mtype outcome[CHUNKS + 1];
mtype received[CHUNKS + 1];
bool finished = false;

inline put_data(number, turn, index, asks) {
  if
  :: empty(data[0]) -> data[0]!number, turn, index, asks
  :: nempty(data[0]) && empty(data[1]) -> data[1]!number, turn, index, asks
  :: nempty(data[0]) && nempty(data[1]) && empty(data[2]) -> data[2]!number, turn, index, asks
  :: nempty(data[0]) && nempty(data[1]) && nempty(data[2]) -> skip
  fi
}

inline put_answer(number, turn, what, there) {
  if
  :: empty(answers[0]) -> answers[0]!number, turn, what, there
  :: nempty(answers[0]) && empty(answers[1]) -> answers[1]!number, turn, what, there
  :: nempty(answers[0]) && nempty(answers[1]) -> skip
  fi
}

/* Sends the packets of a round that the peer lacks; the last one asks. */
inline send_round(first) {
  i = first;
  do
  :: i < PACKETS ->
    if
    :: (present >> i) & 1 -> skip
    :: else ->
      last = (present | ((1 << (i + 1)) - 1)) == ALL;
      put_data(sequence, round, i, last)
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

/* Sends the last packet that the peer lacks once more. */
inline ask() {
  round = (round + 1) % ROUNDS;
  i = PACKETS - 1;
  do
  :: (present >> i) & 1 -> i--
  :: else -> break
  od;
  put_data(sequence, round, i, true);
  i = 0
}

active proctype Sender() {
  byte sequence = 0, round = 0, present = 0, i = 0, early = 0;
  bool last;
  byte s, r, p;
  mtype st;
  do
  :: sequence == CHUNKS -> break
  :: sequence < CHUNKS ->
    d_step { sequence++; round = 0; present = 0 }
    atomic { send_round(0) }
    do
    :: atomic {
        if
        :: answers[0]?s, r, st, p
        :: answers[1]?s, r, st, p
        fi;
        if
        :: OF_THIS_CHUNK(s) && st != partial -> outcome[sequence] = st; break
        :: OF_THIS_CHUNK(s) && st == partial && r == round && (present | p) != ALL ->
          present = present | p;
          round = (round + 1) % ROUNDS;
          send_round(0)
        :: else
        fi;
        s = 0; r = 0; p = 0; st = 0
      }
    /* Nothing is under way any more, or so it seems. */
    :: atomic { timeout -> ask() }
    :: atomic { early < EARLY -> early++; ask() }
    od
  od;
  finished = true;
  d_step {
    s = 1;
    do
    :: s <= CHUNKS -> assert(outcome[s] == received[s]); s++
    :: else -> break
    od
  }
}

active proctype Receiver() {
  byte sequence = 0, present = 0, s, r, i;
  byte memory[PACKETS];
  bool a;
  mtype status = complete;
end:
  do
  :: atomic {
      if
      :: data[0]?s, r, i, a
      :: data[1]?s, r, i, a
      :: data[2]?s, r, i, a
      fi;
      if
      :: s < sequence  /* late */
      :: s > sequence ->
        /* The sender begins a chunk when the one before has ended. */
        assert(status != partial && s == sequence + 1);
        sequence = s;
        present = 0;
        if
        :: status = partial
        :: status = rejected; received[sequence] = rejected; put_answer(sequence, r, status, 0); goto next
        fi;
        goto take
      :: s == sequence ->
take:   if
        :: status == partial && !((present >> i) & 1) ->
          memory[i] = s;
          present = present | (1 << i);
          if
          :: present == ALL ->
            assert(received[sequence] == 0);
            assert(memory[0] == s && memory[PACKETS - 1] == s);
            assert(sequence == 1 || received[sequence - 1] != 0);
            status = complete;
            received[sequence] = complete;
            put_answer(sequence, r, status, 0);
            goto next
          :: else
          fi
        :: else
        fi;
        if
        :: a && status == partial -> put_answer(sequence, r, status, present)
        :: a && status != partial -> put_answer(sequence, r, status, 0)
        :: else
        fi
      fi;
next: s = 0; r = 0; i = 0; a = 0
    }
  od
}

active proctype Network() {
  byte losses = 0, doublings = 0, s, r, i;
  bool a;
  mtype st;
end:
  do
  :: atomic { losses < LOSSES && nempty(data[0]) -> data[0]?_, _, _, _; losses++ }
  :: atomic { losses < LOSSES && nempty(data[1]) -> data[1]?_, _, _, _; losses++ }
  :: atomic { losses < LOSSES && nempty(data[2]) -> data[2]?_, _, _, _; losses++ }
  :: atomic { losses < LOSSES && nempty(answers[0]) -> answers[0]?_, _, _, _; losses++ }
  :: atomic { losses < LOSSES && nempty(answers[1]) -> answers[1]?_, _, _, _; losses++ }
  :: atomic {
      doublings < DOUBLINGS && nempty(data[0]) ->
      data[0]?<s, r, i, a>;
      put_data(s, r, i, a);
      doublings++; s = 0; r = 0; i = 0; a = 0
    }
  :: atomic {
      doublings < DOUBLINGS && nempty(answers[0]) ->
      answers[0]?<s, r, st, i>;
      put_answer(s, r, st, i);
      doublings++; s = 0; r = 0; i = 0; st = 0
    }
  od
}
