import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'

const repository = resolve(import.meta.dirname, '..')

type Check = 'laws' | 'docs' | 'language'

/** Runs a check on a folder with the given files. */
async function check(name: Check, files: Record<string, string>, copied: readonly string[] = []) {
  const root = await mkdtemp(join(tmpdir(), 'roost-planted-'))
  try {
    for (const path of copied) await cp(join(repository, path), join(root, path), { recursive: true })
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return await new Promise<{ code: number; output: string }>((resolve) => {
      execFile(process.execPath, [join(repository, `checks/${name}.ts`), root], (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
      )
    })
  } finally {
    await rm(root, { recursive: true })
  }
}

const clean = { 'server/src/runs/tasks/index.ts': "export const tasks = 'tasks'\n" }

const breaches: { law: string; path: string; text: string; says: RegExp }[] = [
  { law: '1', path: 'contracts/src/a.ts', text: "import 'node:fs'\n", says: /contracts imports zod/ },
  {
    law: '2',
    path: 'cli/src/a.ts',
    text: "import '../../server/src/a.ts'\n",
    says: /only through contracts/,
  },
  { law: '3', path: 'agent/src/a.ts', text: "import 'zod'\n", says: /agent imports contracts and Node/ },
  {
    law: '4',
    path: 'server/src/ports/mail/a.ts',
    text: "import '../../runs/x.ts'\n",
    says: /a port imports only/,
  },
  {
    law: '5',
    path: 'server/src/agents/x/a.ts',
    text: "import '../../runs/tasks/index.ts'\n",
    says: /agents must not/,
  },
  {
    law: '6',
    path: 'server/src/triggers/x/a.ts',
    text: "import '../../runs/tasks/b.ts'\n",
    says: /its index\.ts/,
  },
  { law: '6', path: 'server/src/runs/tasks/b.ts', text: "export { c } from './c.ts'\n", says: /no barrel/ },
  { law: '7', path: 'server/src/runs/tasks/rules.ts', text: "import 'pg'\n", says: /rules import only/ },
  {
    law: '7',
    path: 'server/src/runs/tasks/rules.ts',
    text: "import './store.ts'\n",
    says: /only types of a store/,
  },
  { law: '7', path: 'server/src/runs/tasks/service.ts', text: "import 'kysely'\n", says: /import Kysely/ },
  { law: '8', path: 'server/src/runs/tasks/a.ts', text: 'process.env.X\n', says: /read the environment/ },
  { law: '9', path: 'server/src/kit/a.ts', text: "import './a.ts'\n", says: /no import cycles/ },
  {
    law: '10',
    path: 'web/src/ui/a.ts',
    text: "import '../features/x/a.ts'\n",
    says: /components import no data/,
  },
  { law: '12', path: 'server/src/runs/tasks/a.ts', text: 'token === expected\n', says: /same-secret/ },
]

test('laws.ts accepts a clean tree', async () => {
  const { code, output } = await check('laws', clean)
  assert.equal(code, 0, output)
})

for (const { law, path, text, says } of breaches) {
  test(`laws.ts finds a breach of law ${law}: ${text.trim()} in ${path}`, async () => {
    const { code, output } = await check('laws', { ...clean, [path]: text })
    assert.equal(code, 1)
    assert.match(output, says)
  })
}

test('laws.ts finds two features of web that import each other (law 11)', async () => {
  const { code, output } = await check('laws', {
    'web/src/features/a/x.ts': "import '../b/x.ts'\n",
    'web/src/features/b/x.ts': "import '../a/y.ts'\n",
    'web/src/features/a/y.ts': '',
  })
  assert.equal(code, 1)
  assert.match(output, /import each other/)
})

test('docs.ts finds what a document names and the repository does not have', async () => {
  const text = [
    'See `server/src/gone.ts` and [this](gone.md).',
    'Run `roost agents vanish scout`, or call `GET /api/agents/{name}/gone`.',
  ].join('\n')
  const kept = ['ARCHITECTURE.md', 'docs/decisions', 'docs/README.md']
  const { code, output } = await check('docs', { 'docs/planted.md': text }, kept)
  assert.equal(code, 1)
  assert.match(output, /server\/src\/gone\.ts does not exist/)
  assert.match(output, /the link to gone\.md leads nowhere/)
  assert.match(output, /docs\/planted\.md:2: "roost agents" has no "vanish"/)
  assert.match(output, /docs\/planted\.md:2: the platform does not serve GET \/api\/agents\/\{name\}\/gone/)
  assert.match(output, /docs\/README\.md: no link leads to planted\.md/)
})

test('language.ts finds a phrase in a document and accepts plain text', async () => {
  const planted = await check('language', { 'docs/a.md': 'It is told of each change.\n' })
  assert.equal(planted.code, 1)
  assert.match(planted.output, /docs\/a\.md:1: "is told of"/)
  const plain = await check('language', { 'docs/a.md': 'Each change is reported.\n' })
  assert.equal(plain.code, 0, plain.output)
})

test('language.ts finds an attribute of a page that would show a placeholder', async () => {
  const planted = await check('language', { 'web/src/a.tsx': `<Field hint="At most \${max} tags." />\n` })
  assert.equal(planted.code, 1)
  assert.match(planted.output, /web\/src\/a\.tsx:1: .*template literal/)
})
