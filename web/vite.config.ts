import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { chunkGroups } from './build/chunks.ts'
import { compress } from './build/compress.ts'
import { formulaFonts } from './build/formula-fonts.ts'
import { guides } from './build/guides.ts'
import { slimContracts } from './build/slim-contracts.ts'
import { strictStyles } from './build/strict-styles.ts'

/** Where `npm run dev -w web` finds the platform; the built pages are served by the platform itself. */
const platform = process.env.ROOST_DEV_PLATFORM ?? 'http://localhost:8000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    guides(join(import.meta.dirname, '../docs')),
    slimContracts(),
    strictStyles(),
    formulaFonts(),
    react(),
    tailwindcss(),
    compress(),
  ],
  build: {
    outDir: 'dist',
    target: 'es2023',
    // Each page loads what it needs; a warning beyond this size would be the first page's whole budget.
    chunkSizeWarningLimit: 700,
    // Nothing inline: the pages are sent under a Content-Security-Policy without exceptions for data URLs.
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: { groups: chunkGroups() } } },
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ['/api', '/ws', '/health', '/help/errors', '/openapi.json'].map((path) => [
        path,
        { target: platform, ws: true },
      ]),
    ),
  },
})
