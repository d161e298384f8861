/** Generated from libtakt/flow/include/takt/flow/stages.def by `make generate`. */

/** What a latency is spent on: kinds and words, in the order of their numbers. */
export const STAGES = [
  ['running', 'running'],
  ['preempted', 'preempted'],
  ['blocked', 'blocked'],
  ['executor', 'waiting in the executor'],
  ['timer', 'waiting for the timer'],
  ['input', 'waiting for the other input'],
  ['sending', 'being sent'],
  ['transport', 'in transport'],
  ['reservation', 'waiting for the reservation'],
  ['memory', 'in shared memory'],
] as const;
