/** Removes what the platform leaves to its next start: networks, rules in the packet filter, and bases of forks. */
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

async function installOf(dataDir: string): Promise<string | null> {
  return (await readFile(join(dataDir, 'install-id'), 'utf8').catch(() => null))?.trim() ?? null
}

export async function removeBases(dataDir: string): Promise<void> {
  const install = await installOf(dataDir)
  if (install === null) return
  const filter = ['--filter', `label=roost.install=${install}`, '--filter', 'name=workspace-base-']
  const listed = await run('docker', ['volume', 'ls', '-q', ...filter]).catch(() => ({ stdout: '' }))
  for (const name of listed.stdout.split('\n').filter(Boolean))
    await run('docker', ['volume', 'rm', name]).catch(() => {})
}

/** Networks that are still used, and an engine that does not answer, are left alone. */
export async function removeNetworks(dataDir: string): Promise<void> {
  const install = await installOf(dataDir)
  if (install === null) return
  const filter = ['--filter', `label=roost.install=${install}`]
  const listed = await run('docker', ['network', 'ls', '-q', ...filter]).catch(() => ({ stdout: '' }))
  for (const id of listed.stdout.split('\n').filter(Boolean))
    await run('docker', ['network', 'rm', id]).catch(() => {})
  const left = await run('docker', ['network', 'ls', '-q', ...filter]).catch(() => ({ stdout: '' }))
  if (left.stdout.trim() !== '') return
  await run('nft', ['delete', 'table', 'inet', await filterTableOf(dataDir)]).catch(() => {})
}
