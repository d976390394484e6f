import { cliSuite } from '../testing/cli-suite.ts'
import { openCodex } from '../testing/clis.ts'

// With the first the CLI offers a shell and patches, with the second (unknown to it) a shell, with the third a script.
cliSuite({
  name: 'codex',
  open: openCodex,
  keyKind: 'bearer',
  instructions: 'AGENTS.md',
  models: ['gpt-5.5', 'gpt-5.2-codex', 'gpt-6.1-sol'],
})
