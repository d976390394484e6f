import { installedSuite } from './installed.ts'

await installedSuite({
  title: 'codex',
  runtime: 'codex',
  command: 'codex',
  model: null,
  hasPieces: false,
  limitsTurns: false,
})
