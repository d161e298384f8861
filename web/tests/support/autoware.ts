/**
 * A system like the Autoware reference system (24 nodes), run by a small simulation: executors with
 * one thread each take messages in the order of arrival, and are preempted now and then.
 */

import type { BoundTerm, Callback, Chain, Tone } from '../../src/data/format';
import { FATES, LINKS, PARTS, STATES } from '../../src/data/format';
import { callback, emptyDocument, quantile, type ViewerDocument } from './document';
import { Random } from './random';

const MS = 1e6;

interface Node {
  name: string;
  executor: number;
  period?: number;
  inputs?: string[];
  /** How its inputs lead to its output. */
  kind: 'sensor' | 'transform' | 'fusion' | 'cyclic' | 'sink' | 'intersection';
  load?: number;
}

const NODES: Node[] = [
  { name: 'FrontLidarDriver', executor: 0, period: 100, kind: 'sensor' },
  { name: 'RearLidarDriver', executor: 0, period: 100, kind: 'sensor' },
  { name: 'PointCloudMap', executor: 0, period: 120, kind: 'sensor' },
  { name: 'Visualizer', executor: 0, period: 60, kind: 'sensor' },
  { name: 'Lanelet2Map', executor: 0, period: 100, kind: 'sensor' },
  { name: 'EuclideanClusterSettings', executor: 0, period: 25, kind: 'sensor' },
  { name: 'PointsTransformerFront', executor: 1, inputs: ['FrontLidarDriver'], kind: 'transform' },
  { name: 'PointsTransformerRear', executor: 1, inputs: ['RearLidarDriver'], kind: 'transform' },
  {
    name: 'PointCloudFusion',
    executor: 1,
    inputs: ['PointsTransformerFront', 'PointsTransformerRear'],
    kind: 'fusion',
    load: 8,
  },
  { name: 'RayGroundFilter', executor: 1, inputs: ['PointCloudFusion'], kind: 'transform', load: 14 },
  { name: 'VoxelGridDownsampler', executor: 1, inputs: ['PointCloudFusion'], kind: 'transform', load: 11 },
  { name: 'PointCloudMapLoader', executor: 2, inputs: ['PointCloudMap'], kind: 'transform' },
  { name: 'NDTLocalizer', executor: 2, inputs: ['VoxelGridDownsampler', 'PointCloudMapLoader'], kind: 'fusion', load: 9 },
  { name: 'Lanelet2GlobalPlanner', executor: 2, inputs: ['Visualizer', 'NDTLocalizer'], kind: 'fusion' },
  { name: 'Lanelet2MapLoader', executor: 2, inputs: ['Lanelet2Map', 'Lanelet2GlobalPlanner'], kind: 'fusion' },
  { name: 'ParkingPlanner', executor: 2, inputs: ['Lanelet2MapLoader'], kind: 'transform', load: 6 },
  { name: 'LanePlanner', executor: 2, inputs: ['Lanelet2MapLoader'], kind: 'transform', load: 6 },
  {
    name: 'EuclideanClusterDetector',
    executor: 1,
    inputs: ['RayGroundFilter', 'EuclideanClusterSettings'],
    kind: 'intersection',
    load: 5,
  },
  { name: 'ObjectCollisionEstimator', executor: 1, inputs: ['EuclideanClusterDetector'], kind: 'transform' },
  {
    name: 'BehaviorPlanner',
    executor: 2,
    period: 100,
    inputs: [
      'ObjectCollisionEstimator',
      'NDTLocalizer',
      'Lanelet2GlobalPlanner',
      'Lanelet2MapLoader',
      'ParkingPlanner',
      'LanePlanner',
    ],
    kind: 'cyclic',
    load: 7,
  },
  { name: 'MPCController', executor: 3, inputs: ['BehaviorPlanner'], kind: 'transform' },
  { name: 'VehicleInterface', executor: 3, inputs: ['MPCController', 'BehaviorPlanner'], kind: 'fusion' },
  { name: 'VehicleDBWSystem', executor: 3, inputs: ['VehicleInterface'], kind: 'sink' },
  { name: 'IntersectionOutput', executor: 3, inputs: ['EuclideanIntersection'], kind: 'sink' },
];

const EXECUTORS = [
  ['sensors', 'single_threaded'],
  ['lidar_container', 'single_threaded'],
  ['planning_container', 'events'],
  ['vehicle', 'single_threaded'],
] as const;

interface Run {
  callback: number;
  executor: number;
  /** When it could have begun: its message arrived, or its timer was due. */
  ready: number;
  start: number;
  end: number;
  preempted: { start: number; duration: number; actor: number }[];
  sent: number[];
  /** Runs that used what this one stored. */
  usedBy: { run: number; kind: (typeof LINKS)[number] }[];
  span: number;
}

interface Sent {
  topic: number;
  source: number;
  sent: number;
  taken: number;
  target: number;
}

interface Waiting {
  callback: number;
  ready: number;
  message: number;
}

export interface Size {
  seed: number;
  duration: number;
}

/** `duration` in nanoseconds. */
export function autoware({ seed, duration }: Size = { seed: 7, duration: 12e9 }): ViewerDocument {
  return new Simulation(seed, duration).document();
}

class Simulation {
  private readonly document_ = emptyDocument('Autoware reference system (synthetic)');
  private readonly random: Random;
  private readonly runs: Run[] = [];
  private readonly messages: Sent[] = [];
  private readonly readers = new Map<number, number[]>();
  private readonly kinds: { node: Node; input: string | null }[] = [];
  /** Per node: the newest stored run of each input. */
  private readonly stored = new Map<string, Map<string, number>>();

  constructor(
    seed: number,
    private readonly length: number,
  ) {
    this.random = new Random(seed);
    this.declare();
    this.simulate();
  }

  document(): ViewerDocument {
    this.write();
    return this.document_;
  }

  private topic(name: string): number {
    const { topics } = this.document_.index;
    const known = topics.findIndex((topic) => topic.name === name);
    return known >= 0 ? known : topics.push({ name, side: '' }) - 1;
  }

  private declare(): void {
    const { index } = this.document_;
    index.hosts.push({ name: 'robot' });
    EXECUTORS.forEach(([name, kind], i) => {
      index.processes.push({ name, pid: 4100 + 7 * i, host: 0 });
      const supply = i === 2 ? 'reservation: 40 ms every 50 ms' : '';
      index.executors.push({ name, kind, process: i, supply });
      index.tracks.push({ kind: 'thread', name: `thread ${4101 + 7 * i}`, executor: i, host: 0 });
    });
    EXECUTORS.forEach((_, i) => index.tracks.push({ kind: 'cpu', name: `CPU ${i}`, executor: -1, host: 0 }));
    index.actors.push(...EXECUTORS.map(([name]) => name), 'rviz2', 'kworker/1:2');
    for (const node of NODES) {
      if (node.period) this.addCallback(node, null);
      for (const input of node.inputs ?? []) this.addCallback(node, input);
    }
    NODES.forEach((node) => {
      const parameters = this.topic('/parameter_events');
      index.topics[parameters]!.side = 'parameters';
      this.kinds.push({ node, input: 'parameters' });
      index.callbacks.push(
        callback({ name: 'parameter events', node: `/${node.name}`, topic: parameters, executor: node.executor, side: 'parameters' }),
      );
    });
  }

  private addCallback(node: Node, input: string | null): void {
    const { index } = this.document_;
    const position = index.callbacks.length;
    this.kinds.push({ node, input });
    if (input !== null) {
      const topic = this.topic(`/${input}`);
      this.readers.set(topic, [...(this.readers.get(topic) ?? []), position]);
      index.callbacks.push(callback({ name: `on_${input}`, node: `/${node.name}`, topic, executor: node.executor }));
      return;
    }
    const period = node.period! * MS;
    index.callbacks.push(callback({ name: 'on_timer', node: `/${node.name}`, kind: 'timer', period, executor: node.executor }));
  }

  private simulate(): void {
    const queues: Waiting[][] = EXECUTORS.map(() => []);
    const free = EXECUTORS.map(() => 0);
    const phases = new Map<number, number>();
    this.kinds.forEach(({ node, input }, i) => {
      if (input === null) phases.set(i, this.random.whole(2 * MS, node.period! * MS));
    });
    const due = new Map(phases);
    for (;;) {
      // The executor that can begin first; timers become ready as they are due.
      let best = -1;
      let bestStart = Infinity;
      for (const [position, time] of due) {
        const executor = this.kinds[position]!.node.executor;
        const known = queues[executor]!.some((waiting) => waiting.callback === position);
        if (!known) queues[executor]!.push({ callback: position, ready: time, message: -1 });
      }
      queues.forEach((queue, executor) => {
        queue.sort((a, b) => a.ready - b.ready);
        const start = queue[0] ? Math.max(queue[0].ready, free[executor]!) : Infinity;
        if (start < bestStart) [best, bestStart] = [executor, start];
      });
      if (best < 0 || bestStart >= this.length) return;
      const next = queues[best]!.shift()!;
      const run = this.execute(next, best, bestStart + this.random.whole(8e3, 60e3));
      free[best] = run.end + this.random.whole(5e3, 30e3);
      const { node, input } = this.kinds[next.callback]!;
      if (input === null) due.set(next.callback, due.get(next.callback)! + node.period! * MS);
      for (const message of this.arrivals) {
        const queue = queues[this.kinds[message.callback]!.node.executor]!;
        // Depth 1: a newer message takes the place of an older one.
        const older = queue.findIndex((waiting) => waiting.callback === message.callback);
        if (older >= 0) queue.splice(older, 1);
        queue.push(message);
      }
      this.arrivals = [];
    }
  }

  private arrivals: Waiting[] = [];

  private execute(waiting: Waiting, executor: number, start: number): Run {
    const { node, input } = this.kinds[waiting.callback]!;
    const position = this.runs.length;
    const run: Run = {
      callback: waiting.callback,
      executor,
      ready: waiting.ready,
      start,
      end: start,
      preempted: [],
      sent: [],
      usedBy: [],
      span: -1,
    };
    this.runs.push(run);
    if (waiting.message >= 0) {
      this.messages[waiting.message]!.target = position;
      this.messages[waiting.message]!.taken = start - this.random.whole(2e3, 6e3);
    }
    const computes = this.use(node, input, position);
    let work = computes ? (node.load ?? 2) * MS * (0.85 + 0.4 * this.random.next()) : this.random.whole(15e3, 50e3);
    if (node.kind === 'sensor' || node.kind === 'sink') work = this.random.whole(60e3, 200e3);
    if (computes && this.random.chance(0.02)) work *= 2.2;
    run.end = start + Math.round(work);
    if (this.random.chance(0.12)) this.preempt(run);
    if (computes && node.kind !== 'sink') this.publish(node, input, position);
    return run;
  }

  private preempt(run: Run): void {
    let at = Math.round((run.end - run.start) * this.random.next() * 0.8);
    for (let pieces = this.random.whole(1, 3); pieces > 0; pieces--) {
      const duration = this.random.whole(0.2 * MS, 6 * MS);
      run.preempted.push({ start: at, duration, actor: EXECUTORS.length + this.random.whole(0, 1) });
      run.end += duration;
      at += duration + this.random.whole(50e3, 400e3);
      if (run.start + at >= run.end) run.end = run.start + at + 50e3;
    }
  }

  /** Whether this run computes and publishes; what it stores or uses is noted. */
  private use(node: Node, input: string | null, run: number): boolean {
    if (node.kind !== 'fusion' && node.kind !== 'cyclic') return true;
    const stored = this.stored.get(node.name) ?? new Map<string, number>();
    this.stored.set(node.name, stored);
    if (input !== null) stored.set(input, run);
    if (node.kind === 'cyclic') {
      if (input !== null) return false;
      for (const from of stored.values()) this.runs[from]!.usedBy.push({ run, kind: 'stored' });
      return true;
    }
    if (stored.size < node.inputs!.length) return false;
    for (const from of stored.values()) {
      if (from !== run) this.runs[from]!.usedBy.push({ run, kind: 'completed' });
    }
    stored.clear();
    return true;
  }

  private publish(node: Node, input: string | null, run: number): void {
    const name = node.kind === 'intersection' && input === 'EuclideanClusterSettings' ? 'EuclideanIntersection' : node.name;
    const topic = this.topic(`/${name}`);
    const { end } = this.runs[run]!;
    const sent = end - this.random.whole(5e3, 20e3);
    for (const reader of this.readers.get(topic) ?? []) {
      const message = this.messages.push({ topic, source: run, sent, taken: -1, target: -1 }) - 1;
      this.runs[run]!.sent.push(message);
      if (this.random.chance(0.002)) continue;
      const ready = sent + this.random.whole(60e3, 220e3);
      this.arrivals.push({ callback: reader, ready, message });
    }
  }

  private write(): void {
    const { index, rows } = this.document_;
    const bySpan = this.runs.map((_, i) => i).sort((a, b) => {
      const [left, right] = [this.runs[a]!, this.runs[b]!];
      return left.executor - right.executor || left.start - right.start;
    });
    for (const position of bySpan) {
      const run = this.runs[position]!;
      run.span = rows.spans.length;
      rows.spans.push({ track: run.executor, start: run.start, duration: run.end - run.start, subject: run.callback });
      for (const piece of run.preempted) {
        rows.segments.push({ span: run.span, state: STATES.indexOf('preempted'), ...piece });
      }
    }
    this.writeProcessors(bySpan);
    const order = this.messages.map((_, i) => i).sort((a, b) => this.messages[a]!.sent - this.messages[b]!.sent);
    const rowOf = new Map(order.map((message, row) => [message, row]));
    for (const i of order) {
      const { topic, source, sent, taken, target } = this.messages[i]!;
      const ended = sent > this.length - 20 * MS;
      const fate = target >= 0 ? 'taken' : ended ? 'beyond the recording' : 'lost';
      rows.messages.push({
        topic,
        source: this.runs[source]!.span,
        sent,
        taken,
        target: target < 0 ? -1 : this.runs[target]!.span,
        fate: FATES.indexOf(fate),
      });
    }
    for (const run of this.runs) {
      for (const { run: user, kind } of run.usedBy) {
        rows.links.push({ from: run.span, to: this.runs[user]!.span, kind: LINKS.indexOf(kind) });
      }
    }
    index.duration = Math.max(this.length, ...this.runs.map((run) => run.end));
    index.facts = ['recorded on robot', '2026-03-14 09:26 UTC', 'combined analysis'];
    this.writeStatistics();
    this.writeEdges();
    this.writeChains(rowOf);
    index.warnings = [
      {
        tone: 'warn',
        title: 'Execution times were read off this recording',
        lines: NODES.map((node) => `/${node.name}: the longest run that was seen`),
      },
      { tone: 'none', title: 'Messages without a reader', lines: ['/EuclideanIntersection: 3 messages were lost'] },
    ];
    index.provenance = [
      ['takt/model', 'version 1'],
      ['inputs[0].path', 'autoware.tar.xz'],
      ['created', '2026-03-14T09:30:00+00:00'],
    ];
  }

  private writeProcessors(bySpan: number[]): void {
    const { rows } = this.document_;
    for (const position of bySpan) {
      const run = this.runs[position]!;
      const track = EXECUTORS.length + run.executor;
      let at = run.start;
      for (const piece of run.preempted) {
        const from = run.start + piece.start;
        if (from > at) rows.spans.push({ track, start: at, duration: from - at, subject: run.executor });
        rows.spans.push({ track, start: from, duration: piece.duration, subject: piece.actor });
        at = from + piece.duration;
      }
      if (run.end > at) rows.spans.push({ track, start: at, duration: run.end - at, subject: run.executor });
    }
  }

  private writeStatistics(): void {
    const { callbacks } = this.document_.index;
    callbacks.forEach((known: Callback, i) => {
      const own = this.runs.filter((run) => run.callback === i);
      const statistics = (values: number[]): Callback['execution'] => {
        values.sort((a, b) => a - b);
        return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), max: quantile(values, 1) };
      };
      known.count = own.length;
      known.execution = statistics(
        own.map((run) => run.preempted.reduce((sum, piece) => sum - piece.duration, run.end - run.start)),
      );
      known.response = statistics(own.map((run) => run.end - run.ready));
      known.bound = known.response.max === null ? null : Math.round(known.response.max * 1.3);
    });
  }

  private writeEdges(): void {
    const { index } = this.document_;
    const counts = new Map<string, number>();
    const add = (from: number, to: number, topic: number, kind: string): void => {
      const key = `${from} ${to} ${topic} ${kind}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (const message of this.messages) {
      if (message.target < 0) continue;
      add(this.runs[message.source]!.callback, this.runs[message.target]!.callback, message.topic, 'message');
    }
    for (const run of this.runs) {
      for (const { run: user } of run.usedBy) add(run.callback, this.runs[user]!.callback, -1, 'stored');
    }
    for (const [key, count] of counts) {
      const [from, to, topic, kind] = key.split(' ');
      index.edges.push({
        from: Number(from),
        to: Number(to),
        topic: Number(topic),
        kind: kind as 'message' | 'stored',
        count,
        side: '',
      });
    }
  }

  private find(node: string, input: string | null): number {
    return this.kinds.findIndex((kind) => kind.node.name === node && kind.input === input);
  }

  private writeChains(rowOf: Map<number, number>): void {
    const path = (...steps: [string, string | null][]): number[] => steps.map(([node, input]) => this.find(node, input));
    const front = (first: string, second: string, fused: string): number[] =>
      path(
        [first, null],
        [second, first],
        ['PointCloudFusion', second],
        ['RayGroundFilter', 'PointCloudFusion'],
        ['EuclideanClusterDetector', 'RayGroundFilter'],
        ['ObjectCollisionEstimator', 'EuclideanClusterDetector'],
        ['BehaviorPlanner', 'ObjectCollisionEstimator'],
        ['BehaviorPlanner', null],
        ['MPCController', 'BehaviorPlanner'],
        ['VehicleInterface', fused],
        ['VehicleDBWSystem', 'VehicleInterface'],
      );
    const chains: [string, number[], number | null][] = [
      ['front lidar to vehicle', front('FrontLidarDriver', 'PointsTransformerFront', 'MPCController'), 220],
      ['rear lidar to vehicle', front('RearLidarDriver', 'PointsTransformerRear', 'MPCController'), 420],
      [
        'front lidar to localizer',
        path(
          ['FrontLidarDriver', null],
          ['PointsTransformerFront', 'FrontLidarDriver'],
          ['PointCloudFusion', 'PointsTransformerFront'],
          ['VoxelGridDownsampler', 'PointCloudFusion'],
          ['NDTLocalizer', 'VoxelGridDownsampler'],
        ),
        150,
      ],
      ['map to localizer', path(['PointCloudMap', null], ['PointCloudMapLoader', 'PointCloudMap'], ['NDTLocalizer', 'PointCloudMapLoader']), null],
      [
        'settings to intersection',
        path(
          ['EuclideanClusterSettings', null],
          ['EuclideanClusterDetector', 'EuclideanClusterSettings'],
          ['IntersectionOutput', 'EuclideanIntersection'],
        ),
        60,
      ],
    ];
    for (const [name, callbacks, goal] of chains) this.writeChain(name, callbacks, goal, rowOf);
    const { index } = this.document_;
    const order: Tone[] = ['bad', 'warn', 'good'];
    const goals = index.chains.filter((chain) => chain.goal !== null);
    const missed = goals.filter((chain) => chain.tone === 'bad').length;
    index.answer.push({
      tone: missed ? 'bad' : 'good',
      text: missed ? `${missed} of ${goals.length} goals were missed.` : `All ${goals.length} goals were met.`,
      chain: -1,
    });
    for (const tone of order.slice(0, 2)) {
      index.chains.forEach((chain, i) => {
        if (chain.tone !== tone) return;
        index.answer.push({ tone, text: `${chain.name}: ${chain.verdict}. ${chain.cause}`, chain: i });
      });
    }
  }

  private writeChain(name: string, callbacks: number[], goal: number | null, rowOf: Map<number, number>): void {
    const { index, rows } = this.document_;
    const position = index.chains.length;
    const limit = goal === null ? null : goal * MS;
    const latencies: number[] = [];
    const endings: Chain['endings'] = [];
    let worst = -1;
    let incomplete = 0;
    let bestLatency = -1;
    for (const run of this.runs) {
      if (run.callback !== callbacks[0]) continue;
      const walk = this.follow(run, callbacks, rowOf);
      const latency = walk.parts.reduce((sum, part) => sum + part['duration']!, 0);
      let ending = -1;
      if (walk.step < callbacks.length - 1) {
        incomplete++;
        ending = endings.findIndex((known) => known.step === walk.step && known.reason === walk.reason);
        if (ending < 0) ending = endings.push({ step: walk.step, reason: walk.reason, count: 0 }) - 1;
        endings[ending]!.count++;
      } else {
        latencies.push(latency);
        if (latency > bestLatency) [worst, bestLatency] = [rows.instances.length, latency];
      }
      const ended = ending < 0 ? rows.instances.length : -1;
      rows.instances.push({ chain: position, start: run.ready, ending, parts: walk.parts.length, run: ended });
      rows.parts.push(...walk.parts);
    }
    latencies.sort((a, b) => a - b);
    const max = quantile(latencies, 1);
    const late = limit !== null && max !== null && max > limit;
    const near = limit !== null && max !== null && max > 0.8 * limit;
    const over = late ? latencies.filter((latency) => latency > limit).length : 0;
    const cause = worst < 0 ? '' : this.cause(worst);
    const bound = max === null ? null : Math.round(max * 1.35);
    index.chains.push({
      name,
      callbacks,
      goal: limit,
      bound,
      ...(bound !== null && { terms: termsOf(bound) }),
      count: latencies.length,
      incomplete,
      min: latencies[0] ?? null,
      mean: latencies.length ? Math.round(latencies.reduce((a, b) => a + b, 0) / latencies.length) : null,
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      max,
      tone: late ? 'bad' : near ? 'warn' : limit === null ? 'none' : 'good',
      verdict: late ? `missed ${over} times` : near ? 'nearly missed' : limit === null ? 'no goal' : 'met',
      cause,
      worst,
      endings,
    });
  }

  /** The longest part of an instance, as a sentence. */
  private cause(instance: number): string {
    const { index, rows } = this.document_;
    const before = rows.instances.slice(0, instance).reduce((sum, known) => sum + known['parts']!, 0);
    const parts = rows.parts.slice(before, before + rows.instances[instance]!['parts']!);
    const longest = parts.reduce((a, b) => (b['duration']! > a['duration']! ? b : a));
    const node = index.callbacks[longest['callback']!]?.node ?? 'its own work';
    const kind = PARTS[longest['kind']!]!;
    return `The worst one spent ${(longest['duration']! / MS).toFixed(1)} ms on one ${kind} wait, for ${node}.`;
  }

  private follow(
    first: Run,
    callbacks: number[],
    rowOf: Map<number, number>,
  ): { parts: Record<string, number>[]; step: number; reason: string } {
    const parts: Record<string, number>[] = [];
    const add = (kind: (typeof PARTS)[number], from: number, to: number, more: Record<string, number>): void => {
      if (to <= from) return;
      const none = { step: 0, span: -1, message: -1, callback: -1, actor: -1 };
      parts.push({ ...none, kind: PARTS.indexOf(kind), duration: to - from, ...more });
    };
    let run = first;
    let step = 0;
    this.addWait(add, first, first.ready, 0);
    for (;;) {
      const last = step === callbacks.length - 1;
      const target = callbacks[step + 1];
      // Straight on by a message, or through the run that used what this one stored.
      const through = [run, ...run.usedBy.map((used) => this.runs[used.run]!)];
      let found: { via: Run; message: number } | null = null;
      for (const via of through) {
        const message = via.sent.find((sent) => {
          const reached = this.messages[sent]!.target;
          return reached >= 0 && this.runs[reached]!.callback === target;
        });
        if (message !== undefined && !found) found = { via, message };
      }
      const stored = run.usedBy.map((used) => this.runs[used.run]!).find((used) => used.callback === target);
      if (last || (!found && !stored)) {
        if (last) this.addRun(add, run, run.end, step);
        const reason = run.sent.length
          ? 'its message was lost or replaced by a newer one'
          : 'what it stored was replaced by newer data';
        return { parts, step, reason };
      }
      if (stored) {
        this.addRun(add, run, run.end, step);
        add('timer', run.end, stored.ready, { step: step + 1 });
        this.addWait(add, stored, Math.max(stored.ready, run.end), step + 1);
        run = stored;
      } else {
        const { via, message } = found!;
        const { sent, target: reached } = this.messages[message]!;
        if (via === run) {
          this.addRun(add, run, sent, step);
        } else {
          this.addRun(add, run, run.end, step);
          add('input', run.end, via.start, { step, callback: via.callback, span: via.span });
          this.addRun(add, via, sent, step);
        }
        const next = this.runs[reached]!;
        add('transport', sent, Math.min(next.ready, next.start), { step: step + 1, message: rowOf.get(message)! });
        this.addWait(add, next, Math.min(next.ready, next.start), step + 1);
        run = next;
      }
      step++;
    }
  }

  private addRun(
    add: (kind: (typeof PARTS)[number], from: number, to: number, more: Record<string, number>) => void,
    run: Run,
    until: number,
    step: number,
  ): void {
    let at = run.start;
    for (const piece of run.preempted) {
      const from = Math.min(run.start + piece.start, until);
      const to = Math.min(from + piece.duration, until);
      add('running', at, from, { step, span: run.span });
      add('preempted', from, to, { step, span: run.span, actor: piece.actor });
      at = to;
    }
    add('running', at, until, { step, span: run.span });
  }

  /** The wait of a run from `ready` to its start, split by what its executor ran meanwhile. */
  private addWait(
    add: (kind: (typeof PARTS)[number], from: number, to: number, more: Record<string, number>) => void,
    run: Run,
    ready: number,
    step: number,
  ): void {
    let at = ready;
    for (const other of this.runs) {
      if (other.executor !== run.executor || other === run) continue;
      if (other.end <= at || other.start >= run.start) continue;
      add('executor', at, Math.max(at, other.start), { step });
      const from = Math.max(at, other.start);
      add('executor', from, other.end, { step, callback: other.callback, span: other.span });
      at = Math.max(at, other.end);
    }
    add('executor', at, run.start, { step });
  }
}

/** A bound of which a tenth is taken off again. */
function termsOf(bound: number): BoundTerm[] {
  const tenth = Math.round(bound / 10);
  return [
    { part: 'running', text: 'the callbacks themselves', time: 5 * tenth },
    { part: 'executor', text: '<b>others</b> run before, 3 times', time: bound - 4 * tenth },
    { part: '', text: 'done before the activation', time: -tenth },
  ];
}
