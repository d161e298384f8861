import './style.css';

import { readPage } from './data/page';
import { start, type App } from './view/app';

declare global {
  interface Window {
    /** For tests and benchmarks. */
    takt?: App;
  }
}

async function main(): Promise<void> {
  const source = await readPage(document);
  if (!source) throw new Error('there are no data in this page');
  window.takt = await start(source);
}

main().catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  const box = document.createElement('p');
  box.className = 'failure';
  box.textContent = `This page cannot be shown: ${text}.`;
  document.body.replaceChildren(box);
  throw error;
});
