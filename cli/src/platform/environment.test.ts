import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  demoEnvironment,
  platformEnvironment,
  providersWithKey,
  publicListener,
  readDotenv,
} from './environment.ts'

const places = { cwd: '/somewhere', root: '/srv/roost' }

test('options override the shell, the shell overrides .env, and an empty value is ignored', () => {
  const env = platformEnvironment({
    ...places,
    dotenv: { A: 'file', B: 'file', C: 'file', D: 'file' },
    shell: { B: 'shell', C: 'shell', D: ' ' },
    options: { C: 'option', B: undefined },
  })
  assert.deepEqual([env.A, env.B, env.C, env.D], ['file', 'shell', 'option', 'file'])
})

test('a relative data folder is resolved from its source, and defaults to the project folder', () => {
  const dataDir = (shell: NodeJS.ProcessEnv, dotenv: NodeJS.ProcessEnv, options: NodeJS.ProcessEnv) =>
    platformEnvironment({ ...places, shell, dotenv, options }).ROOST_DATA_DIR
  assert.equal(dataDir({}, {}, {}), '/srv/roost/data')
  assert.equal(dataDir({}, { ROOST_DATA_DIR: './d' }, {}), '/srv/roost/d')
  assert.equal(dataDir({ ROOST_DATA_DIR: './d' }, {}, {}), '/somewhere/d')
  assert.equal(dataDir({ ROOST_DATA_DIR: './d' }, {}, { ROOST_DATA_DIR: '/e' }), '/e')
})

test('the demo gives every provider a key and the address of the model server', () => {
  const env = demoEnvironment('http://127.0.0.1:9')
  assert.deepEqual(providersWithKey(env), ['Anthropic', 'Google', 'OpenAI'])
  assert.equal(env.ANTHROPIC_BASE_URL, 'http://127.0.0.1:9')
  assert.equal(env.OPENAI_BASE_URL, 'http://127.0.0.1:9/v1')
  assert.equal(env.ROOST_DEMO, 'true')
})

test('a listener on every address is reached over loopback', () => {
  assert.deepEqual(publicListener({ ROOST_HOST: '0.0.0.0', ROOST_PORT: '90' }), {
    host: '127.0.0.1',
    port: 90,
  })
  assert.deepEqual(publicListener({}), { host: '127.0.0.1', port: 8000 })
})

test('.env may be missing, and may contain quotes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-env-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  assert.deepEqual({ ...(await readDotenv(join(folder, '.env'))) }, {})
  await writeFile(join(folder, '.env'), '# keys\nANTHROPIC_API_KEY="a b"\n')
  assert.deepEqual({ ...(await readDotenv(join(folder, '.env'))) }, { ANTHROPIC_API_KEY: 'a b' })
})
