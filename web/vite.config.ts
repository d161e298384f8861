import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The licences of the packages that these modules are from: whoever has the page has them. */
function licences(modules: string[]): string {
  const pattern = /^(?<folder>.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
  const folders = modules.map((module) => pattern.exec(module)?.groups?.['folder'] ?? []);
  const texts = [...new Set(folders.flat())].sort().map((folder) => {
    const name = folder.replace(/^.*\/node_modules\//, '');
    return `${name}\n\n${readFileSync(`${folder}/LICENSE`, 'utf8')}`;
  });
  return texts.join('\n').replaceAll('--', '- -'); // which ends a comment
}

/**
 * Makes one file of everything: viewer.html with style and script in it. Its policy lets the browser
 * run this script alone and load nothing, except data from the server that the page came from.
 */
function onePage(): Plugin {
  return {
    name: 'one-page',
    enforce: 'post',
    generateBundle(_, bundle) {
      let script = '';
      let style = '';
      const modules: string[] = [];
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === 'chunk') {
          script += file.code.replaceAll('</script', '<\\/script');
          modules.push(...file.moduleIds);
        } else if (name.endsWith('.css')) style += String(file.source);
        Reflect.deleteProperty(bundle, name);
      }
      const hash = (text: string): string =>
        `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
      const policy = [
        "default-src 'none'",
        "connect-src 'self'",
        'img-src data:',
        `style-src ${hash(style)}`,
        `script-src ${hash(script)}`,
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; ');
      const parts: Record<string, string> = {
        '{{licences}}': licences(modules),
        '{{policy}}': policy,
        '{{style}}': style,
        '{{script}}': script,
      };
      const template = readFileSync(new URL('page.html', import.meta.url), 'utf8');
      const source = template.replaceAll(/\{\{\w+\}\}/g, (name) => parts[name] ?? name);
      this.emitFile({ type: 'asset', fileName: 'viewer.html', source });
    },
  };
}

export default defineConfig({
  plugins: [onePage()],
  build: {
    target: ['chrome123', 'firefox120', 'safari17.5'],
    outDir: process.env['TAKT_VIEWER_OUT'] ?? 'dist',
    emptyOutDir: false,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: { input: 'src/main.ts', output: { format: 'iife' } },
  },
  test: {
    include: ['tests/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Only a page that never gets there fails: how fast it is is no matter of tests.
    expect: { poll: { timeout: 30_000 } },
  },
});
