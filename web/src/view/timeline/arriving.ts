/** The messages in view, which a server takes a moment to send. */

import type { DataSource, Message, Window } from '../../data/source';

export class ArrivingMessages {
  private asked: Window | null = null;
  /** null: there are more than can be seen. */
  private messages: Message[] | null = [];

  constructor(
    private readonly source: DataSource,
    private readonly limit: number,
    private readonly arrived: () => void,
  ) {}

  /** The messages of the window; until they have arrived, the ones returned before. */
  get(window: Window): Message[] | null {
    if (this.asked?.from === window.from && this.asked.to === window.to) return this.messages;
    const got = this.source.messages(window, this.limit);
    this.asked = window;
    if (!(got instanceof Promise)) {
      this.messages = got;
      return got;
    }
    got
      .then((messages) => {
        // Another window may be in view meanwhile.
        if (this.asked !== window) return;
        this.messages = messages;
        this.arrived();
      })
      .catch((error: unknown) => console.error(error));
    return this.messages;
  }
}
