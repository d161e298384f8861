import { defineConfig } from 'vitest/config';

/** Benchmarks run on their own: they are no tests. */
export default defineConfig({
  test: {
    dir: '../benchmarks/viewer',
    include: ['**/*.test.ts'],
    disableConsoleIntercept: true,
    hookTimeout: 300_000,
  },
});
