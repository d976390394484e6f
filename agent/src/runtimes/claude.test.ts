import { installedSuite } from './test/installed-suite.ts'

await installedSuite({
  title: 'claude',
  runtime: 'claude-code',
  command: 'claude',
  model: null,
  hasPieces: true,
  limitsTurns: true,
})
