import { installedSuite } from './test/installed-suite.ts'

await installedSuite({
  title: 'codex',
  runtime: 'codex',
  command: 'codex',
  model: null,
  hasPieces: false,
  limitsTurns: false,
})
