import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childEnvironment } from './environment.ts'

const parts = { own: {}, workspace: {}, home: '/home/developer', isRoot: false, overrides: {} }

test("the program's key and provider settings do not reach a child", () => {
  const own = {
    PATH: '/bin',
    ROOST_AGENT_KEY: 'secret',
    ANTHROPIC_API_KEY: 'x',
    NODE_OPTIONS: '-x',
    LANG: 'C',
  }
  const made = childEnvironment({ ...parts, own })
  assert.deepEqual(
    Object.keys(made)
      .filter((name) => !name.startsWith('GIT_'))
      .sort(),
    ['HOME', 'LANG', 'PATH'],
  )
})

test("platform names in a workspace's .env are suppressed, other names reach the child", () => {
  const workspace = {
    MY_KEY: '1',
    PATH: '/custom',
    HOME: '/tmp',
    ROOST_AGENT_KEY: 'x',
    ANTHROPIC_BASE_URL: 'x',
    CLAUDE_CODE_USE_BEDROCK: '1',
    GEMINI_API_KEY: 'x',
    OPENAI_API_KEY: 'x',
    GIT_DIR: '/x',
    LD_PRELOAD: '/x.so',
    GLIBC_TUNABLES: 'x',
  }
  const made = childEnvironment({ ...parts, workspace })
  assert.equal(made.MY_KEY, '1')
  assert.equal(made.PATH, '/custom')
  assert.equal(made.HOME, '/home/developer')
  for (const name of Object.keys(workspace).slice(3)) assert.equal(made[name], undefined, name)
})

test('overrides replace variables, and null removes them', () => {
  const workspace = { TOKEN: 'old', GONE: 'x' }
  const made = childEnvironment({ ...parts, workspace, overrides: { TOKEN: 'new', GONE: null } })
  assert.equal(made.TOKEN, 'new')
  assert.equal('GONE' in made, false)
})
