import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createSandboxAgentImages } from './sandbox.ts'
import { agentImagesSuite } from './suite.ts'

const root = resolve(import.meta.dirname, '../../../..')
let dataDir = ''
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'roost-runtimes-'))
})
after(() => rm(dataDir, { recursive: true, force: true }))
const open = () => createSandboxAgentImages({ dataDir, root, env: process.env })

agentImagesSuite('sandbox', { open, runtime: 'claude-code' })

test("the folder contains the CLI's command, and it runs", async () => {
  const images = await open()
  await images.ensure('claude-code', () => {})
  const command = join(images.tagFor('claude-code').image, 'bin/claude')
  const { stdout } = await promisify(execFile)(command, ['--version'])
  assert.match(stdout, /^\d+\.\d+\.\d+/)
})
