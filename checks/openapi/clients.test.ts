import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import openapiTS, { astToString } from 'openapi-typescript'
import { type Platform, startPlatform } from '../acceptance/platform.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const timeout = 240_000
/** Inside the repository, so that the generated code finds its packages. */
let folder: string
let platform: Platform

before(async () => {
  await mkdir(join(root, '.roost'), { recursive: true })
  folder = await mkdtemp(join(root, '.roost/openapi-clients-'))
  platform = await startPlatform({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  const { text } = await platform.request('GET', '/openapi.json')
  await writeFile(join(folder, 'openapi.json'), text)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const generators: Record<string, (from: string, to: string) => Promise<void>> = {
  async 'openapi-fetch'(from, to) {
    await mkdir(to)
    // Otherwise fields of a request that have a default have to be given.
    const ast = await openapiTS(pathToFileURL(from), { defaultNonNullable: false })
    await writeFile(join(to, 'schema.d.ts'), astToString(ast))
  },
  async 'hey-api'(from, to) {
    await createClient({
      input: from,
      output: { path: to, module: { extension: '.js' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent' },
    })
  },
}

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: false,
  outDir: 'built',
}

for (const [tool, generate] of Object.entries(generators)) {
  test(`the client of ${tool} compiles, and its calls have the documented types and results`, async () => {
    await generate(join(folder, 'openapi.json'), join(folder, tool))
    const calls = `${tool}.ts`
    await copyFile(join(import.meta.dirname, 'clients', calls), join(folder, calls))
    const project = join(folder, `${tool}.json`)
    await writeFile(project, JSON.stringify({ compilerOptions, include: [calls, `${tool}/**/*`] }))
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
      timeout,
    }).catch(compilerSaid)

    const program = join(folder, 'built', `${tool}.js`)
    const { stdout } = await run(process.execPath, [program, platform.url, platform.token], { timeout })
    const name = tool === 'hey-api' ? 'heyed' : 'fetched'
    assert.deepEqual(JSON.parse(stdout), {
      isSetUp: true,
      created: name,
      replay: [name, 'true'],
      listed: [name],
      executions: 0,
      schedule: [201, '0 3 * * *'],
      window: 24,
      audited: true,
      csv: true,
      missing: [404, 'agent_not_found'],
      refused: ['query', 'limit'],
      deleted: 200,
    })
  })
}

function compilerSaid(error: Error & { stdout?: string }): never {
  throw new Error(error.stdout?.slice(0, 4000) || error.message)
}
