import { installedSuite } from './test/installed-suite.ts'

await installedSuite({
  title: 'gemini',
  runtime: 'gemini-cli',
  command: 'gemini',
  model: 'gemini-2.5-flash',
  hasPieces: true,
  limitsTurns: true,
})
