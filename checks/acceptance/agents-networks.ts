/** Removes what the platform leaves to its next start: its networks, and its rules in the packet filter. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** `docs/operate/egress.md` names the table. */
export async function filterTableOf(dataDir: string): Promise<string> {
  const install = (await readFile(join(dataDir, 'install-id'), 'utf8')).trim()
  return `roost_${createHash('sha256').update(install).digest('hex').slice(0, 12)}`
}

/** Networks that are still used, and an engine that does not answer, are left alone. */
export async function removeNetworks(dataDir: string): Promise<void> {
  const install = await readFile(join(dataDir, 'install-id'), 'utf8').catch(() => null)
  if (install === null) return
  const filter = ['--filter', `label=roost.install=${install.trim()}`]
  const listed = await run('docker', ['network', 'ls', '-q', ...filter]).catch(() => ({ stdout: '' }))
  for (const id of listed.stdout.split('\n').filter(Boolean))
    await run('docker', ['network', 'rm', id]).catch(() => {})
  const left = await run('docker', ['network', 'ls', '-q', ...filter]).catch(() => ({ stdout: '' }))
  if (left.stdout.trim() !== '') return
  await run('nft', ['delete', 'table', 'inet', await filterTableOf(dataDir)]).catch(() => {})
}
