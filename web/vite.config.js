import { defineConfig } from 'vite';

// The page runs under `default-src 'self'`: nothing may be inlined.
export default defineConfig({
  root: import.meta.dirname ?? new URL('.', import.meta.url).pathname,
  cacheDir: '../build/web/cache',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: '../build/web/dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    target: 'es2022',
    rollupOptions: { output: { hashCharacters: 'hex' } },
  },
});
