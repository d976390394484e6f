import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** `nobody`, on every distribution. */
const uid = 65534

// The files run once as whoever tests; where that is root, here once more as an ordinary user.
for (const file of ['../sandbox.test.ts', './isolation.test.ts']) {
  test(`an ordinary user is promised the same: ${file}`, { timeout: 4 * 60_000 }, async (context) => {
    if (process.geteuid?.() !== 0) return context.skip('the tests already run as an ordinary user')
    const path = fileURLToPath(new URL(file, import.meta.url))
    // The mark of the test runner would make the file report to it instead of printing.
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
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      said += String(chunk)
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    if (code !== 0) throw new Error(`as an ordinary user:\n${said.slice(-20_000)}`)
  })
}
