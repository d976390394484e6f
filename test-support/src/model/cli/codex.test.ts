import { cliSuite } from '../testing/cli-suite.ts'
import { openCodex } from '../testing/clis.ts'

// The first model gets shell and patch tools, the second (unknown to the CLI) a shell, the third a script
// tool.
cliSuite({
  name: 'codex',
  open: openCodex,
  keyKind: 'bearer',
  instructions: 'AGENTS.md',
  models: ['gpt-5.5', 'gpt-5.2-codex', 'gpt-6.1-sol'],
})
