import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The user `nobody` on every distribution. */
const uid = 65534

// These files also run as the test's own user. When that is root, they run here as an ordinary user.
for (const file of ['../sandbox.test.ts', './isolation.test.ts']) {
  test(`an ordinary user passes the same tests: ${file}`, { timeout: 4 * 60_000 }, async (context) => {
    if (process.geteuid?.() !== 0) return context.skip('the tests already run as an ordinary user')
    const path = fileURLToPath(new URL(file, import.meta.url))
    // With this variable the file would report to the test runner instead of printing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const child = spawn(process.execPath, [path], {
      uid,
      gid: uid,
      cwd: '/',
      env: { ...env, HOME: '/nonexistent' },
      signal: context.signal,
      killSignal: 'SIGKILL',
    })
    child.on('error', () => {})
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      output += String(chunk)
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    if (/^killed after a minute/m.test(output)) console.error(output.slice(-20_000))
    if (code !== 0) throw new Error(`as an ordinary user:\n${output.slice(-20_000)}`)
  })
}
