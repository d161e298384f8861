/** The command line, as people call it. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BUILT = `${ROOT}build/release/python`;

/** Whether the command line is built; the viewer's own tests do without. */
export const HAS_TAKT =
  existsSync(BUILT) && readdirSync(BUILT).some((name) => name.startsWith('takt_native.'));

export const recording = (name: string): string => `${ROOT}tests/recordings/${name}.tar.xz`;

/** Runs a command; the exit status 1 only says that a goal was missed. */
export function takt(...args: string[]): void {
  try {
    execFileSync(`${ROOT}takt`, args, { stdio: 'pipe' });
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error;
  }
}

/** `takt serve` while it runs. */
export class Served {
  private constructor(
    private readonly process: ChildProcess,
    readonly address: string,
    private readonly messages: string[],
  ) {}

  static async start(...args: string[]): Promise<Served> {
    // It is to write in time also where the environment does not have Python do so.
    const env = { ...globalThis.process.env };
    delete env['PYTHONUNBUFFERED'];
    const process = spawn(`${ROOT}takt`, ['serve', ...args, '--json'], { stdio: 'pipe', env });
    const messages: string[] = [];
    process.stderr.on('data', (text: Buffer) => messages.push(text.toString()));
    let text = '';
    for await (const chunk of process.stdout) {
      text += String(chunk);
      if (text.includes('\n')) break;
    }
    if (!text) throw new Error(`takt serve ended: ${messages.join('')}`);
    return new Served(process, (JSON.parse(text) as { address: string }).address, messages);
  }

  /** As Ctrl-C does. Returns the exit status and what stood on standard error. */
  async stop(): Promise<{ status: number | null; messages: string }> {
    const ended = once(this.process, 'exit') as Promise<[number | null]>;
    this.process.kill('SIGINT');
    const [status] = await ended;
    return { status, messages: this.messages.join('') };
  }
}
