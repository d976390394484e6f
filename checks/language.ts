/**
 * Checks that texts avoid phrases that must be read twice: `node checks/language.ts [ROOT]`. Prints file, line
 * and phrase for each match and exits 1. Prints how many files it read, because a check that read nothing has failed.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { listTexts, type Phrase, phraseProblems } from './phrases.ts'

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))

/** Phrases without a good use, each with the plain wording. */
const everywhere: Phrase[] = [
  { pattern: /\b(what|that|which|who) (is|are) none\b/i, instead: 'an invalid value, no …' },
  { pattern: /\bcounts as none\b/i, instead: 'is ignored' },
  { pattern: /\b(is|are) told of\b/i, instead: 'is reported, is notified of' },
  { pattern: /\bso many of\b/i, instead: 'name the constant' },
  { pattern: /\bso long as nobody\b/i, instead: 'until' },
  { pattern: /\bwho asks\b/i, instead: 'the caller' },
  { pattern: /\bwhat is over\b/i, instead: 'resolved, finished' },
  { pattern: /\b(is|are) no fault\b/i, instead: 'is not an error' },
  { pattern: /\bof its own accord\b/i, instead: 'by itself' },
  { pattern: /\bthe same again\b/i, instead: 'name what is repeated' },
  { pattern: /\bnobody else's\b/i, instead: 'only its own' },
  { pattern: /\bstands? (once|beside)\b/i, instead: 'is defined once, is next to' },
  { pattern: /\b(stands?|waits?|waiting|standing|place) in( the)? line\b/i, instead: 'in the queue' },
  { pattern: /\bgoes? on with\b/i, instead: 'continues' },
  { pattern: /\bwhat (it|they|he|she) (is|are) (given|told|asked)\b/i, instead: 'its input, its request' },
]

const inPages: Phrase[] = [
  { pattern: /\bgo(es)? on\b/i, instead: 'continue' },
  { pattern: /\bwhoever\b/i, instead: 'name the role' },
  { pattern: /\bis asked for\b/i, instead: 'refreshes, is required' },
  // The page would show `${name}` itself.
  {
    pattern: /\b(title|label|hint|description|placeholder)="[^"`]*\$\{/,
    instead: 'an attribute with a template literal',
  },
]

/** Files and folders that are checked, relative to the root. */
const covered = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'SECURITY.md',
  'AGENTS.md',
  'CHANGELOG.md',
  '.ci/run',
  'agent',
  'bench',
  'checks',
  'cli',
  'client',
  'contracts',
  'docs',
  'examples',
  'images',
  'mcp',
  'roost',
  'server',
  'test-support',
  'web',
]

/** These files name the phrases themselves. */
const exempt = /^(checks\/(language|phrases(\.test)?|planted-breaches\.test)\.ts|docs\/reference\/)/

const files = listTexts(root, covered).filter((file) => !exempt.test(file))
const problems = files.flatMap((file) => {
  const phrases = file.startsWith('web/') ? [...everywhere, ...inPages] : everywhere
  return phraseProblems(file, readFileSync(join(root, file), 'utf8'), phrases)
})
for (const problem of problems) console.error(problem)
console.log(`language: ${files.length} files, ${problems.length} phrases`)
process.exitCode = problems.length > 0 || files.length === 0 ? 1 : 0
