import { installedSuite } from './installed.ts'

await installedSuite({
  title: 'claude',
  runtime: 'claude-code',
  command: 'claude',
  model: null,
  hasPieces: true,
  limitsTurns: true,
})
