import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { grantSshAccess, type SshAccess } from '@roost/contracts/agents/settings'
import { clientCommand } from './client/client-command.ts'
import { CommandFailed, exitCodes } from './client/exit.ts'
import { hasProgram, run } from './machine/run.ts'

/** The key is needed for the login only; open connections outlive it. */
const ttlHours = 0.1

export const ssh = clientCommand('ssh', {
  parameters: 'AGENT [COMMAND…]',
  summary: 'Open a shell in an agent’s container over SSH, or run a command there.',
  options: { jump: { type: 'string', short: 'J' }, forward: { type: 'string', short: 'L' } },
  optionLines: [
    'Creates a key for this login and checks the host key that the platform reports. For owners and admins.',
    'Options go before AGENT; everything after it is the command, as with ssh.',
    '',
    '-J, --jump USER@HOST   connect through the platform’s machine, where the SSH ports are',
    '-L, --forward FORWARD  forward a port, such as 8080:localhost:3000',
  ],
  passesArguments: true,
  waiting: 'Requesting SSH access',
  async run({ api, url, positionals, text, spinner }) {
    const [name = '', ...command] = positionals
    const jump = text('jump')
    if (!(await hasProgram('ssh')) || !(await hasProgram('ssh-keygen')))
      throw new CommandFailed('The program ssh is missing. Install it (Debian: openssh-client).')
    const folder = await mkdtemp(join(tmpdir(), 'roost-ssh-'))
    try {
      const key = join(folder, 'key')
      const made = await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'roost-ssh', '-f', key])
      if (made.code !== 0) throw new CommandFailed(`ssh-keygen failed: ${made.lastLines.join(' ')}`)
      const body = { ttl_hours: ttlHours, public_key: (await readFile(`${key}.pub`, 'utf8')).trim() }
      const access = await api.call(grantSshAccess, { params: { name }, body })
      checkAccess(access, { name, url, jump })
      const hosts = join(folder, 'known_hosts')
      await writeFile(hosts, access.host_keys.map((hostKey) => `${name} ${hostKey}\n`).join(''), {
        mode: 0o600,
      })
      spinner.hide()
      const forward = text('forward')
      return await connectTo([
        ...['-i', key, '-o', 'IdentitiesOnly=yes', '-o', 'StrictHostKeyChecking=yes'],
        ...['-o', `UserKnownHostsFile=${hosts}`, '-o', 'GlobalKnownHostsFile=/dev/null'],
        // Agents change their ports, so the key is stored under the name of the agent.
        ...['-o', `HostKeyAlias=${name}`, '-o', 'CheckHostIP=no', '-o', 'LogLevel=ERROR'],
        ...['-p', String(access.connection.port)],
        ...(jump === undefined ? [] : ['-J', jump]),
        ...(forward === undefined ? [] : ['-L', forward]),
        `${access.connection.user}@${access.connection.host}`,
        ...(command.length > 0 ? ['--', ...command] : []),
      ])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
})

type Target = { name: string; url: string; jump: string | undefined }

/** Throws `CommandFailed` when a connection could reach another machine or an unknown server. */
function checkAccess({ connection, host_keys }: SshAccess, { name, url, jump }: Target): void {
  if (host_keys.length === 0) {
    throw new CommandFailed(
      `The platform does not know the host key of ${name}. If the agent has just started, try again; otherwise restart it.`,
    )
  }
  if (jump !== undefined || !isLoopback(connection.host) || isLoopback(new URL(url).hostname)) return
  throw new CommandFailed(
    `SSH of agents is open only on the platform’s machine. Connect through it: roost ssh --jump USER@${new URL(url).hostname} ${name}`,
  )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127\./.test(host)
}

/** Runs `ssh` in this terminal; returns its exit code, which is that of the remote command. */
async function connectTo(args: string[]): Promise<number> {
  // Ctrl-C belongs to the remote program; ssh passes it on or ends.
  const ignore = () => {}
  process.on('SIGINT', ignore)
  try {
    return await new Promise<number>((resolve, reject) => {
      const child = spawn('ssh', args, { stdio: 'inherit' })
      child.once('error', reject)
      child.once('close', (code, signal) =>
        resolve(code ?? (signal === 'SIGINT' ? exitCodes.interrupted : 1)),
      )
    })
  } finally {
    process.off('SIGINT', ignore)
  }
}
